"""What a tenant hears about an endpoint that the service has disabled."""

from __future__ import annotations

from uuid import uuid5

from django.db.models.functions import Now

from backend.api import public_ids
from backend.webhooks import payloads
from backend.webhooks.models import DisabledReason, Endpoint, EndpointState
from backend.webhooks.services import emit


def disable(endpoint: Endpoint, *, reason: DisabledReason) -> None:
    """Switch an endpoint off, and emit the event to the tenant's other endpoints. Its row is locked."""
    mine = Endpoint.objects.filter(id=endpoint.id)
    mine.update(state=EndpointState.AUTO_DISABLED, disabled_at=Now(), disabled_reason=reason)
    disabled: Endpoint = mine.get()
    data = {
        "id": public_ids.encode("whe", disabled.id),
        "object": "webhook_endpoint",
        "url": disabled.url,
        "reason": reason.value,
        "disabled_at": payloads.timestamp(disabled.disabled_at),
    }
    # An endpoint may be disabled more than once: each time is a change of its own.
    emit(type="webhook_endpoint.disabled", resource_id=uuid5(disabled.id, str(disabled.disabled_at)), data=data)

"""Writes of webhook endpoints, events and deliveries; all in the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone
from uuid6 import uuid7

from backend.api import public_ids
from backend.jobs.models import JobKind
from backend.jobs.services import after, enqueue, enqueue_many
from backend.outbound import transport
from backend.tenancy.callers import current_caller
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused
from backend.tenancy.secrets import open_sealed, seal
from backend.webhooks import breaker, payloads, queries, signing
from backend.webhooks.models import Delivery, Endpoint, EndpointState, WebhookEvent

MAX_BODY_BYTES = 20_000
MAX_ENDPOINTS = 20
ROTATION_OVERLAP = timedelta(hours=24)
# The delivery's job is retried only after its own faults; backend.webhooks.attempts has the schedule of attempts.
JOB_ATTEMPTS = 5
LIFETIME = timedelta(hours=84)
"""Time after which a delivery that is still pending ends: the whole schedule of attempts with its jitter."""


class WebhookError(Refused):
    """A request about webhooks that the current state does not allow."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an event reports, as emit() takes it."""

    resource_id: UUID
    data: Mapping[str, Any]
    sequence: int = 1


# --- events -----------------------------------------------------------------------------------------------------------


def emit(*, type: str, resource_id: UUID, data: Mapping[str, Any], sequence: int = 1) -> WebhookEvent | None:
    """Write an event into the business transaction, with one delivery and its job per endpoint that wants the type.

    data: the payload's own part, from the payloads module of the emitting app. sequence: number of this change among
    the resource's changes of this type; the same change emitted again writes nothing and returns None. The body's bytes
    are fixed here, so that every attempt sends and every receiver verifies the same bytes.
    Raises ValueError for an unknown type or a body over 20 kB.
    """
    event = _write_event(type=type, resource_id=resource_id, data=data, sequence=sequence)
    if event is not None:
        for endpoint in queries.subscribed(type):
            open_deliveries(endpoint, [event])
    return event


def emit_many(*, type: str, changes: Sequence[Change]) -> None:
    """Call emit() for each change, in a fixed number of statements."""
    events = [_event(type=type, change=change) for change in changes]
    WebhookEvent.objects.bulk_create(events, ignore_conflicts=True)
    written = set(WebhookEvent.objects.filter(id__in=[event.id for event in events]).values_list("id", flat=True))
    new = [event for event in events if event.id in written]
    if new:
        for endpoint in queries.subscribed(type):
            open_deliveries(endpoint, new)


def send_test(*, endpoint: Endpoint) -> Delivery:
    """Send webhook.test to one endpoint, whatever its types. Raises WebhookError("endpoint_disabled")."""
    if endpoint.state != EndpointState.ENABLED:
        raise WebhookError("endpoint_disabled", "Enable the endpoint before testing it.")
    data = {"id": public_ids.encode("whe", endpoint.id), "object": "webhook_endpoint", "url": endpoint.url}
    event = _write_event(type="webhook.test", resource_id=uuid7(), data=data, sequence=1)
    if event is None:
        raise RuntimeError("a test event has a resource id of its own")
    return open_deliveries(endpoint, [event])[0]


def _write_event(*, type: str, resource_id: UUID, data: Mapping[str, Any], sequence: int) -> WebhookEvent | None:
    wanted = _event(type=type, change=Change(resource_id, data, sequence))
    event, created = WebhookEvent.objects.get_or_create(
        tenant_id=wanted.tenant_id,
        resource_id=resource_id,
        type=type,
        sequence=sequence,
        defaults={"id": wanted.id, "body": wanted.body},
    )
    return event if created else None


def _event(*, type: str, change: Change) -> WebhookEvent:
    """Return the unsaved event of a change. Raises ValueError as emit()."""
    if type not in payloads.EVENT_TYPES:
        raise ValueError(f"unknown webhook event type {type!r}")
    envelope = {
        "type": type,
        "timestamp": payloads.timestamp(timezone.now()),
        "sequence": change.sequence,
        "data": change.data,
    }
    body = json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))
    if len(payloads.body_for(body, endpoint_sequence=2**63).encode()) > MAX_BODY_BYTES:
        raise ValueError(f"the body of {type} has more than {MAX_BODY_BYTES} bytes")
    return WebhookEvent(
        tenant_id=current_tenant_id(),
        resource_id=change.resource_id,
        type=type,
        sequence=change.sequence,
        body=body,
    )


def open_deliveries(endpoint: Endpoint, events: Sequence[WebhookEvent]) -> list[Delivery]:
    """Write one delivery of each event to an endpoint, and queue it."""
    deliveries = Delivery.objects.bulk_create(
        Delivery(
            tenant_id=current_tenant_id(),
            endpoint=endpoint,
            event=event,
            next_attempt_at=Now(),
            expires_at=after(LIFETIME),
        )
        for event in events
    )
    schedule_first_attempts(endpoint.id, {delivery.id: 1 for delivery in deliveries})
    return list(Delivery.objects.select_related("event").filter(id__in=[row.id for row in deliveries]).order_by("id"))


def schedule_first_attempts(endpoint_id: UUID, attempts: Mapping[UUID, int]) -> None:
    """Queue one attempt of each delivery for now, or for the next probe. attempts: its number per delivery."""
    keys = {_job_key(delivery_id, n): delivery_id for delivery_id, n in attempts.items()}
    enqueue_many(kind=JobKind.DELIVER_WEBHOOK, subjects=keys, max_attempts=JOB_ATTEMPTS, lane=endpoint_id)
    breaker.hold_new(endpoint_id)


def schedule_attempt(*, delivery_id: UUID, endpoint_id: UUID, n: int, wait: timedelta = timedelta(0)) -> None:
    """Queue attempt n of a delivery, once. One endpoint has few deliveries in flight, whatever waits for it."""
    enqueue(
        kind=JobKind.DELIVER_WEBHOOK,
        subject_id=delivery_id,
        dedupe_key=_job_key(delivery_id, n),
        max_attempts=JOB_ATTEMPTS,
        wait=max(wait, breaker.wait_left(endpoint_id)),
        lane=endpoint_id,
    )


def _job_key(delivery_id: UUID, n: int) -> str:
    return f"webhook:{delivery_id}:{n}"


# --- endpoints --------------------------------------------------------------------------------------------------------


def create_endpoint(*, url: str, description: str = "", event_types: Sequence[str] = ()) -> tuple[Endpoint, str]:
    """Create an endpoint and return it with its signing secret, which is shown only here.

    event_types: empty for all. Raises WebhookError: invalid_url, address_refused, unknown_event_type,
    too_many_endpoints.
    """
    check_endpoint(url=url, event_types=event_types)
    if Endpoint.objects.count() >= MAX_ENDPOINTS:
        raise WebhookError("too_many_endpoints", f"A tenant has at most {MAX_ENDPOINTS} webhook endpoints.")
    secret, caller = signing.new_secret(), current_caller()
    endpoint: Endpoint = Endpoint.objects.create(
        tenant_id=current_tenant_id(),
        url=url,
        description=description,
        event_types=sorted(set(event_types)),
        secret=seal(secret.encode()),
        api_key_id=caller.api_key_id,
        person_id=caller.person_id,
    )
    return endpoint, secret


def update_endpoint(
    *,
    endpoint: Endpoint,
    url: str | None = None,
    description: str | None = None,
    event_types: Sequence[str] | None = None,
    enabled: bool | None = None,
) -> Endpoint:
    """Change the given fields. Enabling or moving an endpoint closes its breaker. Raises WebhookError like creation.

    Whoever moves an endpoint to another URL becomes its maker.
    """
    check_endpoint(url=url, event_types=event_types)
    changes: dict[str, Any] = {}
    if url is not None:
        caller = current_caller()
        changes |= {"url": url, "api_key_id": caller.api_key_id, "person_id": caller.person_id}
    if description is not None:
        changes["description"] = description
    if event_types is not None:
        changes["event_types"] = sorted(set(event_types))
    if enabled is not None:
        changes["state"] = EndpointState.ENABLED if enabled else EndpointState.DISABLED
        changes |= {"dead_deliveries": 0, "disabled_at": None, "disabled_reason": ""}
    mine = Endpoint.objects.filter(id=endpoint.id)
    if changes:
        # Nothing else is written: another transaction may disable the endpoint meanwhile.
        mine.update(**changes)
    if enabled or url is not None:
        # A receiver that was repaired or moved is tried at once.
        breaker.close(endpoint.id)
    changed: Endpoint = mine.get()
    return changed


def check_endpoint(*, url: str | None, event_types: Sequence[str] | None) -> None:
    """Raise WebhookError for a URL that is never called or a type that is never sent.

    The name is resolved at each request, because its addresses may change by then.
    """
    unknown = sorted(set(event_types or ()) - payloads.EVENT_TYPES.keys())
    if unknown:
        detail = f"There is no event type {unknown[0]}."
        raise WebhookError("unknown_event_type", detail, status=400, pointer="/event_types")
    if url is not None:
        try:
            transport.check_url(url, allow_private=settings.WEBHOOK_ALLOW_PRIVATE)
        except transport.TransportError as error:
            raise WebhookError(error.code, f"This URL cannot be called: {error}.", status=400, pointer="/url") from None


def delete_endpoint(*, endpoint: Endpoint) -> None:
    """Remove an endpoint with its deliveries and their attempts (by the foreign keys)."""
    Endpoint.objects.filter(id=endpoint.id).delete()


def rotate_secret(*, endpoint: Endpoint, force: bool = False) -> Endpoint:
    """Give the endpoint a new secret; until the overlap ends, requests carry a signature of the old secret too.

    Only one previous secret is kept, so a rotation within the overlap would end a secret that receivers still use.
    Raises WebhookError `rotation_in_overlap` for that, unless force.
    """
    now = timezone.now()
    row: Endpoint = Endpoint.objects.select_for_update(no_key=True).get(id=endpoint.id)
    if row.previous_secret_until is not None and row.previous_secret_until > now and not force:
        detail = f"The previous secret is valid until {row.previous_secret_until.isoformat(timespec='seconds')}."
        raise WebhookError("rotation_in_overlap", f"{detail} Wait until then, or send force.")
    row.previous_secret = row.secret
    row.previous_secret_until = now + ROTATION_OVERLAP
    row.secret = seal(signing.new_secret().encode())
    row.save(update_fields=["secret", "previous_secret", "previous_secret_until"])
    return row


def current_secret(endpoint: Endpoint) -> str:
    return open_sealed(bytes(endpoint.secret)).decode()

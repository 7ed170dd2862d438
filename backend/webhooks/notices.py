"""What a tenant hears about an endpoint that the service has disabled, and the mails of all notices.

An app above this one registers the writer of its mails.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid5

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models.functions import Now

from backend.api import public_ids
from backend.jobs.models import JobKind
from backend.jobs.services import enqueue
from backend.webhooks import named_addresses, payloads
from backend.webhooks.budget_mail import report_mail
from backend.webhooks.models import DisabledReason, Endpoint, EndpointState
from backend.webhooks.recipients import recipients
from backend.webhooks.services import emit

MailOf = Callable[[UUID], EmailMessage | None]
"""Returns the mail about a thing of the current tenant; None if there is no such thing, or nobody is to know."""

MAIL_ATTEMPTS = 20
_WHY = {
    DisabledReason.GONE: "It answered with status 410 (Gone).",
    DisabledReason.DEAD_DELIVERIES: "Five deliveries in a row have failed for good.",
}
_TEXT = """Your webhook endpoint {id} was disabled at {at} (UTC).

URL: {url}
{why}

No events are sent to it until you enable it again:
  PATCH /v1/webhook-endpoints/{id} with {{"enabled": true}}
Events that it has missed can then be sent again:
  POST /v1/webhook-endpoints/{id}/replay with {{"since": "{at}Z"}}
"""


def disable(endpoint: Endpoint, *, reason: DisabledReason) -> None:
    """Switch an endpoint off, emit the event to the tenant's other endpoints, queue the mail. Its row is locked."""
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
    change = uuid5(disabled.id, str(disabled.disabled_at))
    emit(type="webhook_endpoint.disabled", resource_id=change, data=data)
    if settings.EMAIL_HOST and recipients(billed=False):
        enqueue(
            kind=JobKind.SEND_NOTICE,
            subject_id=disabled.id,
            dedupe_key=f"notice:{change}",
            max_attempts=MAIL_ATTEMPTS,
        )


_mails_of_others: list[MailOf] = []


def register(mail_of: MailOf) -> None:
    """Add a writer of mails to this process; called once, when its app is loaded."""
    _mails_of_others.append(mail_of)


def mail_about(subject_id: UUID) -> EmailMessage | None:
    """Return the mail about an endpoint, a limit, an invoice or what others write about; None if nobody is to know."""
    writers = (report_mail, _mail_about_endpoint, named_addresses.mail_of, *_mails_of_others)
    return next((mail for mail in (write(subject_id) for write in writers) if mail is not None), None)


def _mail_about_endpoint(endpoint_id: UUID) -> EmailMessage | None:
    to = recipients(billed=False)
    endpoint = Endpoint.objects.filter(id=endpoint_id, state=EndpointState.AUTO_DISABLED).first()
    if endpoint is None or not to or endpoint.disabled_at is None:
        return None
    public_id = public_ids.encode("whe", endpoint.id)
    text = _TEXT.format(
        id=public_id,
        url=endpoint.url,
        at=endpoint.disabled_at.strftime("%Y-%m-%dT%H:%M:%S"),
        why=_WHY[DisabledReason(endpoint.disabled_reason)],
    )
    return to.mail(subject=f"Webhook endpoint {public_id} is disabled", body=text)

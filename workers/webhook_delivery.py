"""One attempt to deliver a webhook: load, send, record. No transaction is open while the receiver answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import partial
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from backend.outbound import transport
from backend.tenancy.context import tenant_scope
from backend.webhooks import attempts, signing
from backend.webhooks.attempts import Outcome, Outgoing

TIMEOUT_S = 20.0
EXCERPT_BYTES = 2_000
USER_AGENT = "AVA-Cloud-Webhooks/1"


def deliver(
    *,
    tenant_id: UUID,
    delivery_id: UUID,
    transaction: Callable[[], AbstractContextManager[None]] | None = None,
    clock: Callable[[], datetime] = timezone.now,
) -> datetime | None:
    """Make the attempt of a delivery that is due and record it.

    transaction: opens the transaction of the record, such as a lease's checkpoint; by default the tenant's scope.
    The next attempt, if one is needed, is queued in that transaction. Returns when it is due; None when the delivery
    has ended or there was nothing to do. Raises what transaction() raises; a receiver's failure is not an exception.
    """
    with tenant_scope(tenant_id):
        outgoing = attempts.next_outgoing(delivery_id)
    if outgoing is None:
        return None
    outcome = send(outgoing, at=clock())
    due = None if outcome.delivered else attempts.next_attempt_at(outgoing.n, outcome)
    with (transaction or partial(tenant_scope, tenant_id))():
        recorded = attempts.record_attempt(outgoing=outgoing, outcome=outcome, next_attempt_at=due)
    return due if recorded and outcome.status_code != 410 else None


def send(outgoing: Outgoing, *, at: datetime) -> Outcome:
    """Send one request, signed with the time `at`. Every result is an Outcome, a failure too."""
    headers = {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        **signing.signed_headers(message_id=outgoing.message_id, body=outgoing.body, secrets=outgoing.secrets, at=at),
    }
    began = time.monotonic()
    try:
        with transport.request(
            "POST",
            outgoing.url,
            headers=headers,
            content=outgoing.body.encode(),
            timeout_s=TIMEOUT_S,
            allow_private=settings.WEBHOOK_ALLOW_PRIVATE,
        ) as response:
            latency_ms = _since(began)
            # NUL is the one character that Postgres text cannot hold.
            excerpt = response.excerpt(EXCERPT_BYTES).decode("utf-8", "replace").replace("\0", "\ufffd")
            return Outcome(
                at=at,
                status_code=response.status,
                error_code="" if 200 <= response.status < 300 else _code_of(response.status),
                response_excerpt=excerpt,
                latency_ms=latency_ms,
                address=response.address,
                retry_after_s=_retry_after_s(response.headers.get("retry-after", "")),
            )
    except transport.TransportError as error:
        return Outcome(at=at, error_code=error.code, response_excerpt=str(error), latency_ms=_since(began))


def _code_of(status: int) -> str:
    if 300 <= status < 400:
        return "redirect_refused"
    return "gone" if status == 410 else "http_error"


def _retry_after_s(text: str) -> int:
    """Return the seconds of a Retry-After header in either of its forms; 0 if it is absent or malformed."""
    if text.isascii() and text.isdigit():
        return int(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return 0
    return max(0, round(at.timestamp() - time.time()))


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)

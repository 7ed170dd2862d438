"""One attempt to deliver a webhook, in three steps: load, send, record.

No transaction is open while the receiver answers. The record of the attempt and the end of its job are one transaction.
"""

from __future__ import annotations

import time
from datetime import datetime
from email.utils import parsedate_to_datetime

from django.conf import settings
from django.utils import timezone

from backend.jobs import services
from backend.jobs.models import JobKind, JobState
from backend.jobs.services import JobFailed, Lease
from backend.observability.metrics import count_webhook_attempt
from backend.outbound import async_transport
from backend.outbound.transport import TransportError
from backend.webhooks import attempts, signing
from backend.webhooks.attempts import Held, Outcome, Outgoing
from workers.observed_job import ended

TIMEOUT_S = 20.0
EXCERPT_BYTES = 2_000
USER_AGENT = "AVA-Cloud-Webhooks/1"


def load(lease: Lease) -> Outgoing | None:
    """Return the attempt of a claimed job; None if there is none, and then the job has ended or waits again.

    Raises LeaseLost; JobFailed if every attempt of the job has lost its worker.
    """
    if lease.attempt > lease.max_attempts:
        raise JobFailed("worker_lost", "every attempt lost its worker", retryable=True)
    with services.checkpoint(lease):
        outgoing = attempts.next_outgoing(lease.subject_id)
        if isinstance(outgoing, Outgoing):
            return outgoing
        if isinstance(outgoing, Held):
            services.postpone(lease, wait=outgoing.wait)
        else:
            services.complete(lease)
    ended("queued" if isinstance(outgoing, Held) else "succeeded")
    return None


async def send(outgoing: Outgoing, *, at: datetime) -> Outcome:
    """Send one request, signed with the time `at`. Every result is an Outcome, a failure too."""
    headers = {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        **signing.signed_headers(message_id=outgoing.message_id, body=outgoing.body, secrets=outgoing.secrets, at=at),
    }
    began = time.monotonic()
    try:
        reply = await async_transport.request(
            "POST",
            outgoing.url,
            headers=headers,
            content=outgoing.body.encode(),
            timeout_s=TIMEOUT_S,
            allow_private=settings.WEBHOOK_ALLOW_PRIVATE,
            keep_bytes=EXCERPT_BYTES,
        )
    except TransportError as error:
        latency_ms = round((time.monotonic() - began) * 1000)
        return Outcome(error_code=error.code, response_excerpt=str(error), latency_ms=latency_ms)
    return Outcome(
        status_code=reply.status,
        error_code="" if 200 <= reply.status < 300 else _code_of(reply.status),
        # NUL is the one character that Postgres text cannot hold.
        response_excerpt=reply.beginning.decode("utf-8", "replace").replace("\0", "\ufffd"),
        latency_ms=reply.head_ms,
        address=reply.address,
        retry_after_s=_retry_after_s(reply.headers.get("retry-after", "")),
    )


def record(lease: Lease, outgoing: Outgoing, outcome: Outcome) -> None:
    """Record an attempt, what follows from it, and the end of its job. Raises LeaseLost, and nothing is recorded."""
    with services.checkpoint(lease):
        attempts.record_attempt(outgoing=outgoing, outcome=outcome)
        services.complete(lease)
    ended("succeeded")
    # A replay is late by intent.
    lag_s = (timezone.now() - outgoing.created_at).total_seconds() if outgoing.n == outgoing.n_of_schedule else None
    count_webhook_attempt(error_code=outcome.error_code, lag_s=lag_s)


def fail(lease: Lease, error: JobFailed) -> JobState:
    """Record that a job could not be done. A delivery whose job has ended is dead: it can be replayed."""
    with services.checkpoint(lease):
        state = services.fail(lease, error)
        if state in (JobState.FAILED, JobState.DEAD) and lease.kind == JobKind.DELIVER_WEBHOOK:
            attempts.end_delivery(delivery_id=lease.subject_id)
    ended(state)
    return state


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

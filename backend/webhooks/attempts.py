"""One attempt of a delivery: its request, and what follows from its outcome (for workers.webhooks.webhook_delivery)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models.functions import Now
from django.utils import timezone

from backend.api import public_ids
from backend.jobs.services import after
from backend.tenancy.context import current_tenant_id
from backend.tenancy.secrets import open_sealed
from backend.webhooks import breaker, payloads, queries
from backend.webhooks.breaker import LONGEST_RETRY_AFTER
from backend.webhooks.models import Attempt, Delivery, DeliveryState, DisabledReason, Endpoint, EndpointState
from backend.webhooks.notices import disable
from backend.webhooks.services import current_secret, schedule_attempt

# An endpoint is switched off after this number of dead deliveries in a row; a success starts the count again.
DEAD_DELIVERIES_TO_DISABLE = 5
SCHEDULE = tuple(
    timedelta(seconds=seconds)
    for seconds in (0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
)
"""Waits before attempts 1 to 10, each counted from the attempt before (Standard Webhooks 1.0.0)."""
JITTER = 0.1
"""Maximum share that is added to a wait at random."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """All that one attempt needs, so that it can be sent without a transaction.

    n: number of the attempt, from 1. n_of_schedule: the same, counted from the last replay. created_at: of the event.
    """

    delivery_id: UUID
    endpoint_id: UUID
    n: int
    n_of_schedule: int
    url: str
    message_id: str
    created_at: datetime
    body: str
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """The breaker of the endpoint holds the delivery back for this time."""

    wait: timedelta


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an attempt. status_code is None if no response arrived; error_code then says why."""

    status_code: int | None = None
    error_code: str = ""
    response_excerpt: str = ""
    latency_ms: int = 0
    address: str = ""
    retry_after_s: int = 0

    @property
    def delivered(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300


def next_outgoing(delivery_id: UUID) -> Outgoing | Held | None:
    """Return the attempt that is due, or that it must wait; None if the delivery is gone or over.

    A delivery whose endpoint is switched off, or whose time is over, ends here.
    """
    delivery = Delivery.objects.select_related("event", "endpoint").filter(id=delivery_id).first()
    if delivery is None or delivery.state != DeliveryState.PENDING:
        return None
    endpoint = delivery.endpoint
    if endpoint.state != EndpointState.ENABLED:
        end_delivery(delivery_id=delivery.id)
        return None
    if Delivery.objects.filter(id=delivery.id, expires_at__lte=Now()).exists():
        locked = queries.lock_endpoint(endpoint.id)
        end_delivery(delivery_id=delivery.id)
        if locked is not None:
            _note_death(locked, gone=False)
        return None
    wait = breaker.admit(endpoint, delivery_id=delivery.id)
    if wait is not None:
        return Held(wait)
    secrets = [current_secret(endpoint)]
    if endpoint.previous_secret is not None and endpoint.previous_secret_until > timezone.now():
        secrets.append(open_sealed(bytes(endpoint.previous_secret)).decode())
    return Outgoing(
        delivery_id=delivery.id,
        endpoint_id=endpoint.id,
        n=delivery.attempts + 1,
        n_of_schedule=delivery.attempts - delivery.attempts_before + 1,
        url=endpoint.url,
        message_id=public_ids.encode("msg", delivery.event_id),
        created_at=delivery.event.created_at,
        body=payloads.body_for(delivery.event.body, endpoint_sequence=_number_of(delivery)),
        secrets=tuple(secrets),
    )


def _number_of(delivery: Delivery) -> int:
    if delivery.endpoint_sequence is None:
        endpoint = queries.lock_endpoint(delivery.endpoint_id)
        if endpoint is not None:
            queries.number_deliveries(endpoint)
        delivery.refresh_from_db(fields=["endpoint_sequence"])
    return int(delivery.endpoint_sequence or 0)


def end_delivery(*, delivery_id: UUID) -> None:
    """Mark a delivery as dead because no attempt can be made for it; a replay starts it again."""
    Delivery.objects.filter(id=delivery_id, state=DeliveryState.PENDING).update(
        state=DeliveryState.DEAD, next_attempt_at=None, completed_at=Now()
    )


def record_attempt(*, outgoing: Outgoing, outcome: Outcome) -> bool:
    """Write an attempt and what follows from it: success, another attempt, or the delivery's death.

    Status 410 disables the endpoint and ends the delivery. Returns False and writes nothing if another worker recorded
    this attempt.
    """
    wait = None if outcome.delivered else wait_after(outgoing.n_of_schedule, outcome)
    gone = outcome.status_code == 410
    over = outcome.delivered or gone or wait is None
    state = DeliveryState.SUCCEEDED if outcome.delivered else DeliveryState.DEAD if over else DeliveryState.PENDING
    pending = Delivery.objects.filter(id=outgoing.delivery_id, state=DeliveryState.PENDING)
    mine = pending.filter(attempts=outgoing.n - 1).update(
        attempts=outgoing.n,
        state=state,
        next_attempt_at=None if over or wait is None else after(wait),
        completed_at=Now() if over else None,
    )
    if not mine:
        return False
    Attempt.objects.create(
        tenant_id=current_tenant_id(),
        delivery_id=outgoing.delivery_id,
        n=outgoing.n,
        status_code=outcome.status_code,
        error_code=outcome.error_code,
        response_excerpt=outcome.response_excerpt,
        latency_ms=outcome.latency_ms,
        address=outcome.address,
    )
    if outcome.delivered:
        breaker.close(outgoing.endpoint_id)
        return True
    endpoint = queries.lock_endpoint(outgoing.endpoint_id)
    if endpoint is None:
        return True
    retry_after = timedelta(seconds=outcome.retry_after_s)
    breaker.note_failure(endpoint, delivery_id=outgoing.delivery_id, retry_after=retry_after)
    if over:
        _note_death(endpoint, gone=gone)
    elif wait is not None:
        schedule_attempt(
            delivery_id=outgoing.delivery_id, endpoint_id=outgoing.endpoint_id, n=outgoing.n + 1, wait=wait
        )
    return True


def _note_death(endpoint: Endpoint, *, gone: bool) -> None:
    """Count a dead delivery of a locked endpoint, and disable the endpoint at 410 or after too many."""
    dead = endpoint.dead_deliveries + 1
    Endpoint.objects.filter(id=endpoint.id).update(dead_deliveries=dead)
    if endpoint.state == EndpointState.ENABLED and (gone or dead >= DEAD_DELIVERIES_TO_DISABLE):
        disable(endpoint, reason=DisabledReason.GONE if gone else DisabledReason.DEAD_DELIVERIES)


def wait_after(n: int, outcome: Outcome) -> timedelta | None:
    """Return the wait between attempt n of the schedule, which failed, and the next; None after the last attempt.

    Jitter spreads the retries of a receiver that came back. A receiver that asks for more time gets it.
    """
    if n >= len(SCHEDULE):
        return None
    wait = SCHEDULE[n] * random.uniform(1.0, 1.0 + JITTER)
    return max(wait, min(timedelta(seconds=outcome.retry_after_s), LONGEST_RETRY_AFTER))

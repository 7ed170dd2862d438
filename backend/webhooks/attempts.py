"""One attempt of a delivery: its request, and what follows from its outcome (called by workers.webhook_delivery)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from backend.api import public_ids
from backend.tenancy.context import current_tenant_id
from backend.tenancy.secrets import open_sealed
from backend.webhooks.models import Attempt, Delivery, DeliveryState, Endpoint, EndpointState
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
LONGEST_RETRY_AFTER = timedelta(hours=24)
"""Maximum wait that a receiver can ask for."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """All that one attempt needs, so that it can be sent without a transaction."""

    delivery_id: UUID
    endpoint_id: UUID
    n: int
    url: str
    message_id: str
    body: str
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an attempt. status_code is None if no response arrived; error_code then says why."""

    at: datetime
    status_code: int | None = None
    error_code: str = ""
    response_excerpt: str = ""
    latency_ms: int = 0
    address: str = ""
    retry_after_s: int = 0

    @property
    def delivered(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300


def next_outgoing(delivery_id: UUID) -> Outgoing | None:
    """Return the attempt that is due; None if the delivery is gone or over.

    A delivery whose endpoint is switched off ends here.
    """
    delivery = Delivery.objects.select_related("event", "endpoint").filter(id=delivery_id).first()
    if delivery is None or delivery.state != DeliveryState.PENDING:
        return None
    endpoint = delivery.endpoint
    if endpoint.state != EndpointState.ENABLED:
        end_delivery(delivery_id=delivery.id)
        return None
    secrets = [current_secret(endpoint)]
    if endpoint.previous_secret is not None and endpoint.previous_secret_until > timezone.now():
        secrets.append(open_sealed(bytes(endpoint.previous_secret)).decode())
    return Outgoing(
        delivery_id=delivery.id,
        endpoint_id=endpoint.id,
        n=delivery.attempts + 1,
        url=endpoint.url,
        message_id=public_ids.encode("msg", delivery.event_id),
        body=delivery.event.body,
        secrets=tuple(secrets),
    )


def end_delivery(*, delivery_id: UUID) -> None:
    """Mark a delivery as dead because no attempt can be made for it; a replay starts it again."""
    Delivery.objects.filter(id=delivery_id, state=DeliveryState.PENDING).update(
        state=DeliveryState.DEAD, next_attempt_at=None, completed_at=timezone.now()
    )


def record_attempt(*, outgoing: Outgoing, outcome: Outcome, next_attempt_at: datetime | None) -> bool:
    """Write an attempt and what follows from it: success, another attempt, or the delivery's death.

    next_attempt_at: None if the schedule is used up. Status 410 disables the endpoint and ends the delivery. Returns
    False and writes nothing if another worker recorded this attempt.
    """
    gone = outcome.status_code == 410
    over = outcome.delivered or gone or next_attempt_at is None
    state = DeliveryState.SUCCEEDED if outcome.delivered else DeliveryState.DEAD if over else DeliveryState.PENDING
    pending = Delivery.objects.filter(id=outgoing.delivery_id, state=DeliveryState.PENDING)
    mine = pending.filter(attempts=outgoing.n - 1).update(
        attempts=outgoing.n,
        state=state,
        next_attempt_at=None if over else next_attempt_at,
        completed_at=outcome.at if over else None,
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
    endpoint = Endpoint.objects.filter(id=outgoing.endpoint_id)
    if outcome.delivered:
        endpoint.exclude(dead_deliveries=0).update(dead_deliveries=0)
    elif over:
        endpoint.update(dead_deliveries=F("dead_deliveries") + 1)
        failing = endpoint.filter(state=EndpointState.ENABLED)
        if not gone:
            failing = failing.filter(dead_deliveries__gte=DEAD_DELIVERIES_TO_DISABLE)
        failing.update(state=EndpointState.AUTO_DISABLED)
    elif next_attempt_at is not None:
        schedule_attempt(
            delivery_id=outgoing.delivery_id,
            endpoint_id=outgoing.endpoint_id,
            n=outgoing.n + 1,
            wait=next_attempt_at - timezone.now(),
        )
    return True


def next_attempt_at(n: int, outcome: Outcome) -> datetime | None:
    """Return when attempt n + 1 is due after attempt n failed; None after the last attempt.

    Jitter spreads the retries of a receiver that came back. A receiver that asks for more time gets it.
    """
    if n >= len(SCHEDULE):
        return None
    wait = SCHEDULE[n] * random.uniform(1.0, 1.0 + JITTER)
    requested = min(timedelta(seconds=outcome.retry_after_s), LONGEST_RETRY_AFTER)
    return outcome.at + max(wait, requested)

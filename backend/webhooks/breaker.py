"""The breaker of an endpoint: while its receiver fails, one delivery at a time is a probe and all others wait.

Waiting costs a delivery no attempt. Its jobs are moved to the time of the next probe, so that a backlog of a dead
receiver is not claimed again and again. All times are those of PostgreSQL's clock.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now

from backend.jobs.models import QUEUE_OF, Job, JobKind, JobState
from backend.jobs.services import after
from backend.webhooks.models import BreakerState, Delivery, Endpoint

OPENS_AFTER = 5
"""Failed attempts in a row, of any deliveries, that open the breaker."""
FIRST_WAIT = timedelta(seconds=30)
"""Wait before the first probe. Each probe that fails doubles it."""
LONGEST_WAIT = timedelta(minutes=30)
PROBE_LIMIT = timedelta(seconds=60)
"""Time after which another delivery may probe, because the first probe's process has died."""
LONGEST_RETRY_AFTER = timedelta(hours=24)
"""Maximum wait that a receiver can ask for."""


def admit(endpoint: Endpoint, *, delivery_id: UUID) -> timedelta | None:
    """Return how long a delivery must wait; None if it may be attempted now, perhaps as the probe."""
    if endpoint.breaker == BreakerState.CLOSED:
        return None
    left = ExpressionWrapper(F("probe_at") - Now(), output_field=DurationField())
    row = Endpoint.objects.select_for_update(no_key=True).annotate(left=left).filter(id=endpoint.id).first()
    if row is None or row.breaker == BreakerState.CLOSED:
        return None
    is_probe = row.breaker == BreakerState.HALF_OPEN and row.probing == delivery_id
    if row.left > timedelta(0) and not is_probe:
        wait: timedelta = row.left
        return wait
    Endpoint.objects.filter(id=row.id).update(
        breaker=BreakerState.HALF_OPEN, probing=delivery_id, probe_at=after(PROBE_LIMIT)
    )
    _hold(row.id, PROBE_LIMIT)
    return None


def wait_left(endpoint_id: UUID) -> timedelta:
    """Return the time until the next probe; zero if the breaker holds nothing back."""
    left = ExpressionWrapper(F("probe_at") - Now(), output_field=DurationField())
    held = Endpoint.objects.filter(id=endpoint_id).exclude(breaker=BreakerState.CLOSED)
    return max(held.values_list(left, flat=True).first() or timedelta(0), timedelta(0))


def note_failure(endpoint: Endpoint, *, delivery_id: UUID, retry_after: timedelta) -> None:
    """Count a failed attempt, and open the breaker if it is one too many, a failed probe, or asks for time.

    endpoint: a row that the transaction has locked. retry_after: zero if the receiver asked for nothing.
    """
    is_probe = endpoint.breaker == BreakerState.HALF_OPEN and endpoint.probing == delivery_id
    if endpoint.breaker != BreakerState.CLOSED and not is_probe:
        # An attempt that began before the breaker opened says nothing new.
        return
    failures = endpoint.failures + 1
    mine = Endpoint.objects.filter(id=endpoint.id)
    asked = min(retry_after, LONGEST_RETRY_AFTER)
    if not is_probe and failures < OPENS_AFTER and not asked:
        mine.update(failures=failures)
        return
    doublings = max(0, failures - OPENS_AFTER)
    wait = FIRST_WAIT * 2 ** min(doublings, 16) if is_probe or failures >= OPENS_AFTER else timedelta(0)
    wait = max(min(wait, LONGEST_WAIT), asked)
    mine.update(
        breaker=BreakerState.OPEN,
        failures=failures,
        opened_at=Coalesce("opened_at", Now()),
        probe_at=after(wait),
        probing=None,
    )
    _hold(endpoint.id, wait)


def close(endpoint_id: UUID) -> None:
    """Forget the failures of an endpoint, and let its deliveries go if the breaker held them."""
    mine = Endpoint.objects.filter(id=endpoint_id)
    mine.exclude(failures=0, dead_deliveries=0).update(failures=0, dead_deliveries=0)
    if mine.exclude(breaker=BreakerState.CLOSED).update(
        breaker=BreakerState.CLOSED, opened_at=None, probe_at=None, probing=None
    ):
        own_time = Subquery(Delivery.objects.filter(id=OuterRef("subject_id")).values("next_attempt_at")[:1])
        _waiting(endpoint_id).update(not_before=Coalesce(own_time, Now(), output_field=DateTimeField()), due=False)


def hold_new(endpoint_id: UUID) -> None:
    """Move the jobs of an endpoint that were queued for now to the next probe, if the breaker is not closed."""
    wait = wait_left(endpoint_id)
    if wait:
        _hold(endpoint_id, wait)


def _hold(endpoint_id: UUID, wait: timedelta) -> None:
    _waiting(endpoint_id).filter(not_before__lt=after(wait)).update(not_before=after(wait), due=False)


def _waiting(endpoint_id: UUID) -> QuerySet[Job]:
    """Return the queued jobs of an endpoint, without those that another transaction has locked.

    Such a job is being claimed: admit() puts it back.
    """
    mine = Job.objects.filter(queue=QUEUE_OF[JobKind.DELIVER_WEBHOOK], lane=endpoint_id, state=JobState.QUEUED)
    waiting: QuerySet[Job] = Job.objects.filter(id__in=mine.select_for_update(skip_locked=True).values("id"))
    return waiting

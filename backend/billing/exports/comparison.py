"""The comparison of one tenant's usage with a billing system, once a day, and what it has found.

Compared are the last whole days, and each earlier day of which a row was recorded since both sides agreed last: late
rows and reversals belong to days that are long over. Days that differ are therefore compared until they agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import Any
from uuid import UUID

from django.db.models import Sum
from django.db.models.functions import TruncDay
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.exports.sinks import Sink
from backend.billing.exports.transfer import EXPORTED, OVERLAP, USAGE, customer_of, state_of
from backend.billing.models import ExportState, UsageEvent
from backend.tenancy.context import tenant_scope

COMPARED_DAYS = 2
"""Days that are compared whatever was recorded: the system may have lost what it had."""
FIRST_COMPARED = timedelta(days=35)
"""Age up to which recorded rows are compared the first time."""
COMPARED_AFTER = timedelta(hours=24)
"""Age of a comparison after which the next one is due."""
LATE_AFTER = timedelta(hours=48)
"""Age of a comparison after which it is a finding."""
SKIPPED_FOR = timedelta(days=35)
"""Time for which usage that was too old for the system is a finding."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A meter of one UTC day of which a billing system has another quantity than the ledger."""

    day: datetime
    meter: str
    ours: Decimal
    theirs: Decimal


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong with one tenant's usage in a billing system, in words."""

    differences: Sequence[str] = ()
    skipped: Sequence[str] = ()
    late: Sequence[str] = ()


def comparison_is_due(tenant_id: UUID, sink: Sink, *, now: datetime | None = None) -> bool:
    """Whether a tenant's usage was never compared, or not for COMPARED_AFTER."""
    with tenant_scope(tenant_id):
        compared_at = state_of(tenant_id, sink, USAGE).compared_at
    return compared_at is None or (now or timezone.now()) - compared_at >= COMPARED_AFTER


def reconcile(tenant_id: UUID, sink: Sink, *, now: datetime | None = None) -> list[Difference]:
    """Compare a tenant's usage with the billing system: each meter of any of the days, on each day.

    Days that the system finds too old are left out, since nothing can mend them there. Stores what was found and when.
    Raises ExportFailed.
    """
    at = now or timezone.now()
    today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    customer, ours = customer_of(tenant_id, sink), defaultdict[tuple[datetime, str], Decimal](Decimal)
    with tenant_scope(tenant_id):
        state = state_of(tenant_id, sink, USAGE)
        since = (state.agreed_until or at - FIRST_COMPARED) - OVERLAP
        by_day = UsageEvent.objects.filter(EXPORTED, occurred_at__lt=today).annotate(
            day=TruncDay("occurred_at", tzinfo=UTC)
        )
        touched = set(by_day.filter(recorded_at__gt=since).values_list("day", flat=True).distinct())
        touched |= {today - timedelta(days=ago) for ago in range(1, COMPARED_DAYS + 1)}
        starts = sorted(day for day in touched if sink.oldest is None or day > at - sink.oldest)
        # The bound lets the database skip months of the ledger.
        rows = by_day.filter(occurred_at__gte=starts[0], day__in=starts).values("day", "meter")
        for row in rows.annotate(sum=Sum("quantity")):
            ours[row["day"], row["meter"]] = row["sum"]
    differences = []
    for start, meter in product(starts, sorted({meter for _, meter in ours})):
        theirs = sink.total(customer, meter, start, start + timedelta(days=1))
        if theirs != ours[start, meter]:
            differences.append(Difference(start, meter, ours[start, meter], theirs))
    found: dict[str, Any] = {"differences": [words_of(tenant_id, sink, one) for one in differences], "compared_at": at}
    if not differences:
        # Today is not over: its rows are compared later.
        found["agreed_until"] = today
    with tenant_scope(tenant_id):
        ExportState.objects.filter(id=state.id).update(**found)
    return differences


def findings_of(tenant_id: UUID, sink: Sink) -> Findings:
    """Return what is wrong with a tenant's usage in a billing system by the last comparison and the last exports."""
    at, tenant = timezone.now(), encode("tnt", tenant_id)
    with tenant_scope(tenant_id):
        state = ExportState.objects.filter(sink=sink.name, subject=USAGE).first()
    if state is None:
        return Findings()
    skipped, late = [], []
    if state.skipped_at is not None and at - state.skipped_at < SKIPPED_FOR:
        skipped.append(
            f"{tenant}: {state.skipped} rows of usage were too old for {sink.name}, the last ones on "
            f"{state.skipped_at:%Y-%m-%d}"
        )
    compared = state.compared_at or state.created_at
    if at - compared > LATE_AFTER:
        late.append(f"{tenant}: usage in {sink.name} was not compared since {compared:%Y-%m-%dT%H:%M}")
    return Findings(state.differences, skipped, late)


def words_of(tenant_id: UUID, sink: Sink, one: Difference) -> str:
    """Return a difference of a tenant in words."""
    return (
        f"{sink.name} has {one.theirs} of {one.meter} for {encode('tnt', tenant_id)} on {one.day:%Y-%m-%d}, and the "
        f"ledger has {one.ours}"
    )

"""Compares what the ledger attributed to work with the machine hours that were paid, day by day (UTC)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from django.db import connection
from django.db.models import DecimalField, F, Sum
from django.utils import timezone

from backend.billing.invariants.registry import all_tenants
from backend.billing.models import CostDay, MachineDay
from backend.billing.rates import money, quantity
from backend.tenancy.context import current_tenant_id, tenant_scope

LATE_DAYS = 7
"""Days that are reconciled again: machine hours and late events arrive after their day."""
_SIX = Decimal(1).scaleb(-6)
_NUMBER: DecimalField[Decimal, Decimal] = DecimalField(max_digits=30, decimal_places=10)

_ATTRIBUTED = """
SELECT
    coalesce(sum(quantity) FILTER (WHERE meter = 'device_seconds'), 0) AS seconds,
    coalesce(sum(cost_amount) FILTER (WHERE meter = 'device_seconds'), 0) AS device_usd,
    coalesce(sum(cost_amount) FILTER (WHERE meter = ANY(%(tokens)s)), 0) AS hosted_usd,
    coalesce(sum(cost_amount) FILTER (WHERE NOT billable), 0) AS waste_usd,
    coalesce(sum(cost_amount) FILTER (WHERE video_id IS NOT NULL AND meter = 'device_seconds'), 0) AS index_device_usd,
    coalesce(sum(cost_amount) FILTER (WHERE video_id IS NOT NULL AND meter = ANY(%(tokens)s)), 0) AS index_hosted_usd,
    coalesce(sum(cost_amount) FILTER (WHERE question_id IS NOT NULL AND meter = 'device_seconds'), 0)
        AS answer_device_usd,
    coalesce(sum(cost_amount) FILTER (WHERE question_id IS NOT NULL AND meter = ANY(%(tokens)s)), 0)
        AS answer_hosted_usd,
    coalesce(sum(quantity) FILTER (WHERE meter IN ('media_seconds', 'live_seconds')), 0) AS media_seconds,
    coalesce(sum(quantity) FILTER (WHERE meter = 'questions'), 0) AS questions
FROM billing_usageevent
WHERE tenant_id = %(tenant)s AND occurred_at >= %(start)s AND occurred_at < %(end)s
"""
_TOKENS = ["input_tokens", "cached_tokens", "output_tokens"]


@dataclass(frozen=True, slots=True)
class Attributed:
    """Sums of the ledger's rows of one day. media_seconds, questions: less what was reversed."""

    seconds: Decimal = Decimal(0)
    device_usd: Decimal = Decimal(0)
    hosted_usd: Decimal = Decimal(0)
    waste_usd: Decimal = Decimal(0)
    index_device_usd: Decimal = Decimal(0)
    index_hosted_usd: Decimal = Decimal(0)
    answer_device_usd: Decimal = Decimal(0)
    answer_hosted_usd: Decimal = Decimal(0)
    media_seconds: Decimal = Decimal(0)
    questions: Decimal = Decimal(0)

    def __add__(self, other: Attributed) -> Attributed:
        return Attributed(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True, slots=True)
class Lost:
    """Attempts whose process was killed before it could report its calls. seconds: the most device time they used."""

    attempts: int = 0
    seconds: Decimal = Decimal(0)


_lost_time: Callable[[date], tuple[int, Decimal]] = lambda day: (0, Decimal(0))  # noqa: E731


def count_lost_time(reader: Callable[[date], tuple[int, Decimal]]) -> None:
    """Register what returns the number of lost attempts of a day and the seconds from their claims to their ends."""
    global _lost_time
    _lost_time = reader


def reconcile_day(day: date) -> CostDay:
    """Store and return the costs of a day, of all tenants. A day may be reconciled any number of times."""
    attributed = Attributed()
    for tenant_id in all_tenants():
        # A transaction each, so that no snapshot is held over all tenants.
        with tenant_scope(tenant_id):
            attributed += _attributed(day)
    paid_seconds, paid_usd = _paid(day)
    row = costs_of(day, attributed, paid_seconds=paid_seconds, paid_usd=paid_usd, lost=_lost(day))
    row.save(force_insert=not CostDay.objects.filter(day=day).exists())
    return row


def reconcile_late() -> list[CostDay]:
    """Reconcile the LATE_DAYS that are over, the oldest first."""
    end = timezone.now().astimezone(UTC).date()
    return [reconcile_day(end - timedelta(days=ago)) for ago in range(LATE_DAYS, 0, -1)]


def costs_of(
    day: date, attributed: Attributed, *, paid_seconds: Decimal, paid_usd: Decimal, lost: Lost = Lost()
) -> CostDay:
    """Return the unsaved row of a day. paid_seconds: device time of all machines. paid_usd: their price.

    lost: cut to the overhead, because what nobody is attributed cannot be more than that.

    The amounts per hour of video and per question are loaded: paid device time that nobody used is divided by the
    attributed amounts, because somebody has to pay for it.
    """
    load = paid_usd / attributed.device_usd if paid_usd and attributed.device_usd else Decimal(1)
    hours = attributed.media_seconds / 3600
    indexing = attributed.index_device_usd * load + attributed.index_hosted_usd
    answering = attributed.answer_device_usd * load + attributed.answer_hosted_usd
    overhead_seconds = quantity(paid_seconds) - quantity(attributed.seconds)
    overhead_usd = money(paid_usd) - money(attributed.device_usd)
    lost_seconds = min(quantity(lost.seconds), max(Decimal(0), overhead_seconds))
    # The overhead has one amount and one duration, and the lost part has its share of both.
    share = lost_seconds / overhead_seconds if lost_seconds else Decimal(0)
    return CostDay(
        day=day,
        paid_seconds=quantity(paid_seconds),
        attributed_seconds=quantity(attributed.seconds),
        overhead_seconds=overhead_seconds,
        lost_attempts=lost.attempts,
        lost_seconds=lost_seconds,
        lost_usd=money(max(Decimal(0), overhead_usd) * share),
        utilisation=(attributed.seconds / paid_seconds).quantize(_SIX) if paid_seconds else None,
        paid_usd=money(paid_usd),
        attributed_usd=money(attributed.device_usd),
        overhead_usd=overhead_usd,
        hosted_usd=money(attributed.hosted_usd),
        waste_usd=money(attributed.waste_usd),
        video_hours=quantity(hours),
        questions=quantity(attributed.questions),
        usd_per_video_hour=money(indexing / hours) if hours > 0 else None,
        usd_per_question=money(answering / attributed.questions) if attributed.questions > 0 else None,
    )


def _attributed(day: date) -> Attributed:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    with connection.cursor() as cursor:
        cursor.execute(
            _ATTRIBUTED,
            {"tenant": current_tenant_id(), "start": start, "end": start + timedelta(days=1), "tokens": _TOKENS},
        )
        return Attributed(*cursor.fetchone())


def _lost(day: date) -> Lost:
    """Return what lost attempts can have used: one machine of each kind, with all its devices, for their whole time."""
    attempts, seconds = _lost_time(day)
    devices = MachineDay.objects.filter(day=day).aggregate(all=Sum("devices", default=0))["all"]
    return Lost(attempts, seconds * devices)


def _paid(day: date) -> tuple[Decimal, Decimal]:
    """Return the paid device seconds and the amount paid for them."""
    total = MachineDay.objects.filter(day=day).aggregate(
        device_hours=Sum(F("hours") * F("devices"), default=Decimal(0), output_field=_NUMBER),
        usd=Sum(F("hours") * F("usd_per_hour"), default=Decimal(0), output_field=_NUMBER),
    )
    return Decimal(total["device_hours"]) * 3600, Decimal(total["usd"])

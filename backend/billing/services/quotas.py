"""Quotas and budgets as reservations: made when work is accepted, settled when it ends.

A reservation holds what open work may still consume. The ledger's rows of the work are drawn from it, so what is booked
and what is held never count twice. Everything that accepts work calls reserve() as the last step of its transaction: it
counts under a lock of the tenant, so requests that arrive together cannot pass a limit together. A Refused rolls the
whole transaction back. The lock comes after the locks of jobs, videos, questions and uploads, and before those of
webhook endpoints; settling takes no lock but those of its own rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from backend.billing.models import Budget, Reservation, Reserved
from backend.billing.rates import plain
from backend.billing.services.plan_limits import (
    CHARGE,
    MEDIA_MINUTES,
    OPEN_JOBS,
    QUESTIONS,
    exhausted,
    plan_limits,
)
from backend.tenancy.context import current_tenant_id
from backend.tenancy.months import month_of
from backend.tenancy.refusals import Refused

PLAN, TENANT, KEY = "plan", "tenant", "api_key"
"""Who sets a limit: the operator for the plan, the tenant for itself, the tenant for one of its keys."""
EXPIRES_AFTER = timedelta(days=30)
"""Time after which a reservation is given back that nothing has settled."""
THRESHOLDS = (50, 80, 100)
"""Percentages of a limit that are reported."""
_MONTHLY = (CHARGE, MEDIA_MINUTES, QUESTIONS)
JOBS = ("question", "search", "video")
"""Source types that count as open jobs."""


class QuotaExceeded(Refused):
    """Work that a limit leaves no room for."""


@dataclass(frozen=True, slots=True)
class Hold:
    """What one piece of work may consume. source_type: question, search, upload, piece or video."""

    kind: Reserved
    source_type: str
    source_id: UUID
    amount: Decimal
    charge: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts by measure. charge: in the tenant's currency."""

    charge: Decimal = Decimal(0)
    media_minutes: Decimal = Decimal(0)
    questions: Decimal = Decimal(0)
    open_jobs: Decimal = Decimal(0)

    def of(self, name: str) -> Decimal:
        amount: Decimal = getattr(self, name)
        return amount


@dataclass(frozen=True, slots=True)
class Use:
    """What the month's ledger has booked, and what open work holds on top of it."""

    booked: Amounts
    held: Amounts

    def total(self, name: str) -> Decimal:
        return self.booked.of(name) + self.held.of(name)


@dataclass(frozen=True, slots=True)
class Limited:
    """One set of limits and what counts against it. api_key_id: of the key that it limits, None for the tenant."""

    scope: str
    id: UUID
    limits: Mapping[str, Decimal]
    api_key_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Crossing:
    """A limit that a reservation came to. percent: of THRESHOLDS. used: booked and held."""

    limited: Limited
    name: str
    limit: Decimal
    used: Decimal
    percent: int
    start_at: datetime
    end_at: datetime


def reserve(holds: Sequence[Hold], *, api_key_id: UUID | None = None) -> list[Crossing]:
    """Hold what accepted work may consume, and check every limit that it counts against.

    Call this last in the transaction that accepts the work. A source that is reserved already keeps its reservation.
    Returns the thresholds that it came to. Raises QuotaExceeded: 402 `budget_exhausted`, 429 `too_many_open_jobs`; and
    PlanExhausted (402 `plan_exhausted`).
    """
    now = timezone.now()
    rows = [
        Reservation(
            tenant_id=current_tenant_id(),
            kind=hold.kind,
            source_type=hold.source_type,
            source_id=hold.source_id,
            amount=hold.amount,
            charge=hold.charge,
            api_key_id=api_key_id,
            expires_at=now + EXPIRES_AFTER,
        )
        for hold in holds
    ]
    Reservation.objects.bulk_create(rows, ignore_conflicts=True)
    return _checked(_added(holds), api_key_id, now)


def grow(hold: Hold, *, api_key_id: UUID | None = None) -> list[Crossing]:
    """Add to the open reservation of a source, or make it. Raises as reserve(); a Refused must roll back."""
    now = timezone.now()
    grown = _open(hold.source_id).update(
        amount=F("amount") + hold.amount, charge=F("charge") + hold.charge, expires_at=now + EXPIRES_AFTER
    )
    if not grown:
        return reserve([hold], api_key_id=api_key_id)
    return _checked(replace(_added([hold]), open_jobs=Decimal(0)), api_key_id, now)


def correct(hold: Hold) -> list[Crossing]:
    """Replace what a source has reserved by what was measured since, or reserve it. Raises as reserve().

    A Refused must roll back.
    """
    now = timezone.now()
    held = _open(hold.source_id).select_for_update().first()
    if held is None:
        return reserve([hold], api_key_id=key_of(hold.source_id))
    _open(hold.source_id).update(amount=hold.amount, charge=hold.charge)
    more = replace(
        hold, amount=max(Decimal(0), hold.amount - held.amount), charge=max(Decimal(0), hold.charge - held.charge)
    )
    return _checked(replace(_added([more]), open_jobs=Decimal(0)), held.api_key_id, now)


def transfer(source_id: UUID, *, source_type: str, to: UUID) -> list[Crossing]:
    """Let a source take over the reservation of the source that it was made of. Raises as reserve()."""
    key = key_of(source_id)
    _open(source_id).update(source_type=source_type, source_id=to)
    return _checked(Amounts(open_jobs=Decimal(source_type in JOBS)), key, timezone.now())


def settle(source_ids: Collection[UUID]) -> None:
    """Give back what is left of the reservations of work that is over; what the ledger booked of it stays booked."""
    if source_ids:
        Reservation.objects.filter(source_id__in=list(source_ids), settled_at=None).update(settled_at=timezone.now())


def _open(source_id: UUID) -> QuerySet[Reservation]:
    rows: QuerySet[Reservation] = Reservation.objects.filter(source_id=source_id, settled_at=None)
    return rows


def key_of(source_id: UUID) -> UUID | None:
    """Return the API key that work was accepted with, by its latest reservation; None for a person, or without one."""
    latest = Reservation.objects.filter(source_id=source_id).order_by("-id")
    return latest.values_list("api_key_id", flat=True).first()


def limits_on(api_key_id: UUID | None) -> list[Limited]:
    """Return the sets of limits that work of this key counts against; those without a limit are left out."""
    mine = Q(api_key_id=None) if api_key_id is None else Q(api_key_id=None) | Q(api_key_id=api_key_id)
    own = Budget.objects.filter(mine).order_by(F("api_key_id").asc(nulls_first=True))
    found = [Limited(PLAN, current_tenant_id(), plan_limits()), *map(limited_by, own)]
    return [limited for limited in found if limited.limits]


def limited_by(budget: Budget) -> Limited:
    """Return the limits of a tenant's own budget."""
    named = {name: getattr(budget, name) for name in (CHARGE, MEDIA_MINUTES, OPEN_JOBS, QUESTIONS)}
    limits = {name: Decimal(amount) for name, amount in named.items() if amount is not None}
    return Limited(TENANT if budget.api_key_id is None else KEY, budget.id, limits, budget.api_key_id)


_USE = """
SELECT coalesce(done.charge, 0), coalesce(done.media_seconds, 0), coalesce(done.questions, 0),
    held.charge, held.media_seconds, held.questions, held.jobs
FROM (
    SELECT coalesce(sum(greatest(charge - drawn_charge, 0)), 0) AS charge,
        coalesce(sum(greatest(amount - drawn_amount, 0)) FILTER (WHERE kind = 'media_seconds'), 0) AS media_seconds,
        coalesce(sum(greatest(amount - drawn_amount, 0)) FILTER (WHERE kind = 'questions'), 0) AS questions,
        count(*) FILTER (WHERE source_type = ANY(%(jobs)s)) AS jobs
    FROM billing_reservation
    WHERE tenant_id = %(tenant)s AND settled_at IS NULL AND expires_at > now()
      AND (%(key)s::uuid IS NULL OR api_key_id = %(key)s)
) held
LEFT JOIN billing_quotamonth done ON done.tenant_id = %(tenant)s AND done.month = %(month)s
    AND done.api_key_id IS NOT DISTINCT FROM %(key)s::uuid
"""


def use_of(api_key_id: UUID | None = None, *, at: datetime | None = None) -> Use:
    """Return what this month's ledger and the open work consume: of the tenant, or of one key.

    In one statement, because the end of work moves amounts from one to the other. What this transaction has written to
    the ledger is drawn when it commits; until then its reservation holds it.
    """
    start, _ = month_of(at or timezone.now())
    parameters: dict[str, Any] = {
        "tenant": current_tenant_id(),
        "month": start.date(),
        "key": api_key_id,
        "jobs": list(JOBS),
    }
    with connection.cursor() as cursor:
        cursor.execute(_USE, parameters)
        charge, media, questions, held_charge, held_media, held_questions, jobs = cursor.fetchone()
    return Use(
        Amounts(charge=charge, media_minutes=media / 60, questions=questions),
        Amounts(held_charge, held_media / 60, held_questions, Decimal(jobs)),
    )


def _checked(added: Amounts, api_key_id: UUID | None, now: datetime) -> list[Crossing]:
    limiting = [limited for limited in limits_on(api_key_id) if any(added.of(name) for name in _names(limited))]
    if not limiting:
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"quota:{current_tenant_id()}"])
    start, end = month_of(now)
    crossings = []
    for limited in limiting:
        use = use_of(limited.api_key_id, at=now)
        for name in _names(limited):
            limit, total = limited.limits[name], use.total(name)
            if not added.of(name):
                continue
            if total > limit:
                raise refusal(limited, name, end)
            crossings += [
                Crossing(limited, name, limit, total, percent, start, end)
                for percent in THRESHOLDS
                if name in _MONTHLY and (total - added.of(name)) * 100 < limit * percent <= total * 100
            ]
    return crossings


def _names(limited: Limited) -> list[str]:
    return [name for name in (CHARGE, MEDIA_MINUTES, QUESTIONS, OPEN_JOBS) if name in limited.limits]


def _added(holds: Sequence[Hold]) -> Amounts:
    def sum_of(kind: Reserved) -> Decimal:
        return sum((hold.amount for hold in holds if hold.kind == kind), Decimal(0))

    return Amounts(
        charge=sum((hold.charge for hold in holds), Decimal(0)),
        media_minutes=sum_of(Reserved.MEDIA_SECONDS) / 60,
        questions=sum_of(Reserved.QUESTIONS),
        open_jobs=Decimal(sum(hold.source_type in JOBS for hold in holds)),
    )


def refusal(limited: Limited, name: str, end: datetime) -> Refused:
    """Return the refusal of work that passes a limit. end: of the month."""
    amount = f"{name} limit of {plain(limited.limits[name])}"
    whose = {PLAN: "your plan", TENANT: "your budget", KEY: "the budget of this API key"}[limited.scope]
    if name == OPEN_JOBS:
        detail = f"The {amount} of {whose} is reached. Wait until open work ends, or cancel some of it."
        return QuotaExceeded("too_many_open_jobs", detail, status=429)
    if limited.scope == PLAN:
        return exhausted(amount, end)
    detail = f"The {amount} a month of {whose} leaves no room for this. Wait until {end:%Y-%m-%d}, or raise the limit."
    return QuotaExceeded("budget_exhausted", detail, status=402)

"""Quotas and budgets as reservations: made when work is accepted, settled when it ends.

A reservation holds what open work may still consume. The ledger's rows of the work are drawn from it, so what is booked
and what is held never count twice. Everything that accepts work calls reserve() as the last step of its transaction: it
counts under a lock of the tenant, so requests that arrive together cannot pass a limit together. A Refused rolls the
whole transaction back. The lock comes after the locks of jobs, videos, questions and uploads, and before those of
webhook endpoints; settling takes no lock but those of its own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone

from backend.billing.models import Budget, Ended, Reservation, Reserved
from backend.billing.rates import LEDGER_CURRENCY, PLAN_BOOK, currency_at, plain
from backend.billing.services.limits.crossings import (
    THRESHOLDS,
    Crossing,
    Limited,
    LimitReached,
    refused_work,
    thresholds_reached,
)
from backend.billing.services.limits.plan_limits import (
    CHARGE,
    KEY,
    MEDIA_MINUTES,
    OPEN_JOBS,
    PLAN,
    QUESTIONS,
    RETRIES,
    STORED_BYTES,
    TENANT,
    VIDEOS,
    exhausted,
    plan_limits,
)
from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import FIRST_PLAN
from backend.tenancy.months import month_of

EXPIRES_AFTER = timedelta(days=30)
"""Time after which a reservation is given back that nothing has settled."""
_WHOSE = {PLAN: "your plan", TENANT: "your budget", KEY: "the budget of this API key"}
JOBS = ("question", "search", "video")
"""Source types that count as open jobs."""


class QuotaExceeded(LimitReached):
    """Work that a limit leaves no room for."""


@dataclass(frozen=True, slots=True)
class Hold:
    """What one piece of work may consume. source_type: question, search, upload, piece or video.

    currency: of the charge, that of the prices in force.
    """

    kind: Reserved
    source_type: str
    source_id: UUID
    amount: Decimal
    charge: Decimal = Decimal(0)
    currency: str = LEDGER_CURRENCY


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts by measure. charge: in the tenant's currency; what is booked or held in another one does not count.

    retries: of questions and searches within the last hour.
    """

    charge: Decimal = Decimal(0)
    media_minutes: Decimal = Decimal(0)
    questions: Decimal = Decimal(0)
    open_jobs: Decimal = Decimal(0)
    retries: Decimal = Decimal(0)
    stored_bytes: Decimal = Decimal(0)

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


def reserve(holds: Sequence[Hold], *, api_key_id: UUID | None = None, again: bool = False) -> list[Crossing]:
    """Hold what accepted work may consume, and check every limit that it counts against. again: whether it is a retry.

    Call this last in the transaction that accepts the work. A source that is reserved already keeps its reservation.
    Returns the thresholds to which the limits have come. Raises QuotaExceeded: 402 `budget_exhausted`, 429
    `too_many_open_jobs` and `too_many_retries`; and PlanExhausted (402 `plan_exhausted`).
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
            currency=hold.currency,
            api_key_id=api_key_id,
            expires_at=now + EXPIRES_AFTER,
            again=again,
        )
        for hold in holds
    ]
    Reservation.objects.bulk_create(rows, ignore_conflicts=True)
    added = replace(_added(holds), retries=Decimal(len(holds) if again else 0))
    return _checked(added, api_key_id, now)


def grow(hold: Hold, *, api_key_id: UUID | None = None) -> list[Crossing]:
    """Add to the open reservation of a source, or make it. Raises as reserve(); a Refused must roll back."""
    now = timezone.now()
    # A charge that was held before the currency changed ends: what is booked from now on is in the new one.
    grown = _open(hold.source_id).update(
        amount=F("amount") + hold.amount,
        charge=_if_same(hold, F("charge")) + hold.charge,
        drawn_charge=_if_same(hold, F("drawn_charge")),
        currency=hold.currency,
        expires_at=now + EXPIRES_AFTER,
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
    _open(hold.source_id).update(
        amount=hold.amount,
        charge=hold.charge,
        drawn_charge=_if_same(hold, F("drawn_charge")),
        currency=hold.currency,
    )
    held_charge = held.charge if held.currency == hold.currency else Decimal(0)
    more = replace(
        hold, amount=max(Decimal(0), hold.amount - held.amount), charge=max(Decimal(0), hold.charge - held_charge)
    )
    return _checked(replace(_added([more]), open_jobs=Decimal(0)), held.api_key_id, now)


def transfer(source_id: UUID, *, source_type: str, to: UUID) -> list[Crossing]:
    """Let a source take over the reservation of the source that it was made of. Raises as reserve()."""
    key = key_of(source_id)
    _open(source_id).update(source_type=source_type, source_id=to)
    return _checked(Amounts(open_jobs=Decimal(source_type in JOBS)), key, timezone.now())


def settle(source_ids: Collection[UUID], *, ended: Ended | None = None) -> None:
    """Give back what is left of the reservations of work that is over; what the ledger booked of it stays booked.

    ended: how questions or searches ended.
    """
    if source_ids:
        mine = Reservation.objects.filter(source_id__in=list(source_ids), settled_at=None)
        mine.update(settled_at=timezone.now(), ended=ended or "")


def _open(source_id: UUID) -> QuerySet[Reservation]:
    rows: QuerySet[Reservation] = Reservation.objects.filter(source_id=source_id, settled_at=None)
    return rows


def _if_same(hold: Hold, amount: F) -> Case:
    """Return a charge of an open reservation, zero if it is in another currency than a hold."""
    return Case(When(currency=hold.currency, then=amount), default=Value(Decimal(0)))


def key_of(source_id: UUID) -> UUID | None:
    """Return the API key that work was accepted with, by its latest reservation; None for a person, or without one."""
    latest = Reservation.objects.filter(source_id=source_id).order_by("-id")
    return latest.values_list("api_key_id", flat=True).first()


def limits_on(api_key_id: UUID | None) -> list[Limited]:
    """Return the sets of limits that work of this key counts against; those without a limit are left out.

    A limit of charge in another currency than the tenant's is suspended and left out.
    """
    mine = Q(api_key_id=None) if api_key_id is None else Q(api_key_id=None) | Q(api_key_id=api_key_id)
    own = Budget.objects.filter(mine).order_by(F("api_key_id").asc(nulls_first=True))
    found = [Limited(PLAN, current_tenant_id(), plan_limits()), *limited_by(list(own))]
    return [limited for limited in found if limited.limits]


def suspended(budgets: Iterable[Budget], *, at: datetime | None = None) -> list[Budget]:
    """Return those budgets whose limit of charge is in another currency than the tenant's at a moment, now by default.

    Costs no query if none of them limits the charge.
    """
    charged = [budget for budget in budgets if budget.charge is not None]
    if not charged:
        return []
    currency = currency_at(at or timezone.now())
    return [budget for budget in charged if budget.currency != currency]


def limited_by(budgets: Sequence[Budget]) -> list[Limited]:
    """Return the limits of each of a tenant's own budgets that hold now."""
    without_charge = {budget.id for budget in suspended(budgets)}
    return [_limited_by(budget, charge=budget.id not in without_charge) for budget in budgets]


def _limited_by(budget: Budget, *, charge: bool) -> Limited:
    names = (*((CHARGE,) if charge else ()), MEDIA_MINUTES, OPEN_JOBS, QUESTIONS, RETRIES, STORED_BYTES)
    named = {name: getattr(budget, name) for name in names}
    limits = {name: Decimal(amount) for name, amount in named.items() if amount is not None}
    return Limited(TENANT if budget.api_key_id is None else KEY, budget.id, limits, budget.api_key_id)


_USE = f"""{PLAN_BOOK}
SELECT done.charge, done.media_seconds, done.questions, held.charge, held.media_seconds, held.questions, held.jobs,
    again.retries
FROM (SELECT coalesce(%(currency)s, (SELECT currency FROM plan), '{LEDGER_CURRENCY}') AS currency) present
CROSS JOIN LATERAL (
    SELECT coalesce(sum(greatest(charge - drawn_charge, 0)) FILTER (WHERE currency = present.currency), 0) AS charge,
        coalesce(sum(greatest(amount - drawn_amount, 0)) FILTER (WHERE kind = 'media_seconds'), 0) AS media_seconds,
        coalesce(sum(greatest(amount - drawn_amount, 0)) FILTER (WHERE kind = 'questions'), 0) AS questions,
        count(*) FILTER (WHERE source_type = ANY(%(jobs)s)) AS jobs
    FROM billing_reservation
    WHERE tenant_id = %(tenant)s AND settled_at IS NULL AND expires_at > now()
      AND (%(key)s::uuid IS NULL OR api_key_id = %(key)s)
) held
CROSS JOIN LATERAL (
    SELECT coalesce(sum(charge) FILTER (WHERE currency = present.currency), 0) AS charge,
        coalesce(sum(media_seconds), 0) AS media_seconds, coalesce(sum(questions), 0) AS questions
    FROM billing_quotamonth
    WHERE tenant_id = %(tenant)s AND month = %(month)s AND api_key_id IS NOT DISTINCT FROM %(key)s::uuid
) done
CROSS JOIN LATERAL (
    SELECT count(*) AS retries FROM billing_reservation
    WHERE tenant_id = %(tenant)s AND again AND created_at > %(at)s - interval '1 hour'
      AND (%(key)s::uuid IS NULL OR api_key_id = %(key)s)
) again
"""  # noqa: S608 - constants


def use_of(api_key_id: UUID | None = None, *, at: datetime | None = None, currency: str | None = None) -> Use:
    """Return what this month's ledger and the open work consume: of the tenant, or of one key.

    currency: of the charges that count, the tenant's by default.

    In one statement, because the end of work moves amounts from one to the other. What this transaction has written to
    the ledger is drawn when it commits; until then its reservation holds it.
    """
    now = at or timezone.now()
    start, _ = month_of(now)
    parameters: dict[str, Any] = {
        "tenant": current_tenant_id(),
        "at": now,
        "first": FIRST_PLAN,
        "currency": currency,
        "month": start.date(),
        "key": api_key_id,
        "jobs": list(JOBS),
    }
    with connection.cursor() as cursor:
        cursor.execute(_USE, parameters)
        charge, media, questions, held_charge, held_media, held_questions, jobs, retries = cursor.fetchone()
    return Use(
        Amounts(charge=charge, media_minutes=media / 60, questions=questions, retries=Decimal(retries)),
        Amounts(held_charge, held_media / 60, held_questions, Decimal(jobs)),
    )


MeasureStorage = Callable[[UUID | None], tuple[int, int]]
"""Returns the bytes of a tenant's recordings, and those that open uploads announced; of one key, if it is given."""
_measures: dict[str, MeasureStorage] = {}


def register_storage(measure: MeasureStorage) -> None:
    """Set how stored bytes are measured. The app of the recordings calls this once."""
    _measures[STORED_BYTES] = measure


def whole_use_of(api_key_id: UUID | None = None, *, at: datetime | None = None, currency: str | None = None) -> Use:
    """Return what use_of() returns, with the bytes that are stored and announced."""
    use = use_of(api_key_id, at=at, currency=currency)
    stored, announced = _measures[STORED_BYTES](api_key_id)
    return Use(
        replace(use.booked, stored_bytes=Decimal(stored)),
        replace(use.held, stored_bytes=Decimal(announced)),
    )


def check_storage(added_bytes: int, *, api_key_id: UUID | None) -> list[Crossing]:
    """Check the limits of stored bytes; the caller holds other reservations of storage back.

    Returns the thresholds to which the limits have come. Raises QuotaExceeded (402 `storage_quota_exceeded`).
    """
    now, crossings = timezone.now(), []
    for limited in limits_on(api_key_id):
        if STORED_BYTES not in limited.limits:
            continue
        stored, announced = _measures[STORED_BYTES](limited.api_key_id)
        total = Decimal(stored + announced)
        if total + added_bytes > limited.limits[STORED_BYTES]:
            refused = QuotaExceeded(
                "storage_quota_exceeded",
                f"{added_bytes} bytes do not fit: {stored} of {plain(limited.limits[STORED_BYTES])} bytes of "
                f"{_WHOSE[limited.scope]} are stored and {announced} are reserved by open uploads. Delete videos, or "
                "abort uploads.",
                status=402,
            )
            refused.crossing = refused_work(limited, STORED_BYTES, total, at=now)
            raise refused
        crossings += thresholds_reached(limited, STORED_BYTES, total + added_bytes, at=now)
    return crossings


def check_videos(count: int) -> list[Crossing]:
    """Check the plan's limit of videos for one more; the caller holds other videos of the tenant back.

    count: videos that the tenant has. Returns the thresholds to which the limit has come. Raises QuotaExceeded (402
    `video_quota_exceeded`).
    """
    now, limited = timezone.now(), Limited(PLAN, current_tenant_id(), plan_limits())
    if VIDEOS not in limited.limits:
        return []
    if count + 1 > limited.limits[VIDEOS]:
        refused = QuotaExceeded(
            "video_quota_exceeded",
            f"Your plan has room for {plain(limited.limits[VIDEOS])} videos, and you have {count}. Delete videos, or "
            "change the plan.",
            status=402,
        )
        refused.crossing = refused_work(limited, VIDEOS, Decimal(count), at=now)
        raise refused
    return thresholds_reached(limited, VIDEOS, Decimal(count + 1), at=now)


def _checked(added: Amounts, api_key_id: UUID | None, now: datetime) -> list[Crossing]:
    limiting = [limited for limited in limits_on(api_key_id) if any(added.of(name) for name in _names(limited))]
    if not limiting:
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"quota:{current_tenant_id()}"])
    crossings = []
    for limited in limiting:
        use = use_of(limited.api_key_id, at=now)
        for name in _names(limited):
            limit, total = limited.limits[name], use.total(name)
            if not added.of(name):
                continue
            if total > limit:
                raise refusal(limited, name, total - added.of(name), now)
            crossings += _reached(limited, name, total, now)
    return crossings


def reached() -> list[Crossing]:
    """Return the thresholds to which the limits of the tenant and its keys have come, whatever used them.

    Without open jobs, which only a reservation adds to.
    """
    now = timezone.now()
    own = list(Budget.objects.order_by(F("api_key_id").asc(nulls_first=True)))
    crossings: list[Crossing] = []
    for limited in (Limited(PLAN, current_tenant_id(), plan_limits()), *limited_by(own)):
        names = [name for name in (CHARGE, MEDIA_MINUTES, QUESTIONS, STORED_BYTES) if name in limited.limits]
        if names:
            use = whole_use_of(limited.api_key_id, at=now)
            for name in names:
                crossings += thresholds_reached(limited, name, use.total(name), at=now)
    return crossings


def _reached(limited: Limited, name: str, total: Decimal, at: datetime) -> list[Crossing]:
    # Half of the jobs that may be open at once is no news; that no more may be opened is. Retries are no news.
    if name == RETRIES:
        return []
    return thresholds_reached(limited, name, total, at=at, percentages=(100,) if name == OPEN_JOBS else THRESHOLDS)


def _names(limited: Limited) -> list[str]:
    return [name for name in (CHARGE, MEDIA_MINUTES, QUESTIONS, OPEN_JOBS, RETRIES) if name in limited.limits]


def _added(holds: Sequence[Hold]) -> Amounts:
    def sum_of(kind: Reserved) -> Decimal:
        return sum((hold.amount for hold in holds if hold.kind == kind), Decimal(0))

    return Amounts(
        charge=sum((hold.charge for hold in holds), Decimal(0)),
        media_minutes=sum_of(Reserved.MEDIA_SECONDS) / 60,
        questions=sum_of(Reserved.QUESTIONS),
        open_jobs=Decimal(sum(hold.source_type in JOBS for hold in holds)),
    )


def refusal(limited: Limited, name: str, used: Decimal, at: datetime) -> LimitReached:
    """Return the refusal of work that passes a limit. used: without the work."""
    refused = _refusal(limited, name, month_of(at)[1])
    if name != RETRIES:
        refused.crossing = refused_work(limited, name, used, at=at)
    return refused


def _refusal(limited: Limited, name: str, end: datetime) -> LimitReached:
    amount = f"{name} limit of {plain(limited.limits[name])}"
    whose = _WHOSE[limited.scope]
    if name == OPEN_JOBS:
        detail = f"The {amount} of {whose} is reached. Wait until open work ends, or cancel some of it."
        return QuotaExceeded("too_many_open_jobs", detail, status=429)
    if name == RETRIES:
        detail = f"The {amount} an hour of {whose} is reached. Wait, or ask again as new questions or searches."
        return QuotaExceeded("too_many_retries", detail, status=429)
    if limited.scope == PLAN:
        return exhausted(amount, end)
    detail = f"The {amount} a month of {whose} leaves no room for this. Wait until {end:%Y-%m-%d}, or raise the limit."
    return QuotaExceeded("budget_exhausted", detail, status=402)

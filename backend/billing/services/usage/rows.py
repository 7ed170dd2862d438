"""Rows of the usage ledger: how consumption is valued, inserted once and reversed. Rows are only ever added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet, Sum

from backend.billing.charges import Charge
from backend.billing.models import UsageEvent, UsageMeter
from backend.billing.rates import LEDGER_CURRENCY, Cost, Rates, rates_at
from backend.billing.services.usage.once import claim_sources, source_key
from backend.tenancy.context import current_tenant_id


@dataclass(frozen=True, slots=True)
class Attribution:
    """What consumption belongs to. api_key_id, person_id: who began the work. method, effort: of a question."""

    video_id: UUID | None = None
    question_id: UUID | None = None
    api_key_id: UUID | None = None
    person_id: UUID | None = None
    collection_id: UUID | None = None
    method: str = ""
    effort: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One consumed quantity, before it is valued."""

    meter: UsageMeter
    quantity: Decimal
    stage: str = ""
    model: str = ""
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The work that consumed. billable=False needs a reason."""

    type: str
    id: str
    attribution: Attribution = field(default_factory=Attribution)
    billable: bool = True
    reason: str = ""


def row_of(source: Source, line: Line, rates: Rates, occurred_at: datetime) -> UsageEvent:
    """Return the unsaved row of a line, valued by the prices in force. Raises NoRate when a book misses the meter."""
    cost = rates.value("cost", line.meter, line.model, line.quantity)
    price = rates.value("price", line.meter, line.model, line.quantity, line.variant)
    attribution = source.attribution
    return UsageEvent(
        tenant_id=current_tenant_id(),
        meter=line.meter,
        quantity=line.quantity,
        occurred_at=occurred_at,
        source_type=source.type,
        source_id=source.id,
        video_id=attribution.video_id,
        question_id=attribution.question_id,
        api_key_id=attribution.api_key_id,
        person_id=attribution.person_id,
        collection_id=attribution.collection_id,
        method=attribution.method,
        effort=attribution.effort,
        profile=attribution.profile,
        stage=line.stage,
        model=line.model,
        variant=line.variant,
        cost_amount=cost.amount,
        cost_price_id=cost.price_id,
        currency=LEDGER_CURRENCY,
        price_amount=price.amount if source.billable else Decimal(0),
        price_id=price.price_id if source.billable else None,
        price_version=price.version if source.billable else None,
        price_currency=price.currency,
        billable=source.billable,
        reason=source.reason,
    )


def reversal_of(row: UsageEvent, *, source_type: str, source_id: str, reason: str) -> UsageEvent:
    """Return the unsaved row that takes another one back: its negated amounts, at the price that valued it.

    It lies at the time of the row, so that the same terms apply to both: a charge that an allowance or a trial covered
    gives nothing back, and a closed month is rated again.
    """
    same = {name: getattr(row, name) for name in _KEPT}
    return UsageEvent(
        **same,
        quantity=-row.quantity,
        occurred_at=row.occurred_at,
        source_type=source_type,
        source_id=source_id,
        cost_amount=-row.cost_amount,
        price_amount=-row.price_amount,
        reason=reason[:64],
        reverses_id=row.id,
    )


_KEPT = (
    "tenant_id", "meter", "video_id", "question_id", "api_key_id", "person_id", "collection_id", "method", "effort",
    "profile", "stage", "model", "variant", "cost_price_id", "currency", "price_id", "price_version", "price_currency",
    "billable",
)  # fmt: skip


def write(source: Source, lines: Sequence[Line], occurred_at: datetime) -> Cost:
    """Value and insert lines that are not in the ledger yet. Returns the cost of the source's lines in the ledger."""
    rates = rates_at(occurred_at)
    insert_once([row_of(source, line, rates, occurred_at) for line in lines])
    return total_of(source, lines)


def total_of(source: Source, lines: Sequence[Line]) -> Cost:
    """Return the sum of a source's rows of the lines' meters."""
    written = UsageEvent.objects.filter(
        source_type=source.type, source_id=source.id, meter__in={line.meter for line in lines}
    ).aggregate(amount=Sum("cost_amount", default=Decimal(0)), price=Sum("price_amount", default=Decimal(0)))
    return Cost(amount=written["amount"], price=written["price"])


def insert_once(rows: Sequence[UsageEvent]) -> list[UsageEvent]:
    """Insert the rows whose source has not been billed, without those that take back a row which is taken back already.

    Returns the rows that were inserted.
    """
    keys = [source_key(row.meter, row.source_type, row.source_id, row.stage, row.model) for row in rows]
    fresh = claim_sources(keys)
    wanted = [row for key, row in zip(keys, rows, strict=True) if key in fresh]
    turned = {row.reverses_id: source_key("taken_back", str(row.reverses_id)) for row in wanted if row.reverses_id}
    if turned:
        free = claim_sources(turned.values())
        wanted = [row for row in wanted if row.reverses_id is None or turned[row.reverses_id] in free]
    UsageEvent.objects.bulk_create(wanted)
    return wanted


def replace_once(pairs: Sequence[tuple[UsageEvent, UsageEvent]]) -> list[UsageEvent]:
    """Insert pairs of a row that takes another one back, and the row that is booked instead; both, or neither.

    Returns the rows that were booked instead.
    """
    taken_back = {row.reverses_id for row in insert_once([turned for turned, _ in pairs])}
    return insert_once([again for turned, again in pairs if turned.reverses_id in taken_back])


def standing(rows: QuerySet[UsageEvent]) -> QuerySet[UsageEvent]:
    """Return those of the rows that charge: they take nothing back, and no row takes them back."""
    taken_back = UsageEvent.objects.filter(reverses_id=OuterRef("id"))
    return rows.filter(~Exists(taken_back), reverses_id=None)


def charged_again(turned: UsageEvent, *, source_type: str, source_id: str, reason: str) -> UsageEvent:
    """Return the unsaved row that charges again what a row took back, at the same price.

    It is a charge of its own, which can be rated again, corrected and credited.
    """
    again = reversal_of(turned, source_type=source_type, source_id=source_id, reason=reason)
    again.reverses_id = None
    return again


def charge_of(row: UsageEvent) -> Charge:
    """Return what a row charges."""
    return Charge(row.price_amount, row.price_currency, row.price_version)

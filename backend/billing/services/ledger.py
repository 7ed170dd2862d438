"""Writes of the usage ledger.

Every function runs in the caller's transaction, so that usage is committed together with the work it bills, and names
the work rather than the attempt, so that work done twice is billed once. Rows are only ever added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Sum
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.models import (
    QUESTION,
    QUESTION_REVERSAL,
    SEGMENT,
    WASTED,
    ModelCall,
    UsageEvent,
    UsageMeter,
)
from backend.billing.rates import LEDGER_CURRENCY, Cost, Rates, quantity, rates_at
from backend.billing.services.once import claim_sources, source_key
from backend.tenancy.context import current_tenant_id

if TYPE_CHECKING:
    from gpu_workers.engine.models import roles


@dataclass(frozen=True, slots=True)
class Line:
    """One consumed quantity, before it is valued."""

    meter: UsageMeter
    quantity: Decimal
    stage: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class _Source:
    """The work that consumed, and what it is attributed to."""

    type: str
    id: str
    video_id: UUID | None = None
    question_id: UUID | None = None
    api_key_id: UUID | None = None
    billable: bool = True
    reason: str = ""


def record_model_calls(
    *,
    source_type: str,
    source_id: UUID,
    calls: Sequence[roles.ModelCall],
    video_id: UUID | None = None,
    question_id: UUID | None = None,
    api_key_id: UUID | None = None,
    billable: bool = True,
    reason: str = "",
    occurred_at: datetime | None = None,
) -> Cost:
    """Write the model calls of one piece of work and their usage, per meter, stage and model.

    source_type, source_id: the work, such as ("segment", segment.id) or ("question", question.id). The first recording
    of a source stands: a second recording writes nothing and returns the recorded cost. billable=False with a reason
    is for work that was thrown away: it has a cost and no price. Raises NoRate when the price books miss a meter.
    """
    if not calls:
        return Cost()
    source = _Source(source_type, str(source_id), video_id, question_id, api_key_id, billable, reason)
    tenant_id = current_tenant_id()
    rows = [
        ModelCall(
            tenant_id=tenant_id,
            source_type=source_type,
            source_id=source_id,
            ordinal=ordinal,
            stage=call.stage,
            model=call.model,
            wall_ms=call.wall_ms,
            device_ms=call.billed_ms,
            prompt_tokens=call.prompt_tokens,
            cached_tokens=call.cached_tokens,
            completion_tokens=call.completion_tokens,
            items=call.items,
            ok=call.ok,
        )
        for ordinal, call in enumerate(calls)
    ]
    # The source decides who records it: a concurrent recording waits here for the other to commit.
    if not claim_sources([source_key("model_calls", source_type, str(source_id))]):
        return recorded_cost(source_type=source_type, source_id=source_id)
    ModelCall.objects.bulk_create(rows)
    return _write(source, lines_of(calls), occurred_at or timezone.now())


def record_wasted_calls(
    *, calls: Sequence[roles.ModelCall], reason: str, question_id: UUID | None = None, video_id: UUID | None = None
) -> Cost:
    """Record the consumption of an attempt whose work was thrown away: a cost that nobody is billed for.

    Every attempt is a source of its own, since every attempt consumed.
    """
    return record_model_calls(
        source_type=WASTED,
        source_id=uuid7(),
        calls=calls,
        question_id=question_id,
        video_id=video_id,
        billable=False,
        reason=reason[:64],
    )


def record_media_seconds(
    *, segment_id: UUID, video_id: UUID, seconds: Decimal | int, occurred_at: datetime | None = None
) -> Cost:
    """Bill the described media of one segment, once."""
    line = Line(UsageMeter.MEDIA_SECONDS, quantity(seconds))
    return _write(_Source(SEGMENT, str(segment_id), video_id), [line], occurred_at or timezone.now())


def record_question(
    *, question_id: UUID, api_key_id: UUID | None, round: int = 0, occurred_at: datetime | None = None
) -> Cost:
    """Bill one accepted question, once. reverse_question() reverses the charge if there is no answer.

    round: number of the retry, 0 for the first time. A retry follows a reversal, so one charge stands at most.
    """
    source = _Source(QUESTION, f"{question_id}:{round}" if round else str(question_id), None, question_id, api_key_id)
    return _write(source, [Line(UsageMeter.QUESTIONS, quantity(1))], occurred_at or timezone.now())


def record_questions(*, question_ids: Sequence[UUID], api_key_id: UUID | None) -> None:
    """Bill accepted questions as record_question() does, in a fixed number of statements."""
    now = timezone.now()
    rates, line = rates_at(now), Line(UsageMeter.QUESTIONS, quantity(1))
    rows = [_row(_Source(QUESTION, str(id), None, id, api_key_id), line, rates, now) for id in question_ids]
    insert_once(rows)


def reverse_question(*, question_id: UUID, reason: str) -> Cost:
    """Reverse the charge of a question that failed or was canceled, once: a row with the negated amounts.

    Returns the reversed amounts (negative), zero when nothing was charged.
    """
    reverse_questions(question_ids=[question_id], reason=reason)
    total = UsageEvent.objects.filter(source_type=QUESTION_REVERSAL, question_id=question_id).aggregate(
        amount=Sum("cost_amount", default=Decimal(0)), price=Sum("price_amount", default=Decimal(0))
    )
    return Cost(amount=total["amount"], price=total["price"])


def reverse_questions(*, question_ids: Sequence[UUID], reason: str) -> None:
    """Reverse charges as reverse_question() does, in a fixed number of statements."""
    charges = UsageEvent.objects.filter(meter=UsageMeter.QUESTIONS, source_type=QUESTION, question_id__in=question_ids)
    now = timezone.now()
    insert_once(
        [
            UsageEvent(
                tenant_id=charge.tenant_id,
                meter=UsageMeter.QUESTIONS,
                quantity=-charge.quantity,
                occurred_at=now,
                source_type=QUESTION_REVERSAL,
                source_id=charge.source_id,
                question_id=charge.question_id,
                api_key_id=charge.api_key_id,
                cost_amount=-charge.cost_amount,
                price_amount=-charge.price_amount,
                currency=charge.currency,
                reason=reason,
            )
            for charge in charges
        ]
    )


def api_key_of_question(question_id: UUID) -> UUID | None:
    """Return the API key that a question was charged to."""
    return (
        UsageEvent.objects.filter(meter=UsageMeter.QUESTIONS, source_type=QUESTION, source_id=str(question_id))
        .values_list("api_key_id", flat=True)
        .first()
    )


def recorded_cost(*, source_type: str, source_id: UUID) -> Cost:
    """Return the sum of the ledger's rows of one source."""
    total = UsageEvent.objects.filter(source_type=source_type, source_id=str(source_id)).aggregate(
        amount=Sum("cost_amount", default=Decimal(0)), price=Sum("price_amount", default=Decimal(0))
    )
    return Cost(amount=total["amount"], price=total["price"])


def cost_of_sources(*, source_type: str, source_ids: Sequence[UUID]) -> Decimal:
    """Return the cost of several sources of one type together."""
    rows = UsageEvent.objects.filter(source_type=source_type, source_id__in=[str(id) for id in source_ids])
    total: Decimal = rows.aggregate(amount=Sum("cost_amount", default=Decimal(0)))["amount"]
    return total


def lines_of(calls: Iterable[roles.ModelCall]) -> list[Line]:
    """Return tokens and device time per stage and model. Cached prompt tokens are counted apart from fresh tokens."""
    totals: dict[tuple[str, str], dict[UsageMeter, int]] = defaultdict(lambda: defaultdict(int))
    for call in calls:
        total = totals[call.stage, call.model]
        # A server may report more cached than prompt tokens when it rounds up to cache blocks.
        cached = min(call.cached_tokens, call.prompt_tokens)
        total[UsageMeter.INPUT_TOKENS] += call.prompt_tokens - cached
        total[UsageMeter.CACHED_TOKENS] += cached
        total[UsageMeter.OUTPUT_TOKENS] += call.completion_tokens
        total[UsageMeter.DEVICE_SECONDS] += call.billed_ms
    lines = []
    for (stage, model), amounts in totals.items():
        for meter, amount in amounts.items():
            units = Decimal(amount) / 1000 if meter == UsageMeter.DEVICE_SECONDS else Decimal(amount)
            if units:
                lines.append(Line(meter, quantity(units), stage, model))
    return lines


def _write(source: _Source, lines: Sequence[Line], occurred_at: datetime) -> Cost:
    """Value and insert lines that are not in the ledger yet. Returns the cost of the source's lines in the ledger."""
    rates = rates_at(occurred_at)
    rows = [_row(source, line, rates, occurred_at) for line in lines]
    insert_once(rows)
    written = UsageEvent.objects.filter(
        source_type=source.type, source_id=source.id, meter__in={line.meter for line in lines}
    ).aggregate(amount=Sum("cost_amount", default=Decimal(0)), price=Sum("price_amount", default=Decimal(0)))
    return Cost(amount=written["amount"], price=written["price"])


def insert_once(rows: Sequence[UsageEvent]) -> None:
    """Insert the rows whose source has not been billed."""
    keys = [source_key(row.meter, row.source_type, row.source_id, row.stage, row.model) for row in rows]
    fresh = claim_sources(keys)
    UsageEvent.objects.bulk_create([row for key, row in zip(keys, rows, strict=True) if key in fresh])


def _row(source: _Source, line: Line, rates: Rates, occurred_at: datetime) -> UsageEvent:
    price = rates.value("price", line.meter, line.model, line.quantity).amount if source.billable else Decimal(0)
    return UsageEvent(
        tenant_id=current_tenant_id(),
        meter=line.meter,
        quantity=line.quantity,
        occurred_at=occurred_at,
        source_type=source.type,
        source_id=source.id,
        video_id=source.video_id,
        question_id=source.question_id,
        api_key_id=source.api_key_id,
        stage=line.stage,
        model=line.model,
        cost_amount=rates.value("cost", line.meter, line.model, line.quantity).amount,
        price_amount=price,
        currency=LEDGER_CURRENCY,
        billable=source.billable,
        reason=source.reason,
    )

"""Writes of the usage ledger.

Every function runs in the caller's transaction, so that usage is committed together with the work it bills, and names
the work rather than the attempt, so that work done twice is billed once. Rows are only ever added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Sum
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.charges import Charge, media_variant, question_variant
from backend.billing.models import (
    COMPARISON,
    FAILED_CALLS,
    QUESTION,
    QUESTION_REVERSAL,
    SEARCH,
    SEGMENT,
    WASTED,
    ModelCall,
    UsageEvent,
    UsageMeter,
)
from backend.billing.rates import Cost, Rates, quantity, rates_at
from backend.billing.services.usage.once import claim_sources, source_key
from backend.billing.services.usage.rows import (
    Attribution,
    Line,
    Source,
    charge_of,
    insert_once,
    reversal_of,
    row_of,
    standing,
    write,
)
from backend.tenancy.callers import current_caller
from backend.tenancy.context import current_tenant_id

if TYPE_CHECKING:
    from gpu_workers.engine.models import roles


def record_model_calls(
    *,
    source_type: str,
    source_id: UUID,
    calls: Sequence[roles.ModelCall],
    video_id: UUID | None = None,
    question_id: UUID | None = None,
    api_key_id: UUID | None = None,
    attribution: Attribution | None = None,
    billable: bool = True,
    reason: str = "",
    occurred_at: datetime | None = None,
) -> Cost:
    """Write the model calls of one piece of work and their usage, per meter, stage and model.

    source_type, source_id: the work, such as ("segment", segment.id) or ("question", question.id). The first recording
    of a source stands: a second recording writes nothing and returns the recorded cost. attribution: takes the place of
    the three ids where the work has more dimensions. billable=False with a reason
    is for work that was thrown away: it has a cost and no price. Failed calls are ours: their cost is booked apart, as
    FAILED_CALLS, and is no part of the returned cost. Raises NoRate when the price books miss a meter.
    """
    if not calls:
        return Cost()
    belongs = attribution or Attribution(video_id=video_id, question_id=question_id, api_key_id=api_key_id)
    source = Source(source_type, str(source_id), belongs, billable, reason)
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
            device_ms=device_ms(call),
            prompt_tokens=call.prompt_tokens,
            cached_tokens=call.cached_tokens,
            completion_tokens=call.completion_tokens,
            items=call.items,
            ok=call.ok,
            start_ms=call.start_ms,
        )
        for ordinal, call in enumerate(calls)
    ]
    # The source decides who records it: a concurrent recording waits here for the other to commit.
    if not claim_sources([source_key("model_calls", source_type, str(source_id))]):
        return recorded_cost(source_type=source_type, source_id=source_id)
    ModelCall.objects.bulk_create(rows)
    at = occurred_at or timezone.now()
    failed = lines_of(call for call in calls if not call.ok)
    if failed:
        write(Source(FAILED_CALLS, f"{source_type}:{source_id}", belongs, False, "failed_call"), failed, at)
    return write(source, lines_of(call for call in calls if call.ok), at)


def record_wasted_calls(
    *,
    calls: Sequence[roles.ModelCall],
    reason: str,
    question_id: UUID | None = None,
    video_id: UUID | None = None,
    attribution: Attribution | None = None,
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
        attribution=attribution,
        billable=False,
        reason=reason[:64],
    )


def record_media_seconds(
    *,
    segment_id: UUID,
    video_id: UUID,
    seconds: Decimal | int,
    live: bool = False,
    stages: str = "",
    attribution: Attribution | None = None,
    occurred_at: datetime | None = None,
) -> Cost:
    """Bill the described media of one segment, once.

    live: the recording grows while it is indexed; its media is metered as live seconds instead of media seconds.
    stages: FULL or OBSERVER of backend.billing.charges. attribution: profile, collection and caller of the video.
    """
    belongs = replace(attribution or Attribution(), video_id=video_id)
    meter = UsageMeter.LIVE_SECONDS if live else UsageMeter.MEDIA_SECONDS
    line = Line(meter, quantity(seconds), variant=media_variant(belongs.profile, stages))
    return write(Source(SEGMENT, str(segment_id), belongs), [line], occurred_at or timezone.now())


@dataclass(frozen=True, slots=True)
class Asked:
    """An accepted question, as it is charged.

    round: number of the retry, 0 for the first time. free: the reason why the question is not charged, "" if it is.
    """

    question_id: UUID
    method: str = ""
    effort: str = ""
    collection_id: UUID | None = None
    round: int = 0
    free: str = ""


def charge_questions(
    questions: Sequence[Asked], *, api_key_id: UUID | None, person_id: UUID | None = None
) -> list[Charge]:
    """Bill accepted questions, each once, in a fixed number of statements. Returns the charge of each.

    person_id: by default the member whose request this is.
    """
    caller = Attribution(api_key_id=api_key_id, person_id=person_id or current_caller().person_id)
    now = timezone.now()
    rates = rates_at(now)
    rows = [_question_row(asked, caller, now, rates) for asked in questions]
    insert_once(rows)
    return [charge_of(row) for row in rows]


def _question_row(asked: Asked, caller: Attribution, at: datetime, rates: Rates | None = None) -> UsageEvent:
    belongs = replace(
        caller,
        question_id=asked.question_id,
        collection_id=asked.collection_id,
        method=asked.method,
        effort=asked.effort,
    )
    name = f"{asked.question_id}:{asked.round}" if asked.round else str(asked.question_id)
    line = Line(UsageMeter.QUESTIONS, quantity(1), variant=question_variant(asked.method, asked.effort))
    return row_of(Source(QUESTION, name, belongs, not asked.free, asked.free), line, rates or rates_at(at), at)


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
    """Reverse charges as reverse_question() does, in a fixed number of statements.

    What stands is reversed: the first charge, or what it was rated by again or corrected to since. The caller has
    locked the questions.
    """
    charges = standing(UsageEvent.objects.filter(meter=UsageMeter.QUESTIONS, question_id__in=question_ids))
    insert_once(
        [
            reversal_of(charge, source_type=QUESTION_REVERSAL, source_id=charge.source_id, reason=reason)
            for charge in charges
        ]
    )


def attribution_of_question(question_id: UUID) -> Attribution:
    """Return what a question was charged to, for the usage of its answer."""
    charges = UsageEvent.objects.filter(
        meter=UsageMeter.QUESTIONS, source_type=QUESTION, source_id=str(question_id), question_id=question_id
    )
    row = charges.values("api_key_id", "person_id", "collection_id", "method", "effort").first() or {}
    return Attribution(question_id=question_id, **row)


def free_reason_of_question(question_id: UUID) -> str:
    """Return why the first charge of a question is not billed; "" if it is, or if there is none."""
    first = UsageEvent.objects.filter(
        meter=UsageMeter.QUESTIONS, source_type=QUESTION, source_id=str(question_id), billable=False
    )
    return first.values_list("reason", flat=True).first() or ""


def api_key_of_question(question_id: UUID) -> UUID | None:
    """Return the API key that a question was charged to."""
    return attribution_of_question(question_id).api_key_id


def charge_search(*, search_id: UUID, attribution: Attribution) -> Charge:
    """Bill one search that has its results, once."""
    return _charge_one(Source(SEARCH, str(search_id), attribution), UsageMeter.SEARCHES)


def charge_comparison(*, comparison_id: UUID, api_key_id: UUID | None) -> Charge:
    """Bill one comparison that has its outcome, once. Its questions are billed as questions."""
    source = Source(COMPARISON, str(comparison_id), Attribution(api_key_id=api_key_id))
    return _charge_one(source, UsageMeter.COMPARISONS)


def _charge_one(source: Source, meter: UsageMeter) -> Charge:
    now = timezone.now()
    row = row_of(source, Line(meter, quantity(1)), rates_at(now), now)
    insert_once([row])
    return charge_of(row)


def recorded_cost(*, source_type: str, source_id: UUID | str) -> Cost:
    """Return the sum of the ledger's rows of one source."""
    total = UsageEvent.objects.filter(source_type=source_type, source_id=str(source_id)).aggregate(
        amount=Sum("cost_amount", default=Decimal(0)), price=Sum("price_amount", default=Decimal(0))
    )
    return Cost(amount=total["amount"], price=total["price"])


def charge_of_sources(*, source_type: str, source_ids: Sequence[UUID]) -> Decimal:
    """Return what several sources of one type are charged together."""
    rows = UsageEvent.objects.filter(source_type=source_type, source_id__in=[str(id) for id in source_ids])
    total: Decimal = rows.aggregate(amount=Sum("price_amount", default=Decimal(0)))["amount"]
    return total


def device_ms(call: roles.ModelCall) -> Decimal:
    """Return the milliseconds of device time that a call is billed for, to the microsecond."""
    return Decimal(str(round(call.billed_ms, 3)))


def lines_of(calls: Iterable[roles.ModelCall]) -> list[Line]:
    """Return tokens and device time per stage and model. Cached prompt tokens are counted apart from fresh tokens."""
    totals: dict[tuple[str, str], dict[UsageMeter, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for call in calls:
        total = totals[call.stage, call.model]
        # A server may report more cached than prompt tokens when it rounds up to cache blocks.
        cached = min(call.cached_tokens, call.prompt_tokens)
        total[UsageMeter.INPUT_TOKENS] += call.prompt_tokens - cached
        total[UsageMeter.CACHED_TOKENS] += cached
        total[UsageMeter.OUTPUT_TOKENS] += call.completion_tokens
        total[UsageMeter.DEVICE_SECONDS] += device_ms(call) / 1000
    return [
        Line(meter, quantity(units), stage, model)
        for (stage, model), amounts in totals.items()
        for meter, units in amounts.items()
        if units
    ]

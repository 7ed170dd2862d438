"""What has become of the questions of a batch, and the moment when the last of them has its outcome."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, Count, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.utils import timezone

from backend.billing.rates import LEDGER_CURRENCY
from backend.questions.models import OPEN, BatchStatus, Question, QuestionBatch, QuestionStatus
from backend.webhooks import payloads
from backend.webhooks.services import emit

USAGE = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens")


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """Questions of a batch by status and by finish reason, and the sums of what they used and cost us so far."""

    statuses: dict[str, int] = field(default_factory=dict)
    finish_reasons: dict[str, int] = field(default_factory=dict)
    usage: dict[str, int] = field(default_factory=dict)
    cost: Decimal = Decimal(0)
    currency: str = LEDGER_CURRENCY

    @property
    def total(self) -> int:
        return sum(self.statuses.values())


def counts_of(batch_ids: Sequence[UUID]) -> dict[UUID, BatchCounts]:
    """The counts of each batch, in one statement."""
    sums = {name: Sum(Cast(KT(f"usage__{name}"), BigIntegerField())) for name in USAGE}
    rows = (
        Question.objects.filter(batch_id__in=batch_ids)
        .order_by()
        .values("batch_id", "status", "finish_reason")
        .annotate(n=Count("id"), cost=Sum("cost_amount"), **sums)
    )
    grouped: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        grouped[row["batch_id"]].append(row)
    return {id: _add_up(grouped[id]) for id in batch_ids}


def _add_up(rows: Sequence[dict[str, Any]]) -> BatchCounts:
    statuses = dict.fromkeys(QuestionStatus.values, 0)
    reasons: dict[str, int] = defaultdict(int)
    for row in rows:
        statuses[row["status"]] += row["n"]
        if row["finish_reason"]:
            reasons[row["finish_reason"]] += row["n"]
    return BatchCounts(
        statuses=statuses,
        finish_reasons=dict(sorted(reasons.items())),
        usage={name: sum(row[name] or 0 for row in rows) for name in USAGE},
        cost=sum((row["cost"] for row in rows), Decimal(0)),
    )


def settle(batch_id: UUID, *, canceled: bool = False) -> None:
    """End a batch none of whose questions is open any more, and tell customers; else nothing.

    Called in every transaction that gives one of its questions an outcome, after that is written. The lock on the
    batch's row lets only one of them be the last: the next one looks when the outcome before it is committed.
    """
    running = QuestionBatch.objects.select_for_update().filter(id=batch_id, status=BatchStatus.RUNNING)
    batch: QuestionBatch | None = running.first()
    if batch is None or Question.objects.filter(batch_id=batch_id, status__in=OPEN).exists():
        return
    batch.status = BatchStatus.CANCELED if canceled else BatchStatus.COMPLETED
    batch.completed_at = timezone.now()
    batch.save(update_fields=["status", "completed_at"])
    data = payloads.batch_data(batch, counts_of([batch_id])[batch_id])
    emit(type="question_batch.completed", resource_id=batch_id, data=data)

"""Reads of question batches of the entered tenant, and of the outcomes of their questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, Count, Max, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from backend.billing.charges import NOTHING, Charge
from backend.billing.rates import LEDGER_CURRENCY
from backend.questions.cached_tokens import STEP
from backend.questions.models import BatchStatus, Question, QuestionBatch, QuestionStatus

USAGE = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens")


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """Questions of a batch by status and by finish reason, with the sums of their usage and charges so far."""

    statuses: dict[str, int] = field(default_factory=dict)
    finish_reasons: dict[str, int] = field(default_factory=dict)
    usage: dict[str, int] = field(default_factory=dict)
    charge: Charge = NOTHING


@dataclass(frozen=True, slots=True)
class BatchView:
    """A batch with the counts of its questions."""

    batch: QuestionBatch
    counts: BatchCounts

    @property
    def is_running(self) -> bool:
        """Whether a question of the batch is open."""
        return self.batch.status == BatchStatus.RUNNING


def batches(*, status: str = "", external_id: str = "") -> QuerySet[QuestionBatch]:
    """Return the batches of the entered tenant. An empty status or external_id restricts nothing."""
    rows: QuerySet[QuestionBatch] = QuestionBatch.objects.all()
    if status:
        rows = rows.filter(status=status)
    return rows.filter(external_id=external_id) if external_id else rows


def counts_of(batch_ids: Sequence[UUID]) -> dict[UUID, BatchCounts]:
    """Return the counts of each batch, read in one statement."""
    counts = {name: Cast(KT(f"usage__{name}"), BigIntegerField()) for name in USAGE}
    # Whole thousands of each answer; PostgreSQL's division of whole numbers rounds down.
    counts["cached_tokens"] = counts["cached_tokens"] / STEP * STEP
    sums = {name: Sum(count) for name, count in counts.items()}
    rows = (
        Question.objects.filter(batch_id__in=batch_ids)
        .order_by()
        .values("batch_id", "status", "finish_reason")
        .annotate(
            n=Count("id"),
            charge=Sum("charge_amount"),
            currency=Max("charge_currency"),
            version=Max("price_version"),
            **sums,
        )
    )
    grouped: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        grouped[row["batch_id"]].append(row)
    return {id: _add_up(grouped[id]) for id in batch_ids}


def views_of(rows: Sequence[QuestionBatch]) -> list[BatchView]:
    """Return the batches with the counts of their questions, read in one statement."""
    counts = counts_of([row.id for row in rows])
    return [BatchView(row, counts[row.id]) for row in rows]


def view_of(batch: QuestionBatch) -> BatchView:
    """Return one batch with the counts of its questions."""
    return views_of([batch])[0]


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
        charge=Charge(
            sum((row["charge"] for row in rows), Decimal(0)),
            next((row["currency"] for row in rows), LEDGER_CURRENCY),
            max((row["version"] for row in rows if row["version"] is not None), default=None),
        ),
    )

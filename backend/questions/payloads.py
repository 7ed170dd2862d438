"""The `data` of the webhook events about questions, batches and comparisons."""

from __future__ import annotations

from typing import Any

from backend.api import public_ids
from backend.billing.charges import charge_data
from backend.questions.models import Comparison, Question, QuestionBatch
from backend.questions.queries.batches import BatchCounts
from backend.questions.queries.comparisons import ComparisonCounts
from backend.webhooks.payloads import TEXT_LIMIT, error_data, timestamp


def question_data(question: Question) -> dict[str, Any]:
    return {
        "id": public_ids.encode("qst", question.id),
        "object": "question",
        "status": question.status,
        "external_id": question.external_id,
        "answer": question.answer[:TEXT_LIMIT],
        "choice": question.choice,
        "confidence": question.confidence,
        "finish_reason": question.finish_reason,
        "charge": charge_data(question.charge),
        "completed_at": timestamp(question.completed_at),
        "error": error_data(question.error_code, question.error_message),
    }


def batch_data(batch: QuestionBatch, counts: BatchCounts) -> dict[str, Any]:
    return {
        "id": public_ids.encode("bat", batch.id),
        "object": "question_batch",
        "status": batch.status,
        "external_id": batch.external_id,
        "counts": {"total": batch.total, **counts.statuses},
        "finish_reasons": counts.finish_reasons,
        "charge": charge_data(counts.charge),
        "completed_at": timestamp(batch.completed_at),
    }


def comparison_data(comparison: Comparison, counts: ComparisonCounts) -> dict[str, Any]:
    return {
        "id": public_ids.encode("cmp", comparison.id),
        "object": "comparison",
        "status": comparison.status,
        "finish_detail": comparison.finish_detail or None,
        "name": comparison.name,
        "external_id": comparison.external_id,
        "counts": {"total": comparison.total, **counts.statuses, "items_left_out": counts.left_out},
        "charge": charge_data(counts.charge),
        "completed_at": timestamp(comparison.completed_at),
    }

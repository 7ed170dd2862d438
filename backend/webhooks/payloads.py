"""The `data` of each webhook event, as frontend_api_schema/webhooks/ describes it.

Thin on purpose: ids and the outcome, never a transcript or evidence. A receiver fetches what it may see with its key.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from backend.api import public_ids
from backend.billing.rates import plain
from backend.library.models import IndexVersion, Upload, Video
from backend.questions.models import Question, QuestionBatch

if TYPE_CHECKING:
    from backend.questions.queries.batches import BatchCounts

EVENT_TYPES: dict[str, str] = {
    "upload.completed": "All parts of an upload have arrived and its video is queued.",
    "video.ready": "A video is indexed to its end.",
    "video.failed": "A video could not be indexed.",
    "video.reindex_failed": "A new index of a video could not be built; the video answers from the one it has.",
    "question.completed": "A question has its answer.",
    "question.failed": "A question could not be answered.",
    "question_batch.completed": "The last question of a batch has its outcome.",
    "webhook.test": "Sent on request, to one endpoint.",
}
# Keeps every body under the 20 kB of the specification, whatever the script of its words.
TEXT_LIMIT = 3_000


def timestamp(at: datetime | None) -> str | None:
    """RFC 3339 in UTC with milliseconds."""
    return None if at is None else at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def upload_data(upload: Upload, video: Video) -> dict[str, Any]:
    return {
        "id": public_ids.encode("upl", upload.id),
        "object": "upload",
        "status": upload.status,
        "video_id": public_ids.encode("vid", video.id),
        "external_id": upload.external_id,
        "size_bytes": upload.size_bytes,
        "completed_at": timestamp(upload.completed_at),
    }


def video_data(video: Video) -> dict[str, Any]:
    return {
        "id": public_ids.encode("vid", video.id),
        "object": "video",
        "status": video.status,
        "external_id": video.external_id,
        "duration_ms": video.duration_ms,
        "indexed_until_ms": video.indexed_until_ms,
        "ready_at": timestamp(video.ready_at),
        "error": _error(video.error_code, video.error_message),
    }


def reindex_data(video: Video, version: IndexVersion) -> dict[str, Any]:
    return {
        "id": public_ids.encode("vid", video.id),
        "object": "video",
        "status": video.status,
        "external_id": video.external_id,
        "index_version": video.active_index_version,
        "failed_version": version.n,
        "error": _error(version.error_code, version.error_message),
    }


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
        "cost": {"amount": plain(question.cost_amount), "currency": question.cost_currency},
        "completed_at": timestamp(question.completed_at),
        "error": _error(question.error_code, question.error_message),
    }


def batch_data(batch: QuestionBatch, counts: BatchCounts) -> dict[str, Any]:
    return {
        "id": public_ids.encode("bat", batch.id),
        "object": "question_batch",
        "status": batch.status,
        "external_id": batch.external_id,
        "counts": {"total": batch.total, **counts.statuses},
        "finish_reasons": counts.finish_reasons,
        "cost": {"amount": plain(counts.cost), "currency": counts.currency},
        "completed_at": timestamp(batch.completed_at),
    }


def _error(code: str, message: str) -> dict[str, str] | None:
    return {"code": code, "message": message[:500]} if code else None

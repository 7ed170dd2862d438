"""The event types, and the common parts of their `data` (frontend_api_schema/webhooks/).

Each app builds the data of its own events in its payloads module. Data is thin on purpose: ids and the outcome, never a
transcript or evidence. A receiver fetches the rest with its key.
"""

from __future__ import annotations

from datetime import UTC, datetime

EVENT_TYPES: dict[str, str] = {
    "upload.completed": "All parts of an upload have arrived and its video is queued.",
    "video.ready": "A video is indexed to its end.",
    "video.failed": "A video could not be indexed.",
    "video.reindex_failed": "A new index of a video could not be built; the video answers from the one it has.",
    "question.completed": "A question has its answer.",
    "question.failed": "A question could not be answered.",
    "question_batch.completed": "The last question of a batch has its outcome.",
    "comparison.completed": "The last question of a comparison has its outcome, and its grade if a judge grades it.",
    "webhook.test": "Sent on request, to one endpoint.",
}
TEXT_LIMIT = 3_000
"""Maximum length of an answer in an event: keeps every body under the 20 kB of the specification, in any script."""


def timestamp(at: datetime | None) -> str | None:
    """Return at as RFC 3339 in UTC with milliseconds."""
    return None if at is None else at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def error_data(code: str, message: str) -> dict[str, str] | None:
    """Return the `error` of a resource; None if nothing went wrong."""
    return {"code": code, "message": message[:500]} if code else None

"""The event types, and the common parts of their `data` (frontend_api_schema/webhooks/).

Each app builds the data of its own events in its payloads module. Data is thin on purpose: ids and the outcome, never a
transcript or evidence. A receiver fetches the rest with its key.
"""

from __future__ import annotations

from datetime import UTC, datetime

EVENT_TYPES: dict[str, str] = {
    "upload.completed": "All parts of an upload have arrived and its video is queued.",
    "video.indexing": "A version of a video's index is being built.",
    "video.ready": "A video is indexed to its end.",
    "video.failed": "A video could not be indexed.",
    "video.reindex_failed": "A new index of a video could not be built; the video answers from the one it has.",
    "video.deleted": "A video and everything derived from it is deleted.",
    "clip.ready": "A clip is made.",
    "clip.failed": "A clip could not be made.",
    "question.completed": "A question has its answer.",
    "question.failed": "A question could not be answered.",
    "question.canceled": "A question was canceled, or its batch or comparison, or a budget kept it from being begun.",
    "question_batch.completed": "The last question of a batch has its outcome.",
    "comparison.completed": "A comparison is over: each question has its outcome and grade, or it was canceled.",
    "usage.threshold_reached": "The tenant has used 50 or 80 % of a limit.",
    "budget.exceeded": "The tenant has used up a limit, or a limit left no room for work, which was refused.",
    "budget.suspended": "A limit of charge does not hold, because the plan has another currency than the limit.",
    "invoice.finalized": "An invoice or a credit note has its number and is not changed any more.",
    "invoice.paid": "An invoice is paid, by a payment, by credit or by credit notes.",
    "invoice.voided": "An invoice is void and claims nothing.",
    "invoice.overdue": "An invoice was not paid in time; sent on the due date, and 7 and 14 days later.",
    "webhook_endpoint.disabled": "The service has disabled a webhook endpoint; sent to the other endpoints.",
    "webhook.test": "Sent on request, to one endpoint.",
}
TEXT_LIMIT = 3_000
"""Maximum length of an answer in an event: keeps every body under the 20 kB of the specification, in any script."""

WITHOUT_ANSWER: dict[str, object] = {"answer": "", "choice": None}
"""What a caller who may not read questions sees in place of the answer in the data of an event."""


def body_for(event_body: str, *, endpoint_sequence: int) -> str:
    """Return the body that one endpoint gets: the event's, followed by the order number of the delivery.

    The result depends on nothing else, so every attempt sends and every receiver verifies the same bytes.
    """
    return f'{event_body.removesuffix("}")},"endpoint_sequence":{endpoint_sequence}}}'


def timestamp(at: datetime | None) -> str | None:
    """Return at as RFC 3339 in UTC, as the API writes it."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def error_data(code: str, message: str) -> dict[str, str] | None:
    """Return the `error` of a resource; None if nothing went wrong."""
    return {"code": code, "message": message[:500]} if code else None

from typing import Literal

ListWebhookEventsType = Literal[
    "budget.exceeded",
    "budget.suspended",
    "clip.failed",
    "clip.ready",
    "comparison.completed",
    "invoice.finalized",
    "invoice.overdue",
    "invoice.paid",
    "invoice.voided",
    "question.canceled",
    "question.completed",
    "question.failed",
    "question_batch.completed",
    "upload.completed",
    "usage.threshold_reached",
    "video.deleted",
    "video.failed",
    "video.indexing",
    "video.ready",
    "video.reindex_failed",
    "webhook.test",
    "webhook_endpoint.disabled",
]

LIST_WEBHOOK_EVENTS_TYPE_VALUES: set[ListWebhookEventsType] = {
    "budget.exceeded",
    "budget.suspended",
    "clip.failed",
    "clip.ready",
    "comparison.completed",
    "invoice.finalized",
    "invoice.overdue",
    "invoice.paid",
    "invoice.voided",
    "question.canceled",
    "question.completed",
    "question.failed",
    "question_batch.completed",
    "upload.completed",
    "usage.threshold_reached",
    "video.deleted",
    "video.failed",
    "video.indexing",
    "video.ready",
    "video.reindex_failed",
    "webhook.test",
    "webhook_endpoint.disabled",
}


def check_list_webhook_events_type(value: str) -> ListWebhookEventsType:
    if value in LIST_WEBHOOK_EVENTS_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_WEBHOOK_EVENTS_TYPE_VALUES!r}")

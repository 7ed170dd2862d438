from typing import Literal

ListWebhookDeliveriesEventType = Literal[
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

LIST_WEBHOOK_DELIVERIES_EVENT_TYPE_VALUES: set[ListWebhookDeliveriesEventType] = {
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


def check_list_webhook_deliveries_event_type(value: str) -> ListWebhookDeliveriesEventType:
    if value in LIST_WEBHOOK_DELIVERIES_EVENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_WEBHOOK_DELIVERIES_EVENT_TYPE_VALUES!r}")

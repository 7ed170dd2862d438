from typing import Literal

ListWebhookEventsSort = Literal["-created_at", "created_at"]

LIST_WEBHOOK_EVENTS_SORT_VALUES: set[ListWebhookEventsSort] = {
    "-created_at",
    "created_at",
}


def check_list_webhook_events_sort(value: str) -> ListWebhookEventsSort:
    if value in LIST_WEBHOOK_EVENTS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_WEBHOOK_EVENTS_SORT_VALUES!r}")

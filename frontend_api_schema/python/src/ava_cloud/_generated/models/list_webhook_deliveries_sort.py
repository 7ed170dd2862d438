from typing import Literal

ListWebhookDeliveriesSort = Literal["-created_at", "created_at"]

LIST_WEBHOOK_DELIVERIES_SORT_VALUES: set[ListWebhookDeliveriesSort] = {
    "-created_at",
    "created_at",
}


def check_list_webhook_deliveries_sort(value: str) -> ListWebhookDeliveriesSort:
    if value in LIST_WEBHOOK_DELIVERIES_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_WEBHOOK_DELIVERIES_SORT_VALUES!r}")

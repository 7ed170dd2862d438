from typing import Literal

ListWebhookEndpointsSort = Literal["-created_at", "created_at"]

LIST_WEBHOOK_ENDPOINTS_SORT_VALUES: set[ListWebhookEndpointsSort] = {
    "-created_at",
    "created_at",
}


def check_list_webhook_endpoints_sort(value: str) -> ListWebhookEndpointsSort:
    if value in LIST_WEBHOOK_ENDPOINTS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_WEBHOOK_ENDPOINTS_SORT_VALUES!r}")

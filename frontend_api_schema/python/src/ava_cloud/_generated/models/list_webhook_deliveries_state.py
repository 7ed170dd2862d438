from typing import Literal

ListWebhookDeliveriesState = Literal["dead", "pending", "succeeded"]

LIST_WEBHOOK_DELIVERIES_STATE_VALUES: set[ListWebhookDeliveriesState] = {
    "dead",
    "pending",
    "succeeded",
}


def check_list_webhook_deliveries_state(value: str) -> ListWebhookDeliveriesState:
    if value in LIST_WEBHOOK_DELIVERIES_STATE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_WEBHOOK_DELIVERIES_STATE_VALUES!r}")

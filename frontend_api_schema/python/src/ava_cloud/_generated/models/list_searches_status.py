from typing import Literal

ListSearchesStatus = Literal["canceled", "failed", "queued", "running", "succeeded"]

LIST_SEARCHES_STATUS_VALUES: set[ListSearchesStatus] = {
    "canceled",
    "failed",
    "queued",
    "running",
    "succeeded",
}


def check_list_searches_status(value: str) -> ListSearchesStatus:
    if value in LIST_SEARCHES_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SEARCHES_STATUS_VALUES!r}")

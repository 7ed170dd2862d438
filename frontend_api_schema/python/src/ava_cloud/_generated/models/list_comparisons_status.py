from typing import Literal

ListComparisonsStatus = Literal["canceled", "completed", "grading", "running"]

LIST_COMPARISONS_STATUS_VALUES: set[ListComparisonsStatus] = {
    "canceled",
    "completed",
    "grading",
    "running",
}


def check_list_comparisons_status(value: str) -> ListComparisonsStatus:
    if value in LIST_COMPARISONS_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_COMPARISONS_STATUS_VALUES!r}")

from typing import Literal

ListUsageEventsBillable = Literal["false", "true"]

LIST_USAGE_EVENTS_BILLABLE_VALUES: set[ListUsageEventsBillable] = {
    "false",
    "true",
}


def check_list_usage_events_billable(value: str) -> ListUsageEventsBillable:
    if value in LIST_USAGE_EVENTS_BILLABLE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_USAGE_EVENTS_BILLABLE_VALUES!r}")

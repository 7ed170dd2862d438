from typing import Literal

GetUsageBillable = Literal["false", "true"]

GET_USAGE_BILLABLE_VALUES: set[GetUsageBillable] = {
    "false",
    "true",
}


def check_get_usage_billable(value: str) -> GetUsageBillable:
    if value in GET_USAGE_BILLABLE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_USAGE_BILLABLE_VALUES!r}")

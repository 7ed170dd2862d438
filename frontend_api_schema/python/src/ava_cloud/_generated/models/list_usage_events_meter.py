from typing import Literal

ListUsageEventsMeter = Literal[
    "comparisons",
    "device_seconds",
    "egress_gb",
    "input_tokens",
    "live_seconds",
    "media_seconds",
    "output_tokens",
    "questions",
    "searches",
    "storage_gb_hours",
]

LIST_USAGE_EVENTS_METER_VALUES: set[ListUsageEventsMeter] = {
    "comparisons",
    "device_seconds",
    "egress_gb",
    "input_tokens",
    "live_seconds",
    "media_seconds",
    "output_tokens",
    "questions",
    "searches",
    "storage_gb_hours",
}


def check_list_usage_events_meter(value: str) -> ListUsageEventsMeter:
    if value in LIST_USAGE_EVENTS_METER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_USAGE_EVENTS_METER_VALUES!r}")

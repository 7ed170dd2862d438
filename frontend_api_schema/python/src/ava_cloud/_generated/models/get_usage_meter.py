from typing import Literal

GetUsageMeter = Literal[
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

GET_USAGE_METER_VALUES: set[GetUsageMeter] = {
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


def check_get_usage_meter(value: str) -> GetUsageMeter:
    if value in GET_USAGE_METER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_USAGE_METER_VALUES!r}")

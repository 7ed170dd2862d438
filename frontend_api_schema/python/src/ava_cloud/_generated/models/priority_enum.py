from typing import Literal

PriorityEnum = Literal["high", "low", "normal"]

PRIORITY_ENUM_VALUES: set[PriorityEnum] = {
    "high",
    "low",
    "normal",
}


def check_priority_enum(value: str) -> PriorityEnum:
    if value in PRIORITY_ENUM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PRIORITY_ENUM_VALUES!r}")

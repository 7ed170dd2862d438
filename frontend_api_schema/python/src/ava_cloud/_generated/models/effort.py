from typing import Literal

Effort = Literal["high", "low", "medium", "paper"]

EFFORT_VALUES: set[Effort] = {
    "high",
    "low",
    "medium",
    "paper",
}


def check_effort(value: str) -> Effort:
    if value in EFFORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EFFORT_VALUES!r}")

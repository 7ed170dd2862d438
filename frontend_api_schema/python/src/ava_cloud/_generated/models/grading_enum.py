from typing import Literal

GradingEnum = Literal["choice", "exact", "judge"]

GRADING_ENUM_VALUES: set[GradingEnum] = {
    "choice",
    "exact",
    "judge",
}


def check_grading_enum(value: str) -> GradingEnum:
    if value in GRADING_ENUM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GRADING_ENUM_VALUES!r}")

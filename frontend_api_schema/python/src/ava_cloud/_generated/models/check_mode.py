from typing import Literal

CheckMode = Literal["auto", "frames", "inspect", "off"]

CHECK_MODE_VALUES: set[CheckMode] = {
    "auto",
    "frames",
    "inspect",
    "off",
}


def check_check_mode(value: str) -> CheckMode:
    if value in CHECK_MODE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHECK_MODE_VALUES!r}")

from typing import Literal

Profile = Literal["city", "egocentric", "general", "traffic", "wildlife"]

PROFILE_VALUES: set[Profile] = {
    "city",
    "egocentric",
    "general",
    "traffic",
    "wildlife",
}


def check_profile(value: str) -> Profile:
    if value in PROFILE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROFILE_VALUES!r}")

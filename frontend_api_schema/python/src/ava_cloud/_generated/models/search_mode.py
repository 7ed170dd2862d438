from typing import Literal

SearchMode = Literal["hybrid", "objects", "semantic", "words"]

SEARCH_MODE_VALUES: set[SearchMode] = {
    "hybrid",
    "objects",
    "semantic",
    "words",
}


def check_search_mode(value: str) -> SearchMode:
    if value in SEARCH_MODE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SEARCH_MODE_VALUES!r}")

from typing import Literal

GetTimelineInclude = Literal["summaries"]

GET_TIMELINE_INCLUDE_VALUES: set[GetTimelineInclude] = {
    "summaries",
}


def check_get_timeline_include(value: str) -> GetTimelineInclude:
    if value in GET_TIMELINE_INCLUDE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_TIMELINE_INCLUDE_VALUES!r}")

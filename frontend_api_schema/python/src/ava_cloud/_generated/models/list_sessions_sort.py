from typing import Literal

ListSessionsSort = Literal["-created_at", "created_at"]

LIST_SESSIONS_SORT_VALUES: set[ListSessionsSort] = {
    "-created_at",
    "created_at",
}


def check_list_sessions_sort(value: str) -> ListSessionsSort:
    if value in LIST_SESSIONS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SESSIONS_SORT_VALUES!r}")

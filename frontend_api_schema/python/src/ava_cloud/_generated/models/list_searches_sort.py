from typing import Literal

ListSearchesSort = Literal["-created_at", "created_at"]

LIST_SEARCHES_SORT_VALUES: set[ListSearchesSort] = {
    "-created_at",
    "created_at",
}


def check_list_searches_sort(value: str) -> ListSearchesSort:
    if value in LIST_SEARCHES_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SEARCHES_SORT_VALUES!r}")

from typing import Literal

ListSharesSort = Literal["-created_at", "created_at"]

LIST_SHARES_SORT_VALUES: set[ListSharesSort] = {
    "-created_at",
    "created_at",
}


def check_list_shares_sort(value: str) -> ListSharesSort:
    if value in LIST_SHARES_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SHARES_SORT_VALUES!r}")

from typing import Literal

ListComparisonsSort = Literal["-created_at", "created_at"]

LIST_COMPARISONS_SORT_VALUES: set[ListComparisonsSort] = {
    "-created_at",
    "created_at",
}


def check_list_comparisons_sort(value: str) -> ListComparisonsSort:
    if value in LIST_COMPARISONS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_COMPARISONS_SORT_VALUES!r}")

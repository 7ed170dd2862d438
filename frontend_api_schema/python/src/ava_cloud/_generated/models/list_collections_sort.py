from typing import Literal

ListCollectionsSort = Literal["-created_at", "created_at"]

LIST_COLLECTIONS_SORT_VALUES: set[ListCollectionsSort] = {
    "-created_at",
    "created_at",
}


def check_list_collections_sort(value: str) -> ListCollectionsSort:
    if value in LIST_COLLECTIONS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_COLLECTIONS_SORT_VALUES!r}")

from typing import Literal

ListUploadsSort = Literal["-created_at", "created_at"]

LIST_UPLOADS_SORT_VALUES: set[ListUploadsSort] = {
    "-created_at",
    "created_at",
}


def check_list_uploads_sort(value: str) -> ListUploadsSort:
    if value in LIST_UPLOADS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_UPLOADS_SORT_VALUES!r}")

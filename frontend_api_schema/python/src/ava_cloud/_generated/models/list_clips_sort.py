from typing import Literal

ListClipsSort = Literal["-created_at", "created_at"]

LIST_CLIPS_SORT_VALUES: set[ListClipsSort] = {
    "-created_at",
    "created_at",
}


def check_list_clips_sort(value: str) -> ListClipsSort:
    if value in LIST_CLIPS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_CLIPS_SORT_VALUES!r}")

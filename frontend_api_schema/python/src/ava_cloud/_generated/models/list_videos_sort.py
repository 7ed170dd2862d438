from typing import Literal

ListVideosSort = Literal["-created_at", "created_at"]

LIST_VIDEOS_SORT_VALUES: set[ListVideosSort] = {
    "-created_at",
    "created_at",
}


def check_list_videos_sort(value: str) -> ListVideosSort:
    if value in LIST_VIDEOS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_VIDEOS_SORT_VALUES!r}")

from typing import Literal

ListVideosStatus = Literal["deleting", "failed", "indexing", "probing", "queued", "ready"]

LIST_VIDEOS_STATUS_VALUES: set[ListVideosStatus] = {
    "deleting",
    "failed",
    "indexing",
    "probing",
    "queued",
    "ready",
}


def check_list_videos_status(value: str) -> ListVideosStatus:
    if value in LIST_VIDEOS_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_VIDEOS_STATUS_VALUES!r}")

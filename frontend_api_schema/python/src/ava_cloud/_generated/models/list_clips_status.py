from typing import Literal

ListClipsStatus = Literal["failed", "queued", "ready"]

LIST_CLIPS_STATUS_VALUES: set[ListClipsStatus] = {
    "failed",
    "queued",
    "ready",
}


def check_list_clips_status(value: str) -> ListClipsStatus:
    if value in LIST_CLIPS_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_CLIPS_STATUS_VALUES!r}")

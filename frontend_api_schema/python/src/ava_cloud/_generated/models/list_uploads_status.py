from typing import Literal

ListUploadsStatus = Literal["aborted", "completed", "expired", "open"]

LIST_UPLOADS_STATUS_VALUES: set[ListUploadsStatus] = {
    "aborted",
    "completed",
    "expired",
    "open",
}


def check_list_uploads_status(value: str) -> ListUploadsStatus:
    if value in LIST_UPLOADS_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_UPLOADS_STATUS_VALUES!r}")

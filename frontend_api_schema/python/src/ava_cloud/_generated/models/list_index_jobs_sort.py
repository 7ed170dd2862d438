from typing import Literal

ListIndexJobsSort = Literal["-created_at", "created_at"]

LIST_INDEX_JOBS_SORT_VALUES: set[ListIndexJobsSort] = {
    "-created_at",
    "created_at",
}


def check_list_index_jobs_sort(value: str) -> ListIndexJobsSort:
    if value in LIST_INDEX_JOBS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_INDEX_JOBS_SORT_VALUES!r}")

from typing import Literal

ListMembersSort = Literal["-created_at", "created_at"]

LIST_MEMBERS_SORT_VALUES: set[ListMembersSort] = {
    "-created_at",
    "created_at",
}


def check_list_members_sort(value: str) -> ListMembersSort:
    if value in LIST_MEMBERS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_MEMBERS_SORT_VALUES!r}")

from typing import Literal

ListInvitationsSort = Literal["-created_at", "created_at"]

LIST_INVITATIONS_SORT_VALUES: set[ListInvitationsSort] = {
    "-created_at",
    "created_at",
}


def check_list_invitations_sort(value: str) -> ListInvitationsSort:
    if value in LIST_INVITATIONS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_INVITATIONS_SORT_VALUES!r}")

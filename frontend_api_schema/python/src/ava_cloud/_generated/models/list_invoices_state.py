from typing import Literal

ListInvoicesState = Literal["draft", "final", "paid", "void"]

LIST_INVOICES_STATE_VALUES: set[ListInvoicesState] = {
    "draft",
    "final",
    "paid",
    "void",
}


def check_list_invoices_state(value: str) -> ListInvoicesState:
    if value in LIST_INVOICES_STATE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_INVOICES_STATE_VALUES!r}")

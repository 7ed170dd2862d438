from typing import Literal

ListInvoicesKind = Literal["credit_note", "invoice"]

LIST_INVOICES_KIND_VALUES: set[ListInvoicesKind] = {
    "credit_note",
    "invoice",
}


def check_list_invoices_kind(value: str) -> ListInvoicesKind:
    if value in LIST_INVOICES_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_INVOICES_KIND_VALUES!r}")

"""The form that appends a price."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms

from backend.billing.models import Price, PriceBook
from backend.billing.services.prices import NewPrice, PriceRefused, check_price
from backend.console.queries.role import STAFF


class PriceForm(forms.ModelForm):  # type: ignore[type-arg]
    """Checks a new price as append_price() does, so that a refusal is shown in the form."""

    class Meta:
        model = Price
        fields: ClassVar[tuple[str, ...]] = (
            "book", "meter", "model", "variant", "unit_amount", "effective_from", "note",
        )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        books: Any = self.fields["book"]
        books.queryset = PriceBook.objects.using(STAFF).order_by("code")

    def clean(self) -> dict[str, Any]:
        """Return the fields. A price that append_price() would refuse is an error of the form."""
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                check_price(new_price(Price(**cleaned), author="form"), using=STAFF)
            except PriceRefused as refused:
                raise forms.ValidationError(str(refused)) from refused
        return cleaned


def new_price(row: Price, *, author: str) -> NewPrice:
    """Return an entered row as the price that append_price() takes."""
    return NewPrice(
        book_id=row.book_id,
        meter=row.meter,
        unit_amount=row.unit_amount,
        effective_from=row.effective_from,
        author=author,
        model=row.model,
        variant=row.variant,
        note=row.note,
    )

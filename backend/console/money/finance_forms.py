"""The forms that make a coupon and enter machine hours."""

from __future__ import annotations

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from backend.api.form_fields import LineField
from backend.audit.services import SHORTEST_REASON
from backend.billing.currencies import CURRENCIES
from backend.billing.services.machines.machine_hours import COLUMNS, HoursRefused, hours_in_csv

MOST_BYTES = 1_000_000
"""Largest file of machine hours: years of days."""
_CURRENCIES = [("", "None"), *((code, code) for code in CURRENCIES)]


class ReasonedForm(forms.Form):
    """A form that asks for a reason, which the log of the staff and the row keep."""

    reason = LineField(
        min_length=SHORTEST_REASON, max_length=200, widget=UnfoldAdminTextInputWidget(),
        help_text="The log of the staff shows the reason.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The reason comes last.
        self.order_fields([*[name for name in self.fields if name != "reason"], "reason"])


class NewCouponForm(ReasonedForm):
    """A coupon, which is never changed. create_coupon() checks what the fields mean together."""

    code = forms.CharField(
        max_length=32, widget=UnfoldAdminTextInputWidget(), help_text="3 to 32 capital letters, digits and dashes."
    )
    percent = forms.DecimalField(
        required=False, max_digits=7, decimal_places=4, widget=UnfoldAdminDecimalFieldWidget(),
        help_text="Percentage of the usage. Empty for an amount.",
    )  # fmt: skip
    amount = forms.DecimalField(
        required=False, max_digits=20, decimal_places=4, widget=UnfoldAdminDecimalFieldWidget(),
        help_text="Amount a month in the currency. Empty for a percentage.",
    )  # fmt: skip
    currency = forms.ChoiceField(
        required=False, choices=_CURRENCIES, widget=UnfoldAdminSelectWidget(choices=_CURRENCIES),
        help_text="Currency of the amount.",
    )  # fmt: skip
    months = forms.IntegerField(
        initial=1, min_value=1, widget=UnfoldAdminIntegerFieldWidget(),
        help_text="Number of months, from the one in which a tenant gets the coupon.",
    )  # fmt: skip
    redeem_until = forms.DateTimeField(
        required=False, widget=forms.DateTimeInput({"type": "datetime-local"}), label="Can be granted until (UTC)",
        help_text="Empty for no end.",
    )  # fmt: skip


class HoursForm(ReasonedForm):
    """Machine hours as rows or as a file, both CSV. entries: what they say, after the form was found valid."""

    rows = forms.CharField(
        required=False, strip=True, widget=UnfoldAdminTextareaWidget(attrs={"rows": 8}), label="Rows",
        help_text=f"CSV. The first line is {','.join(COLUMNS)}. Hours are those of all machines of the kind together. "
        "A day and machine that are entered again replace the earlier entry.",
    )  # fmt: skip
    file = forms.FileField(
        required=False, label="Or a CSV file", widget=forms.ClearableFileInput({"accept": ".csv,text/csv"})
    )

    def clean(self) -> dict[str, Any]:
        """Return the values with the machine hours as `entries`."""
        values = super().clean() or {}
        if self.errors:
            return values
        file, text = values.get("file"), values.get("rows", "")
        if bool(file) == bool(text):
            raise forms.ValidationError("Enter either rows or a file.")
        if file:
            if file.size > MOST_BYTES:
                raise forms.ValidationError(f"A file has at most {MOST_BYTES} bytes.")
            try:
                text = file.read().decode()
            except UnicodeDecodeError:
                raise forms.ValidationError("The file is no text in UTF-8.") from None
        try:
            entries = hours_in_csv(text)
        except HoursRefused as refused:
            raise forms.ValidationError(str(refused)) from refused
        if not entries:
            raise forms.ValidationError("There is no row below the names of the columns.")
        return {**values, "entries": entries}

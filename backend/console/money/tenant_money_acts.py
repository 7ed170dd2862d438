"""What staff may do to a tenant's money besides its plan and its credit: tax, coupons and the ceiling of its cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminDecimalFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from backend.api.form_fields import LineField
from backend.billing.models import TAX_NOTE_LENGTH, TaxNote
from backend.billing.rates import LEDGER_CURRENCY, plain
from backend.billing.services.accounts import billing_account, set_tax
from backend.billing.services.credit.coupons import redeem_coupon
from backend.billing.services.limits.budgets import limits, set_cost_ceiling
from backend.console.access.viewing import MONEY
from backend.console.acting.act_forms import ActForm
from backend.console.acting.acts import Act, By, Done, record_in_tenant
from backend.console.queries import tenants
from backend.tenancy.models import Tenant

PERCENT = Decimal(100)
OWN_TEXT = "text"
NOTES = (
    ("", "None"),
    (TaxNote.REVERSE_CHARGE, "Reverse charge"),
    (TaxNote.EXEMPT, "Exempt from tax"),
    (OWN_TEXT, "Another text"),
)


class TaxForm(ActForm):
    """The tax on a tenant's invoices, in percent, and what they say about it."""

    percent = forms.DecimalField(
        min_value=0, max_digits=5, decimal_places=3, widget=UnfoldAdminDecimalFieldWidget(), label="Tax in percent",
        help_text="19 for 19 %, 0 for no tax. Up to three decimal places.",
    )  # fmt: skip

    note = forms.ChoiceField(
        required=False, choices=NOTES, widget=UnfoldAdminSelectWidget(), label="Note on the tax",
        help_text="Invoices print it in their language. An invoice without tax to a business in another country of the "
        "EU has to say that it is a reverse charge.",
    )  # fmt: skip
    text = LineField(
        required=False, max_length=TAX_NOTE_LENGTH, widget=UnfoldAdminTextInputWidget(), label="Another text",
        help_text="Printed as it is, for the note of this name.",
    )  # fmt: skip

    def __init__(self, tenant: Tenant | None, data: Mapping[str, Any] | None) -> None:
        super().__init__(tenant, data)
        account = tenants.billing_account(tenant.id) if tenant else None
        self.fields["percent"].initial = plain(account.tax_rate * PERCENT) if account else "0"
        note = account.tax_note if account else ""
        own = note not in ("", *TaxNote.values)
        self.fields["note"].initial, self.fields["text"].initial = (OWN_TEXT, note) if own else (note, "")

    def clean(self) -> dict[str, Any] | None:
        values = super().clean() or {}
        if (values.get("note") == OWN_TEXT) != bool(values.get("text")):
            self.add_error("text", "Enter a text if the note is another text, and only then.")
        return values


class CouponForm(ActForm):
    """The coupon that a tenant gets."""

    code = forms.CharField(
        max_length=32, widget=UnfoldAdminTextInputWidget(), help_text="Its code, as the list of coupons has it."
    )


class CeilingForm(ActForm):
    """The cost that a tenant's questions and searches may cause in a month."""

    max_cost = forms.DecimalField(
        required=False, min_value=0, max_digits=20, decimal_places=6, widget=UnfoldAdminDecimalFieldWidget(),
        label=f"Ceiling in {LEDGER_CURRENCY}",
        help_text="By the book of costs, each calendar month (UTC). Empty for none.",
    )  # fmt: skip

    def __init__(self, tenant: Tenant | None, data: Mapping[str, Any] | None) -> None:
        super().__init__(tenant, data)
        budget = tenants.budget(tenant.id) if tenant else None
        if budget is not None and budget.max_cost is not None:
            self.fields["max_cost"].initial = plain(budget.max_cost)


def _set_tax(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    rate = values["percent"] / PERCENT
    note = values["text"] or values["note"]
    before = set_tax(rate, note)
    details = {"from": plain(before.rate), "to": plain(rate)}
    details |= {"note_from": before.note, "note_to": note} if note != before.note else {}
    record_in_tenant("tenant.tax_rate_set", tenant, by, details)
    said = f" and the note: {note}" if note else ""
    return Done(f"The next invoices of {tenant.name} have {plain(values['percent'])} % of tax{said}.")


def _grant_coupon(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    row = redeem_coupon(code=values["code"], author=by.actor.name, time_zone=billing_account().time_zone)
    record_in_tenant("tenant.coupon_granted", tenant, by, {"coupon": row.coupon_code})
    return Done(f"{tenant.name} has the coupon {row.coupon_code} until {row.end_at:%Y-%m-%d %H:%M} UTC.")


def _set_ceiling(tenant: Tenant, values: Mapping[str, Any], by: By) -> Done:
    before, ceiling = limits().max_cost, values["max_cost"]
    set_cost_ceiling(ceiling)
    record_in_tenant("tenant.cost_ceiling_set", tenant, by, {"from": _limit(before), "to": _limit(ceiling)})
    if ceiling is None:
        return Done(f"{tenant.name} may cause any cost.")
    return Done(f"{tenant.name} may cause {plain(ceiling)} {LEDGER_CURRENCY} of cost a month.")


def _limit(amount: Decimal | None) -> str | None:
    return None if amount is None else plain(amount)


ACTS = (
    Act(
        "tax", "Set tax", _set_tax, MONEY, TaxForm, records=True,
        explains="Invoices that become final from now on have this tax. Those that are final keep theirs.",
    ),
    Act(
        "coupon", "Grant a coupon", _grant_coupon, MONEY, CouponForm, records=True,
        explains="The coupon lowers the invoices of the tenant's current month and those after it, before tax.",
    ),
    Act(
        "ceiling", "Set the ceiling of cost", _set_ceiling, MONEY, CeilingForm, records=True,
        explains="When the month's questions and searches have cost this much, further ones are refused.",
    ),
)  # fmt: skip
"""Acts on the page of a tenant, for those who handle money."""

"""The billing account: whom a tenant's invoices are addressed to, and the clock by which its months end.

backend.webhooks mails the links that confirm an address, and stands above this app, so it registers what names one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from backend.billing.models import TAX_NOTE_LENGTH, BillingAccount, TaxNote
from backend.billing.rates import rates_at
from backend.billing.services.invoicing.billing_lock import lock_billing
from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused

CHANGEABLE = frozenset(
    {
        "legal_name", "address_line_1", "address_line_2", "postal_code", "city", "region", "country", "tax_id", "email",
        "time_zone",
    }
)  # fmt: skip
"""Fields that the tenant itself sets. The operator sets the tax rate, and the plan decides the currency."""
TAX_STEP = Decimal("0.00001")

_name_address: Callable[[str], None] | None = None


def name_address_by(namer: Callable[[str], None]) -> None:
    """Set what names the address of the entered tenant's account, and has its reader confirm it; called once."""
    global _name_address
    _name_address = namer


def billing_account() -> BillingAccount:
    """Return the entered tenant's account; without a row, one in USD and UTC with the tenant's name."""
    account: BillingAccount | None = BillingAccount.objects.first()
    if account is not None:
        return account
    name = Tenant.objects.values_list("name", flat=True).get(id=current_tenant_id())
    return BillingAccount(tenant_id=current_tenant_id(), legal_name=name)


def update_account(values: Mapping[str, str]) -> BillingAccount:
    """Change fields of the entered tenant's account, and make the account if there is none. Returns it.

    values: by field, of CHANGEABLE, already valid. Documents that are final keep what they said of the buyer, and a
    month that was closed keeps its end.
    """
    if set(values) - CHANGEABLE:
        raise ValueError(f"not set by the tenant: {sorted(set(values) - CHANGEABLE)}")
    # A closing reads the account under the same lock, and no two changes make an account each.
    lock_billing()
    account = billing_account()
    for name, value in values.items():
        if name != "email":
            setattr(account, name, value)
    account.save()
    if "email" in values:
        if _name_address is None:
            raise RuntimeError("no app has registered what names an address")
        _name_address(values["email"])
        account.refresh_from_db()
    return account


@dataclass(frozen=True, slots=True)
class Tax:
    """The tax on a tenant's invoices. rate: a fraction. note: a value of TaxNote, another text, or ""."""

    rate: Decimal
    note: str


def set_tax(rate: Decimal, note: str) -> Tax:
    """Set the tax on the entered tenant's invoices. Returns the tax before. rate, note: as in Tax.

    Invoices that are final keep theirs. Raises Refused `invalid_tax_rate` (400) unless 0 <= rate < 1, in steps of
    0.00001, and `invalid_tax_note` (400) for a note that does not fit a line, or that explains why a rate above 0 is 0.
    """
    if not 0 <= rate < 1 or rate != rate.quantize(TAX_STEP):
        raise Refused("invalid_tax_rate", "A tax is at least 0 % and below 100 %, in steps of 0.001 %.", status=400)
    if len(note) > TAX_NOTE_LENGTH or len(note.splitlines()) > 1:
        raise Refused(
            "invalid_tax_note", f"A tax note is one line of at most {TAX_NOTE_LENGTH} characters.", status=400
        )
    if rate > 0 and note in TaxNote.values:
        raise Refused("invalid_tax_note", "Reverse charge and an exempt service have a tax of 0 %.", status=400)
    lock_billing()
    account = billing_account()
    before = Tax(account.tax_rate, account.tax_note)
    account.tax_rate, account.tax_note = rate, note
    account.save()
    return before


def currency_of_prices() -> str:
    """Return the currency in which the tenant's usage is charged now, by its ISO 4217 code."""
    return rates_at(timezone.now(), current_tenant_id()).currency

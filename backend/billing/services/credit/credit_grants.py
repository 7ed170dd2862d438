"""Credit: money granted to a tenant, and the invoices that it pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Sum
from django.utils import timezone

from backend.billing.currencies import CURRENCIES, payable
from backend.billing.models import CreditGrant, CreditUse, Invoice
from backend.billing.services.invoicing.billing_lock import lock_billing
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused


@dataclass(frozen=True, slots=True)
class Credit:
    """A grant and what is left of it."""

    grant: CreditGrant
    used: Decimal

    @property
    def left(self) -> Decimal:
        left: Decimal = self.grant.amount - self.used
        return left


def grant_credit(
    *,
    amount: Decimal,
    currency: str,
    reason: str,
    author: str,
    expires_at: datetime | None = None,
    source: str = "",
) -> CreditGrant:
    """Grant the entered tenant credit. author: who grants it. source: name of a grant that is made once; "" for none.

    Raises Refused `invalid_credit` (400) unless the amount is positive and of the currency's minor unit, the reason and
    the author are given, and the expiry lies ahead.
    """
    if currency not in CURRENCIES:
        raise _refused(f"Nothing is billed in {currency}.")
    if amount <= 0 or payable(amount, currency) != amount:
        raise _refused(f"The amount must be positive and have at most {CURRENCIES[currency]} decimal places.")
    if not reason.strip() or not author.strip():
        raise _refused("A credit names its reason and the person who grants it.")
    if expires_at is not None and expires_at <= timezone.now():
        raise _refused("The credit must expire in the future.")
    grant: CreditGrant = CreditGrant.objects.create(
        tenant_id=current_tenant_id(),
        amount=amount,
        currency=currency,
        reason=reason,
        author=author,
        expires_at=expires_at,
        source=source,
    )
    return grant


def credits(grants: Sequence[CreditGrant]) -> list[Credit]:
    """Return grants with what is used of them, in the same order."""
    uses = CreditUse.objects.filter(grant_id__in=[grant.id for grant in grants])
    used = {row["grant_id"]: row["sum"] for row in uses.values("grant_id").annotate(sum=Sum("amount"))}
    return [Credit(grant, used.get(grant.id, Decimal(0))) for grant in grants]


def pay_by_credit(invoice: Invoice, *, at: datetime) -> Decimal:
    """Use credit for an invoice's total, the oldest grant first. Returns the sum of what was used.

    Grants in another currency, and those that expired up to at, are left alone. The caller holds lock_billing().
    """
    grants = CreditGrant.objects.filter(currency=invoice.currency).order_by("granted_at", "id")
    due, uses = invoice.total, []
    for credit in credits([grant for grant in grants if grant.expires_at is None or grant.expires_at > at]):
        amount = min(credit.left, due)
        if amount > 0:
            due -= amount
            uses.append(
                CreditUse(tenant_id=invoice.tenant_id, grant_id=credit.grant.id, invoice_id=invoice.id, amount=amount)
            )
    CreditUse.objects.bulk_create(uses)
    return sum((use.amount for use in uses), Decimal(0))


def give_back_credit(invoice_id: UUID) -> None:
    """Give the credit that an invoice used back to its grants, once."""
    lock_billing()
    uses = CreditUse.objects.filter(invoice_id=invoice_id)
    sums = uses.values("grant_id").annotate(sum=Sum("amount")).filter(sum__gt=0)
    CreditUse.objects.bulk_create(
        [
            CreditUse(
                tenant_id=current_tenant_id(), grant_id=row["grant_id"], invoice_id=invoice_id, amount=-row["sum"]
            )
            for row in sums.order_by("grant_id")
        ]
    )


def _refused(detail: str) -> Refused:
    return Refused("invalid_credit", detail, status=400)

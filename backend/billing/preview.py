"""What new prices would have cost: the usage of a month, as it was booked and as the new prices would have valued it.

The monthly sums of all tenants, by the price that valued them, are read as the console's reading role.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.db import connections

from backend.billing.models import PriceBook
from backend.billing.rates import money, variants_of
from backend.billing.services.prices import NewPrice

CONSOLE = "console"


@dataclass(frozen=True, slots=True)
class Previewed:
    """List prices of one tenant's usage of a month in one currency: as booked, and with the new prices."""

    tenant_id: UUID
    currency: str
    booked: Decimal
    previewed: Decimal

    @property
    def difference(self) -> Decimal:
        return self.previewed - self.booked


_USED = """
SELECT u.tenant_id, u.meter, u.model, u.variant, u.price_currency, p.model, p.variant, p.book_id, b.tenant_id,
    u.quantity, u.price
FROM billing_pricedmonth u JOIN billing_price p ON p.id = u.price_id JOIN billing_pricebook b ON b.id = p.book_id
WHERE u.month = %s
"""


def preview(prices: Sequence[NewPrice], *, month: date, using: str = CONSOLE) -> list[Previewed]:
    """Return what each tenant with usage in a calendar month (UTC) paid and would have paid, by tenant and currency.

    prices: not appended yet. Where several apply to the same usage, the nearest one counts, as in Rates. Amounts are
    list prices, before allowances, tiers and minimums. month: its first day.
    """
    books = {book.id: book for book in PriceBook.objects.using(using).filter(id__in={new.book_id for new in prices})}
    with connections[using].cursor() as cursor:
        cursor.execute(_USED, [month])
        rows = cursor.fetchall()
    totals: dict[tuple[UUID, str], tuple[Decimal, Decimal]] = {}
    for tenant, meter, model, variant, currency, old_model, old_variant, book, owner, quantity, amount in rows:
        best, unit = _nearness(model, variant, old_model, old_variant, own=owner is not None), None
        for new in prices:
            if new.meter != meter or new.model not in (model, "") or new.variant not in variants_of(variant):
                continue
            target = books[new.book_id]
            if new.book_id != book and (target.tenant_id != tenant or target.currency != currency):
                continue
            near = _nearness(model, variant, new.model, new.variant, own=target.tenant_id is not None)
            if near <= best:
                best, unit = near, new.unit_amount
        booked, previewed = totals.get((tenant, currency), (Decimal(0), Decimal(0)))
        worth = amount if unit is None else money(unit * quantity)
        totals[tenant, currency] = booked + amount, previewed + worth
    return [Previewed(*key, *amounts) for key, amounts in sorted(totals.items())]


def _nearness(model: str, variant: str, named_model: str, named_variant: str, *, own: bool) -> tuple[bool, bool, int]:
    """Return how far a price is from usage, lower is nearer: another's book, any model, steps from the variant."""
    return not own, named_model != model, variants_of(variant).index(named_variant)

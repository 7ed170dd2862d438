"""Values of quantities: the prices in force for a tenant at a moment, and the one function that rounds amounts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import product
from uuid import UUID

from django.db import connections

from backend.tenancy.context import entered_tenant_id
from backend.tenancy.models import FIRST_PLAN

LEDGER_CURRENCY = "USD"
"""Currency of costs, and of the prices of a tenant without a plan of its own."""
# The ledger's columns: numeric(20, 10) for money, numeric(24, 6) for quantities.
_MONEY = Decimal(1).scaleb(-10)
_QUANTITY = Decimal(1).scaleb(-6)
COST, PRICE = "cost", "price"
INPUT, CACHED = "input_tokens", "cached_tokens"


@dataclass(frozen=True, slots=True)
class Cost:
    """Value of work. amount: our cost by the cost book. price: the customer's price by the price book."""

    amount: Decimal = Decimal(0)
    price: Decimal = Decimal(0)
    currency: str = LEDGER_CURRENCY


class NoRate(LookupError):
    """No price covers a meter: consumption must never be valued at a silent zero."""


def money(amount: Decimal) -> Decimal:
    """Return an amount in the ledger's resolution, half to even. Money is rounded nowhere else."""
    return amount.quantize(_MONEY, rounding=ROUND_HALF_EVEN)


def plain(amount: Decimal | int) -> str:
    """Return an exact amount as text for the wire, without trailing zeros or an exponent."""
    return f"{Decimal(amount).normalize():f}"


def quantity(amount: Decimal | int) -> Decimal:
    """Return an amount in the ledger's resolution of quantities, half to even."""
    return Decimal(amount).quantize(_QUANTITY, rounding=ROUND_HALF_EVEN)


def variants_of(variant: str) -> tuple[str, ...]:
    """Return the variants by which a price is looked up, the nearest first: "ava:low" -> "ava:low", "ava", ":low", "".

    ":low" is the price of low effort with any method, ":observer" that of the observer's stages with any profile.
    """
    first, colon, second = variant.partition(":")
    return tuple(dict.fromkeys((variant, first, colon + second, "")))


@dataclass(frozen=True, slots=True)
class Rate:
    """One price in force. unit_amount: of one unit, in currency."""

    unit_amount: Decimal
    price_id: UUID | None = None
    version: int = 0
    currency: str = LEDGER_CURRENCY


@dataclass(frozen=True, slots=True)
class Valued:
    """The value of a quantity, with the price that it was found by."""

    amount: Decimal
    price_id: UUID | None
    version: int
    currency: str


Key = tuple[str, str, str, str]
"""(kind, meter, model, variant); "" stands for any model, any variant."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The prices in force at one moment. own: those of the tenant's own book, which go before those of its plan.

    A book may be partial: the search goes on in the plan's book.
    """

    rates: Mapping[Key, Rate]
    own: Mapping[Key, Rate]
    currency: str = LEDGER_CURRENCY

    @classmethod
    def of(cls, amounts: Mapping[tuple[str, str, str], Decimal]) -> Rates:
        """Return rates without a book, by (kind, meter, model)."""
        return cls({(*key, ""): Rate(amount) for key, amount in amounts.items()}, {})

    def rate(self, kind: str, meter: str, model: str, variant: str = "") -> Rate:
        """Return the price that applies: of the model before that of any model, then of the nearest variant.

        A provider's cached tokens cost what its other prompt tokens cost unless they have a cost of their own. Raises
        NoRate if there is no price.
        """
        for book in (self.own, self.rates):
            for name in dict.fromkeys((model, "")):
                same = (meter, INPUT) if name and kind == COST and meter == CACHED else (meter,)
                for priced, near in product(same, variants_of(variant)):
                    found = book.get((kind, priced, name, near))
                    if found is not None:
                        return found
        raise NoRate(f"the {kind} book has no rate for {meter} of {model or 'any model'}")

    def unit(self, kind: str, meter: str, model: str, variant: str = "") -> Decimal:
        """Return the amount of one unit. Raises NoRate."""
        return self.rate(kind, meter, model, variant).unit_amount

    def value(self, kind: str, meter: str, model: str, units: Decimal, variant: str = "") -> Valued:
        """Return the value of units at the price in force, rounded once. Raises NoRate."""
        rate = self.rate(kind, meter, model, variant)
        return Valued(money(rate.unit_amount * units), rate.price_id, rate.version, rate.currency)


# The plan's book: by the subscription in force, before the first one by that one, without any by the first plan.
PLAN_BOOK = """
WITH version AS (
    (SELECT 1 AS rank, s.plan_version_id AS id FROM billing_subscription s
     WHERE s.tenant_id = %(tenant)s AND (s.effective_to IS NULL OR s.effective_to > %(at)s)
     ORDER BY s.effective_from LIMIT 1)
    UNION ALL
    (SELECT 2, v.id FROM billing_planversion v JOIN billing_plan p ON p.id = v.plan_id
     WHERE p.code = %(first)s
     AND v.effective_from <= %(at)s AND (v.effective_to IS NULL OR v.effective_to > %(at)s))
), plan AS (
    SELECT b.id, b.currency FROM billing_planversion v JOIN billing_pricebook b ON b.id = v.price_book_id
    WHERE v.id = (SELECT id FROM version ORDER BY rank LIMIT 1)
)
"""
"""Opens a statement that reads `plan`: the price book of a tenant at a moment. Binds tenant, at and first."""
_IN_FORCE = f"""{PLAN_BOOK}
SELECT b.kind, p.meter, p.model, p.variant, p.unit_amount, p.id, p.version, b.currency, b.tenant_id IS NOT NULL
FROM billing_price p JOIN billing_pricebook b ON b.id = p.book_id
WHERE p.effective_from <= %(at)s AND (p.effective_to IS NULL OR p.effective_to > %(at)s)
AND (b.kind = 'cost' OR b.id = (SELECT id FROM plan)
     OR (b.tenant_id = %(tenant)s AND b.currency = (SELECT currency FROM plan)))
"""  # noqa: S608 - constants of this module


# The moments after a moment at which prices, plan versions or subscriptions of a tenant begin or end.
_BOUNDARIES = """
SELECT DISTINCT moment FROM (
    SELECT effective_from, effective_to FROM billing_price
    UNION ALL SELECT effective_from, effective_to FROM billing_planversion
    UNION ALL SELECT effective_from, effective_to FROM billing_subscription WHERE tenant_id = %(tenant)s
) span CROSS JOIN LATERAL (VALUES (effective_from), (effective_to)) AS bound (moment)
WHERE moment > %(start)s ORDER BY moment
"""


class RatesOverTime:
    """The prices in force for the entered tenant at any moment from a start on.

    They are read once for each stretch of time in which none begins or ends.
    """

    def __init__(self, start: datetime) -> None:
        with connections["default"].cursor() as cursor:
            cursor.execute(_BOUNDARIES, {"tenant": entered_tenant_id(), "start": start})
            self._boundaries: list[datetime] = [moment for (moment,) in cursor.fetchall()]
        self._read: dict[int, Rates] = {}

    def at(self, moment: datetime) -> Rates:
        """Return the prices in force at a moment."""
        stretch = bisect_right(self._boundaries, moment)
        if stretch not in self._read:
            self._read[stretch] = rates_at(moment)
        return self._read[stretch]


def currency_at(at: datetime) -> str:
    """Return the currency in which the entered tenant is charged at a moment."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            f"{PLAN_BOOK} SELECT currency FROM plan",  # noqa: S608 - a constant of this module
            {"tenant": entered_tenant_id(), "at": at, "first": FIRST_PLAN},
        )
        row = cursor.fetchone()
    return LEDGER_CURRENCY if row is None else str(row[0])


def rates_at(at: datetime, tenant_id: UUID | None = None, *, using: str = "default") -> Rates:
    """Return the prices in force at a moment for a tenant: the one given, else the entered one.

    Without either, those of a tenant without a plan of its own.
    """
    with connections[using].cursor() as cursor:
        cursor.execute(_IN_FORCE, {"tenant": tenant_id or entered_tenant_id(), "at": at, "first": FIRST_PLAN})
        rows = cursor.fetchall()
    books: tuple[dict[Key, Rate], dict[Key, Rate]] = ({}, {})
    currency = LEDGER_CURRENCY
    for kind, meter, model, variant, amount, id, version, book_currency, own in rows:
        books[own][kind, meter, model, variant] = Rate(amount, id, version, book_currency)
        if kind == PRICE:
            currency = book_currency
    return Rates(*books, currency)

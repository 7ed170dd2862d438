"""Values of quantities: the price books as of a moment, and the one function that rounds money."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal

from backend.billing.models import PriceBook

LEDGER_CURRENCY = "USD"
# The ledger's columns: numeric(20, 10) for money, numeric(24, 6) for quantities.
_MONEY = Decimal(1).scaleb(-10)
_QUANTITY = Decimal(1).scaleb(-6)


@dataclass(frozen=True, slots=True)
class Cost:
    """Value of work. amount: our cost by the cost book. price: the customer's price by the price book."""

    amount: Decimal = Decimal(0)
    price: Decimal = Decimal(0)
    currency: str = LEDGER_CURRENCY


class NoRate(LookupError):
    """No price book row covers a meter: consumption must never be valued at a silent zero."""


def money(amount: Decimal) -> Decimal:
    """Return an amount in the ledger's resolution, half to even. Money is rounded nowhere else."""
    return amount.quantize(_MONEY, rounding=ROUND_HALF_EVEN)


def plain(amount: Decimal | int) -> str:
    """Return an exact amount as text for the wire, without trailing zeros or an exponent."""
    return f"{Decimal(amount).normalize():f}"


def quantity(amount: Decimal | int) -> Decimal:
    """Return an amount in the ledger's resolution of quantities, half to even."""
    return Decimal(amount).quantize(_QUANTITY, rounding=ROUND_HALF_EVEN)


@dataclass(frozen=True, slots=True)
class Rates:
    """The unit amounts in force at one moment, by (kind, meter, model); model "" stands for any other."""

    amounts: dict[tuple[str, str, str], Decimal]

    def unit(self, kind: str, meter: str, model: str) -> Decimal:
        """Return the model's own rate, else the meter's rate for any model. Raises NoRate if neither exists."""
        for name in (model, ""):
            amount = self.amounts.get((kind, meter, name))
            if amount is not None:
                return amount
        raise NoRate(f"the {kind} book has no rate for {meter} of {model or 'any model'}")

    def value(self, kind: str, meter: str, model: str, units: Decimal) -> Decimal:
        """Return the value of units at the rate in force, rounded once."""
        return money(self.unit(kind, meter, model) * units)


def rates_at(at: datetime) -> Rates:
    """Return the rates in force at a moment: for each (kind, meter, model) the latest row up to that moment."""
    rows = (
        PriceBook.objects.filter(effective_from__lte=at, currency=LEDGER_CURRENCY)
        .order_by("kind", "meter", "model", "-effective_from")
        .distinct("kind", "meter", "model")
    )
    return Rates({(row.kind, row.meter, row.model): row.unit_amount for row in rows})

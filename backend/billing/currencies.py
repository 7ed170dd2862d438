"""The currencies that customers are billed in, and the one rounding of amounts that are paid."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

CURRENCIES: dict[str, int] = {"USD": 2, "EUR": 2, "JPY": 0, "GBP": 2, "CHF": 2, "KWD": 3}
"""Decimal places of the minor unit, by ISO 4217 code."""


class UnknownCurrency(LookupError):
    """A currency that nothing is billed in."""


def minor_unit(currency: str) -> Decimal:
    """Return the smallest amount that can be paid: 0.01 of USD, 1 of JPY. Raises UnknownCurrency."""
    try:
        return Decimal(1).scaleb(-CURRENCIES[currency])
    except KeyError:
        raise UnknownCurrency(f"nothing is billed in {currency!r}") from None


def payable(amount: Decimal, currency: str) -> Decimal:
    """Return an amount in the currency's minor unit, half to even. Raises UnknownCurrency."""
    return amount.quantize(minor_unit(currency), rounding=ROUND_HALF_EVEN)

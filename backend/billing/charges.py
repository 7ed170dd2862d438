"""What customers see of the money: the charge of a piece of work, and what names a price within its meter."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from backend.billing.rates import LEDGER_CURRENCY, plain


@dataclass(frozen=True, slots=True)
class Charge:
    """The list price of a piece of work. price_version: of the price that valued it; None if nothing is charged."""

    amount: Decimal = Decimal(0)
    currency: str = LEDGER_CURRENCY
    price_version: int | None = None


NOTHING = Charge()


def charge_data(charge: Charge) -> dict[str, Any]:
    """Return a charge as webhook events show it."""
    return {"amount": plain(charge.amount), "currency": charge.currency, "price_version": charge.price_version}


def question_variant(method: str, effort: str) -> str:
    """Return the variant under which the price book holds a question's price."""
    return f"{method}:{effort}" if method and effort else method


def media_variant(profile: str, stages: str) -> str:
    """Return the variant under which the price book holds the price of media. stages: FULL or OBSERVER."""
    return f"{profile}:{stages}" if profile and stages else profile


FULL, OBSERVER = "full", "observer"
"""Sets of stages of an index: described by a model, or measured by the observer alone."""
STAGE_SETS = (FULL, OBSERVER)

"""What work is charged by the price book, before it is done."""

from __future__ import annotations

from decimal import Decimal

from backend.billing.charges import FULL, media_variant, question_variant
from backend.billing.models import UsageMeter
from backend.billing.rates import NoRate, Rates


def question_charge(rates: Rates, *, method: str, effort: str) -> Decimal:
    """Return the charge of one answered question. Raises NoRate if the book has none."""
    return rates.value("price", UsageMeter.QUESTIONS, "", Decimal(1), question_variant(method, effort)).amount


def media_charge(rates: Rates, *, seconds: Decimal, profile: str) -> Decimal:
    """Return the charge of indexing so much media. Raises NoRate if the book has none."""
    return rates.value("price", UsageMeter.MEDIA_SECONDS, "", seconds, media_variant(profile, FULL)).amount


def search_charge(rates: Rates) -> Decimal:
    """Return the charge of one search, zero if the book has none: a search is free unless a price says otherwise."""
    try:
        return rates.value("price", UsageMeter.SEARCHES, "", Decimal(1)).amount
    except NoRate:
        return Decimal(0)

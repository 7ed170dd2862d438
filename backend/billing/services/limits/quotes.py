"""What work is charged by the price book, before it is done."""

from __future__ import annotations

from decimal import Decimal

from backend.billing.charges import FULL, STAGE_SETS, media_variant, question_variant
from backend.billing.models import UsageMeter
from backend.billing.rates import NoRate, Rates


def question_charge(rates: Rates, *, method: str, effort: str) -> Decimal:
    """Return the charge of one answered question. Raises NoRate if the book has none."""
    return rates.value("price", UsageMeter.QUESTIONS, "", Decimal(1), question_variant(method, effort)).amount


def media_charge(rates: Rates, *, seconds: Decimal, profile: str, stages: str = FULL, live: bool = False) -> Decimal:
    """Return the charge of indexing so much media by a set of stages. Raises NoRate if the book has none."""
    meter = UsageMeter.LIVE_SECONDS if live else UsageMeter.MEDIA_SECONDS
    return rates.value("price", meter, "", seconds, media_variant(profile, stages)).amount


def media_charges(rates: Rates, *, seconds: Decimal, profile: str, live: bool = False) -> tuple[Decimal, Decimal]:
    """Return the lowest and the highest charge of so much media: the worker knows the set of stages, and no caller.

    Raises NoRate as media_charge().
    """
    charges = [media_charge(rates, seconds=seconds, profile=profile, stages=one, live=live) for one in STAGE_SETS]
    return min(charges), max(charges)


def search_charge(rates: Rates) -> Decimal:
    """Return the charge of one search, zero if the book has none: a search is free unless a price says otherwise."""
    try:
        return rates.value("price", UsageMeter.SEARCHES, "", Decimal(1)).amount
    except NoRate:
        return Decimal(0)

"""Appends prices to books. A price is never changed: a new version follows it from a moment on.

The rows are written as the console's own role, or as the owner of the tables by a command; no role that serves tenants
may write them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.billing.models import Price, PriceBook

LATEST = timedelta(seconds=60)
"""How long after its effective_from a price may be entered without being back-dated: the time to send a form."""


class PriceRefused(ValueError):
    """A price that may not be appended; the message says why."""


@dataclass(frozen=True, slots=True)
class NewPrice:
    """A price to append. unit_amount: of one unit of the meter, in the book's currency. author: who enters it."""

    book_id: UUID
    meter: str
    unit_amount: Decimal
    effective_from: datetime
    author: str
    model: str = ""
    variant: str = ""
    note: str = ""


def check_price(price: NewPrice, *, using: str, back_dated: bool = False) -> None:
    """Check a price as append_price() does. Raises PriceRefused."""
    _check(price, _latest(price, using), timezone.now(), back_dated)


def append_price(price: NewPrice, *, using: str, back_dated: bool = False) -> Price:
    """Append a price and end the version before it. Returns the row.

    back_dated: the price may take effect in the past, from the begin of the latest version on. The rows of the ledger
    since then keep their amounts until backend.billing.services.rerating books them again. Raises PriceRefused.
    """
    with transaction.atomic(using=using):
        # One price at a time per book, so that versions are counted without gaps.
        PriceBook.objects.using(using).select_for_update().get(id=price.book_id)
        latest, now = _latest(price, using), timezone.now()
        _check(price, latest, now, back_dated)
        start = price.effective_from
        if latest is not None and latest.effective_to is None:
            Price.objects.using(using).filter(id=latest.id).update(effective_to=start)
        return Price.objects.using(using).create(
            book_id=price.book_id,
            meter=price.meter,
            model=price.model,
            variant=price.variant,
            unit_amount=price.unit_amount,
            version=1 if latest is None else latest.version + 1,
            effective_from=start,
            back_dated=start < now - LATEST,
            author=price.author,
            entered_at=now,
            note=price.note,
        )


def append_prices(prices: list[NewPrice], *, using: str) -> list[Price]:
    """Append several prices, all or none. Raises PriceRefused."""
    with transaction.atomic(using=using):
        return [append_price(price, using=using) for price in prices]


def _latest(price: NewPrice, using: str) -> Price | None:
    same = Price.objects.using(using).filter(
        book_id=price.book_id, meter=price.meter, model=price.model, variant=price.variant
    )
    return same.order_by("-version").first()


def _check(price: NewPrice, latest: Price | None, now: datetime, back_dated: bool) -> None:
    if price.unit_amount < 0:
        raise PriceRefused("A price is not negative.")
    if not price.author:
        raise PriceRefused("A price names the person who enters it.")
    if latest is not None and price.effective_from <= latest.effective_from:
        raise PriceRefused(
            f"Version {latest.version} takes effect at {latest.effective_from.isoformat()}. "
            "The next version must take effect after it."
        )
    if latest is not None and latest.effective_to is not None and price.effective_from < latest.effective_to:
        raise PriceRefused(f"Version {latest.version} is in force until {latest.effective_to.isoformat()}.")
    if price.effective_from < now - LATEST and not back_dated:
        raise PriceRefused("A price cannot take effect in the past. The command `prices rerate` rates the past again.")

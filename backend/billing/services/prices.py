"""Makes price books, and appends prices to them. A price is never changed: a new version follows it from a moment on.

The rows are written as the console's own role, or as the owner of the tables by a command; no role that serves tenants
may write them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from backend.billing.currencies import CURRENCIES
from backend.billing.models import BookKind, Price, PriceBook, UsageMeter

LATEST = timedelta(seconds=60)
"""How long after its effective_from a price may be entered without being back-dated: the time to send a form."""

CODE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class PriceRefused(ValueError):
    """A price or a book that may not be appended; the message says why."""


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


def append_book(
    *, code: str, currency: str, note: str, author: str, using: str, tenant_id: UUID | None = None
) -> PriceBook:
    """Make an empty book of prices that customers pay. Returns it. The one book of costs exists from the beginning.

    tenant_id: the tenant that alone has it, in each currency at most one; None for a book that plans can name. using: a
    connection that may write prices. author: who decided it. Raises PriceRefused.
    """
    if not CODE.fullmatch(code):
        raise PriceRefused("A code has 1 to 64 small letters, digits, dashes and underscores.")
    if currency not in CURRENCIES:
        raise PriceRefused(f"Nothing is billed in {currency}. The currencies are {', '.join(CURRENCIES)}.")
    if not author.strip():
        raise PriceRefused("A price book names the person who makes it.")
    try:
        with transaction.atomic(using=using):
            book: PriceBook = PriceBook.objects.using(using).create(
                kind=BookKind.PRICE, code=code, currency=currency, tenant_id=tenant_id, note=note[:200], author=author
            )
    except IntegrityError:
        if PriceBook.objects.using(using).filter(code=code).exists():
            raise PriceRefused(f"There is a price book {code}.") from None
        raise PriceRefused(f"The tenant has a price book in {currency}.") from None
    return book


def unpriced_meters(book_id: UUID, at: datetime, *, using: str) -> list[str]:
    """Return the meters whose usage a book cannot value at a moment: they have no price for any model and variant."""
    prices = Price.objects.using(using).filter(book_id=book_id, model="", variant="", effective_from__lte=at)
    priced = prices.exclude(effective_to__lte=at).values_list("meter", flat=True)
    return sorted(set(UsageMeter.values) - set(priced))


def check_price(price: NewPrice, *, using: str) -> None:
    """Check a price as append_price() does. Raises PriceRefused."""
    _check(price, _latest(price, using), timezone.now(), back_dated=False)


def append_price(price: NewPrice, *, using: str, back_dated: bool = False) -> Price:
    """Append a price and end the version before it. Returns the row.

    back_dated: the price may take effect in the past, from the begin of the latest version on. The rows of the ledger
    since then keep their amounts until backend.billing.services.usage.rerating books them again. Raises PriceRefused.
    """
    with transaction.atomic(using=using):
        # One price at a time per book, so that versions are counted without gaps.
        PriceBook.objects.using(using).select_for_update().get(id=price.book_id)
        latest, now = _latest(price, using), timezone.now()
        _check(price, latest, now, back_dated=back_dated)
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


def _latest(price: NewPrice, using: str) -> Price | None:
    same = Price.objects.using(using).filter(
        book_id=price.book_id, meter=price.meter, model=price.model, variant=price.variant
    )
    return same.order_by("-version").first()


def _check(price: NewPrice, latest: Price | None, now: datetime, *, back_dated: bool) -> None:
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

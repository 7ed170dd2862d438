"""What the commands about money read from their arguments."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal, InvalidOperation

from django.conf import settings
from django.core.management.base import CommandError
from django.utils.dateparse import parse_datetime

from backend.audit.services import SHORTEST_REASON


def writer() -> str:
    """Return the alias that may write prices and coupons: the console's own role, else the owner of the tables."""
    return "staff" if "staff" in settings.DATABASES else "owner"


def reason(text: str) -> str:
    """Return a reason that says something. Raises CommandError."""
    if len(text.strip()) < SHORTEST_REASON:
        raise CommandError(f"State a reason of at least {SHORTEST_REASON} characters.")
    return text.strip()


def number(text: str) -> Decimal:
    """Return a finite number. Raises CommandError."""
    try:
        found = Decimal(text)
    except InvalidOperation:
        found = Decimal("NaN")
    if not found.is_finite():
        raise CommandError(f"{text} is no amount.")
    return found


def moment(text: str) -> datetime:
    """Return a time with its zone. Raises CommandError."""
    try:
        at = parse_datetime(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise CommandError(f"{text} is no ISO 8601 time with a zone.")
    return at

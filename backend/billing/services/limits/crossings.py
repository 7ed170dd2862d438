"""What is reported of a limit: that its use has come to a threshold, or that work was refused because of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from backend.tenancy.months import month_of
from backend.tenancy.refusals import Refused

THRESHOLDS = (50, 80, 100)
"""Percentages of a limit that are reported."""


@dataclass(frozen=True, slots=True)
class Limited:
    """One set of limits and what counts against it. api_key_id: of the key that it limits, None for the tenant."""

    scope: str
    id: UUID
    limits: Mapping[str, Decimal]
    api_key_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Crossing:
    """A limit that its use came to. percent: of THRESHOLDS. used: booked and held. refused: the limit is not used up,
    and leaves no room for a piece of work."""

    limited: Limited
    name: str
    limit: Decimal
    used: Decimal
    percent: int
    start_at: datetime
    end_at: datetime
    refused: bool = False


class LimitReached(Refused):
    """Work that a limit leaves no room for. crossing: reported after the transaction of the work is rolled back."""

    crossing: Crossing | None = None


def thresholds_reached(
    limited: Limited, name: str, used: Decimal, *, at: datetime, percentages: tuple[int, ...] = THRESHOLDS
) -> list[Crossing]:
    """Return the thresholds of a limit to which its use has come, in the month of a moment."""
    limit, (start, end) = limited.limits[name], month_of(at)
    return [
        Crossing(limited, name, limit, used, percent, start, end)
        for percent in percentages
        if used > 0 and used * 100 >= limit * percent
    ]


def refused_work(limited: Limited, name: str, used: Decimal, *, at: datetime) -> Crossing:
    """Return what is reported of a limit that leaves no room for work. used: without the work."""
    limit, (start, end) = limited.limits[name], month_of(at)
    return Crossing(limited, name, limit, used, 100, start, end, refused=used < limit)

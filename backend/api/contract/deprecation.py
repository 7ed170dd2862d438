"""What an operation says before it goes: `Deprecation` (RFC 9745) and `Sunset` (RFC 8594)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.utils.http import http_date

NOTICE = timedelta(days=180)
"""Shortest time from the deprecation of an operation to its end, as docs/api.md promises."""


@dataclass(frozen=True, slots=True)
class Deprecation:
    """since: the day (UTC) from which on an operation should not be used. sunset: the day on which it goes.

    Raises ValueError if customers would have less than NOTICE.
    """

    since: date
    sunset: date

    def __post_init__(self) -> None:
        if self.sunset - self.since < NOTICE:
            raise ValueError(f"an operation goes {NOTICE.days} days after its deprecation at the earliest")

    def headers(self) -> dict[str, str]:
        """Return the headers of each reply of the operation."""
        return {"Deprecation": f"@{_seconds(self.since)}", "Sunset": http_date(_seconds(self.sunset))}


def _seconds(day: date) -> int:
    return int(datetime.combine(day, time(), UTC).timestamp())

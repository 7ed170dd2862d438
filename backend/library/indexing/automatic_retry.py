"""Segments that failed for our reasons are retried by themselves, a few times, after growing pauses.

Nobody else repairs them: the customer did nothing wrong, and an operator does not see every gap.
"""

from __future__ import annotations

from datetime import datetime, timedelta

PAUSES = (timedelta(minutes=15), timedelta(hours=3), timedelta(hours=24))
"""Time from each failure of a segment to its next retry. A segment that fails once more is left to people."""


def next_retry(retries: int, *, now: datetime) -> datetime | None:
    """Return when a segment that fails now is retried; None if it is not. retries: how often it was retried."""
    return now + PAUSES[retries] if retries < len(PAUSES) else None

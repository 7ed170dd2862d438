"""Times of a video for people."""

from __future__ import annotations


def clock(ms: int | None, unknown: str = "") -> str:
    """Return media time as 0:24 or 1:02:03; unknown for None."""
    if ms is None:
        return unknown
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"

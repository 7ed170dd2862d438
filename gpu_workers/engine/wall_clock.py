"""Wall-clock time of a recording: which instant each moment of a video was filmed at, where that is known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from gpu_workers.engine.ekg import Span

ClockSource = Literal["recorded_at", "picture"]
"""Evidence of a stretch: what the customer said about the recording, or the clock that is readable in the picture."""


@dataclass(frozen=True, slots=True)
class ClockStretch:
    """A stretch of video time in which the wall clock runs evenly. begins_at: the instant of span.start_ms, aware."""

    span: Span
    begins_at: datetime
    source: ClockSource = "recorded_at"

    @property
    def ends_at(self) -> datetime:
        return self.begins_at + timedelta(milliseconds=self.span.duration_ms)


@dataclass(frozen=True, slots=True)
class WallClock:
    """Piecewise mapping between video time and wall-clock time.

    stretches: in order of video time, disjoint. Between recordings there may be gaps in either time. zone: IANA name of
    the time zone in which people speak about this recording. dated: False if only the time of day is known, from a
    clock in the picture without a date; days then count from 1 January 1970 and mean nothing. shown: what the clock in
    the picture says where it differs from stretches; () where it does not, or where no clock is readable.
    """

    stretches: tuple[ClockStretch, ...]
    zone: str = "UTC"
    dated: bool = True
    shown: tuple[ClockStretch, ...] = ()

    def at(self, ms: int) -> datetime | None:
        """Return the local time of a moment of the video; None where it is unknown."""
        for stretch in self.stretches:
            if stretch.span.contains(ms):
                instant = stretch.begins_at + timedelta(milliseconds=ms - stretch.span.start_ms)
                return instant.astimezone(ZoneInfo(self.zone))
        return None

    def spans(self, start: datetime, end: datetime) -> tuple[Span, ...]:
        """Return the stretches of video time filmed from start until before end, in order, neighbours joined.

        start, end: aware.
        """
        found: list[Span] = []
        for stretch in self.stretches:
            start_ms = stretch.span.start_ms + max(0, _ms(start - stretch.begins_at))
            end_ms = min(stretch.span.end_ms, stretch.span.start_ms + _ms(end - stretch.begins_at))
            if start_ms >= end_ms:
                continue
            if found and found[-1].end_ms == start_ms:
                start_ms = found.pop().start_ms
            found.append(Span(start_ms, end_ms))
        return tuple(found)


def _ms(duration: timedelta) -> int:
    return round(duration / timedelta(milliseconds=1))

"""Wall-clock time of a recording: which instant each moment of a video was filmed at, where that is known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo

from gpu_workers.engine.ekg import Span

ClockSource = Literal["recorded_at", "picture"]
"""Evidence of a stretch: what the customer said about the recording, or the clock that is readable in the picture."""


@dataclass(frozen=True, slots=True)
class ClockStretch:
    """A stretch of video time in which the wall clock runs evenly. begins_at: the instant of span.start_ms, aware; it
    is kept in UTC, since sums of local times ignore a change to summer time. Raises ValueError if it is naive."""

    span: Span
    begins_at: datetime
    source: ClockSource = "recorded_at"

    def __post_init__(self) -> None:
        if self.begins_at.tzinfo is None:
            raise ValueError("a stretch of a clock begins at an instant, which needs a time zone")
        object.__setattr__(self, "begins_at", self.begins_at.astimezone(UTC))

    @property
    def ends_at(self) -> datetime:
        return self.begins_at + timedelta(milliseconds=self.span.duration_ms)

    def at(self, ms: int) -> datetime:
        """Return the instant of a moment of the video, in UTC."""
        return self.begins_at + timedelta(milliseconds=ms - self.span.start_ms)


@dataclass(frozen=True, slots=True)
class WallClock:
    """Piecewise mapping between video time and wall-clock time.

    stretches: in order of video time, disjoint. Between recordings there may be gaps in either time. zone: IANA name of
    the time zone in which people speak about this recording; "" if it is unknown, as with a clock in the picture alone:
    then only the local time is known, and it is kept as if it were UTC. dated: False if only the time of day is known,
    from a clock in the picture without a date; days then count from 1 January 1970 and mean nothing. shown: what the
    clock in the picture says if it contradicts stretches; () if it does not, or if no clock is readable.
    """

    stretches: tuple[ClockStretch, ...]
    zone: str = "UTC"
    dated: bool = True
    shown: tuple[ClockStretch, ...] = ()

    @property
    def tzinfo(self) -> tzinfo:
        return ZoneInfo(self.zone) if self.zone else UTC

    @property
    def absolute(self) -> bool:
        """Whether the instants are known, and not only what a clock on site showed."""
        return self.dated and bool(self.zone)

    def at(self, ms: int) -> datetime | None:
        """Return the local time of a moment of the video; None where it is unknown."""
        for stretch in self.stretches:
            if stretch.span.contains(ms):
                return stretch.at(ms).astimezone(self.tzinfo)
        return None

    def until(self, ms: int) -> datetime | None:
        """Return the local time at which a span that ends at ms ends: that of the stretch before ms."""
        for stretch in self.stretches:
            if stretch.span.start_ms < ms <= stretch.span.end_ms:
                return stretch.at(ms).astimezone(self.tzinfo)
        return None

    def spans(self, start: datetime, end: datetime) -> tuple[Span, ...]:
        """Return the stretches of video time filmed from start until before end, in order, neighbours joined.

        start, end: aware.
        """
        start, end = start.astimezone(UTC), end.astimezone(UTC)
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

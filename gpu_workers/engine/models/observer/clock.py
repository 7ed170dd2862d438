"""The clock in the picture: dates and times that cameras write into it, and the video's start time on that clock."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import pairwise

_DAY_S = 86_400
_FIRST = datetime(1, 1, 1)  # noqa: DTZ001 - a clock in a picture names no zone
_TIME = re.compile(
    r"(?<![\d:.])(?P<h>[0-2]?\d)\s?[:：;]\s?(?P<m>[0-5]\d)(?:\s?[:：;]\s?(?P<s>[0-5]\d)(?:[.,]\d{1,3})?)?"
    r"(?![\d:])\s*(?P<half>[AaPp]\.?[Mm]\b\.?)?"
)
_DATE = re.compile(
    r"(?<!\d)(?:(?P<y>(?:19|20)\d\d)\s?[-/.年]\s?(?P<mo>[01]?\d)\s?[-/.月]\s?(?P<d>[0-3]?\d)日?"
    r"|(?P<a>[0-3]?\d)\s?(?P<sep>[-/.])\s?(?P<b>[0-3]?\d)\s?(?P=sep)\s?(?P<y2>(?:19|20)\d\d))"
)
# A date and a time that the reader ran together: 2021-03-0412:34:56.
_RUN_TOGETHER = re.compile(r"((?:19|20)\d\d[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.](?:19|20)\d\d)T?(?=\d\d[:：;])")
_AGREE_S = 4.0
"""Maximum spread of the offsets of one clock in seconds: a reading is of some moment of a 3 s chunk, to the second."""

SPLIT_MOMENTS = 3
"""Minimum number of moments in a row that start a new period of the clock."""


_Offset = tuple[float, int, int]
"""Offset of a reading, (offset, ms, seconds read): the clock at 0 ms in seconds, by the reading at ms."""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """A time in a text. seconds: of the day; from the year 1 when dated. fine: to the second, else the minute."""

    seconds: int
    dated: bool
    fine: bool


@dataclass(frozen=True, slots=True)
class Clock:
    """The picture's clock as a function of video time.

    zero_s: its seconds of the day at 0 ms, from the year 1 when dated. readings: number of moments that agree.
    """

    zero_s: int
    dated: bool
    readings: int
    fine: bool = True

    @property
    def at_zero(self) -> str:
        """Return ISO date and time, or time of day, at the start of the video."""
        return self.at(0)

    def at(self, ms: int) -> str:
        """Return the time that the clock shows at ms."""
        seconds = self.zero_s + ms // 1000
        shape = "%H:%M:%S" if self.fine else "%H:%M"
        if not self.dated:
            seconds %= _DAY_S
        moment = _FIRST + timedelta(seconds=seconds)
        return f"{moment:%Y-%m-%dT{shape}}" if self.dated else f"{moment:{shape}}"


def read_clock(text: str) -> ClockReading | None:
    """Return the only time that text shows, with its date if the text has one that can be read in only one way.

    Returns None for no time or several. In 03/04/2021 month and day cannot be distinguished: then only the time counts.
    """
    spaced = _RUN_TOGETHER.sub(r"\1 ", text)
    times = [time for match in _TIME.finditer(spaced) if (time := _seconds(match)) is not None]
    if len(times) != 1:
        return None
    (seconds, fine), day = times[0], _date(spaced)
    if day is None:
        return ClockReading(seconds, False, fine)
    return ClockReading((day.toordinal() - 1) * _DAY_S + seconds, True, fine)


def without_clocks(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that show no time: a clock that runs on says nothing new."""
    return tuple(text for text in texts if read_clock(text) is None)


def fit_clock(readings: Iterable[tuple[int, str]]) -> Clock | None:
    """Return the clock on which most of the readings agree, None if they show no clock.

    readings: (ms, text) in any order; texts of one moment may be lines of one clock (date above time). At least two
    moments must agree, and at least half of those that show a time. Their clock must advance with the video: a time
    that stands still, or another number that looks like a time, is no clock.
    """
    lines: defaultdict[int, list[str]] = defaultdict(list)
    for ms, text in readings:
        lines[ms].append(text)
    shown = {ms: of_moment for ms, texts in lines.items() if (of_moment := list(_of_moment(texts)))}
    dated = _fit(shown, dated=True, fine=True)
    plain = _fit(shown, dated=False, fine=True)
    # The date is shown only if it is read as surely as the time.
    best = dated if dated is not None and (plain is None or 2 * dated.readings >= plain.readings) else plain
    return best or _fit(shown, dated=False, fine=False)


@dataclass(frozen=True, slots=True)
class ClockPeriod:
    """A part of the video in which one clock holds. from_ms: its start; it ends where the next period starts."""

    from_ms: int
    clock: Clock

    @property
    def at_start(self) -> str:
        """Return what the clock shows at from_ms."""
        return self.clock.at(self.from_ms)


def fit_clock_periods(readings: Iterable[tuple[int, str]]) -> tuple[ClockPeriod, ...]:
    """Return the clocks that the video shows one after another, in order of time; () if it shows none.

    readings: those of fit_clock(). A new period starts where SPLIT_MOMENTS moments in a row agree on another offset:
    after a pause of the recording, at a change to summer time, where files were joined, or after some seconds of drift.
    A period between two with one offset is a digit that was misread for a while, and is dropped.
    """
    lines: defaultdict[int, list[str]] = defaultdict(list)
    for ms, text in readings:
        lines[ms].append(text)
    moments = sorted(lines)
    starts = _period_starts({ms: list(_of_moment(lines[ms])) for ms in moments})
    periods: list[ClockPeriod] = []
    # The last period ends after the last moment.
    for start, end in pairwise([*starts, max(moments, default=0) + 1]):
        within = [(ms, text) for ms in moments if start <= ms < end for text in lines[ms]]
        if (clock := fit_clock(within)) is not None:
            periods.append(ClockPeriod(start if periods else 0, clock))
    kept: list[ClockPeriod] = []
    for period in periods:
        if len(kept) > 1 and _same_clock(kept[-2].clock, period.clock):
            kept.pop()
            earlier = kept.pop()
            readings_of_both = earlier.clock.readings + period.clock.readings
            period = ClockPeriod(earlier.from_ms, replace(earlier.clock, readings=readings_of_both))
        kept.append(period)
    return tuple(kept)


def _period_starts(shown: Mapping[int, Sequence[ClockReading]]) -> list[int]:
    """Return the moments from which most readings follow another offset than before, the first moment included."""
    fine = any(reading.fine for readings in shown.values() for reading in readings)
    of_kind = {ms: [r for r in readings if r.fine == fine] for ms, readings in shown.items()}
    of_kind = {ms: readings for ms, readings in of_kind.items() if readings}
    dated = 2 * sum(any(r.dated for r in readings) for readings in of_kind.values()) >= len(of_kind)
    width = _AGREE_S if fine else 60.0 + _AGREE_S
    starts: list[int] = []
    current: float | None = None
    waiting: list[tuple[int, float]] = []
    for ms, readings in of_kind.items():
        offsets = [r.seconds - ms / 1000 for r in readings if r.dated or not dated]
        if not offsets:
            continue
        if current is not None and any(_apart(offset, current, dated=dated) <= width for offset in offsets):
            waiting.clear()
            continue
        if waiting and _apart(offsets[0], waiting[0][1], dated=dated) > width:
            waiting.clear()
        waiting.append((ms, offsets[0]))
        if current is None or len(waiting) == SPLIT_MOMENTS:
            starts.append(waiting[0][0])
            current = waiting[0][1]
            waiting.clear()
    return starts


def _apart(offset: float, other: float, *, dated: bool) -> float:
    """Return the seconds between two offsets; without a date, the shorter way around the day."""
    apart = abs(offset - other)
    return apart if dated else min(apart % _DAY_S, -apart % _DAY_S)


def _same_clock(clock: Clock, other: Clock) -> bool:
    dated = clock.dated and other.dated
    return _apart(clock.zero_s, other.zero_s, dated=dated) <= (_AGREE_S if clock.fine else 60.0 + _AGREE_S)


def _of_moment(texts: Sequence[str]) -> Iterator[ClockReading]:
    readings = [reading for text in texts if (reading := read_clock(text)) is not None]
    days = {day for text in texts if (day := _date(text)) is not None}
    for reading in readings:
        if not reading.dated and len(days) == 1:
            (day,) = days
            yield ClockReading((day.toordinal() - 1) * _DAY_S + reading.seconds, True, reading.fine)
        yield reading


def _fit(shown: dict[int, list[ClockReading]], *, dated: bool, fine: bool) -> Clock | None:
    """Return the clock of most moments, by readings with or without their date, to the second or the minute."""
    offsets: list[_Offset] = []
    moments = 0
    for ms, readings in shown.items():
        usable = [r for r in readings if r.fine == fine and (r.dated or not dated)]
        moments += bool(usable)
        for reading in {(r.seconds if dated else r.seconds % _DAY_S) for r in usable}:
            # A clock shows a second for its whole length, so the middle is the best guess.
            offset = reading + (0.5 if fine else 30.0) - ms / 1000
            offsets.append((offset if dated else offset % _DAY_S, ms, reading))
    width = _AGREE_S if fine else 60.0 + _AGREE_S
    agreeing = _largest_group(offsets, width, circular=not dated)
    times = sorted({ms for _, ms, _ in agreeing})
    if len(times) < 2 or 2 * len(times) < moments or not _advances(agreeing, wraps=not dated, fine=fine):
        return None
    ordered = sorted(offset for offset, _, _ in agreeing)
    # The reading nearest to the first moment of a minute decides when the minute began.
    zero = math.floor(ordered[len(ordered) // 2] if fine else ordered[-1] - 30.0)
    return Clock(zero if dated else zero % _DAY_S, dated, len(times), fine)


def _largest_group(offsets: Sequence[_Offset], width: float, *, circular: bool) -> list[_Offset]:
    """Return the largest group of offsets within width; on a circle of a day, offsets after midnight follow those
    before it."""
    ordered = sorted(offsets)
    if circular:
        ordered += [(offset + _DAY_S, ms, reading) for offset, ms, reading in ordered]
    best: tuple[int, int] = (0, 0)
    first = 0
    for last, (offset, _, _) in enumerate(ordered):
        while offset - ordered[first][0] > width:
            first += 1
        if last + 1 - first > best[1] - best[0]:
            best = (first, last + 1)
    return ordered[best[0] : best[1]]


def _advances(agreeing: Sequence[_Offset], *, wraps: bool, fine: bool) -> bool:
    """Whether the clock advanced between its first and its last reading about as far as the video."""
    first = min(agreeing, key=lambda reading: reading[1])
    last = max(agreeing, key=lambda reading: reading[1])
    elapsed, shown = (last[1] - first[1]) / 1000, last[2] - first[2]
    if wraps:
        shown = round(shown - _DAY_S * round((shown - elapsed) / _DAY_S))
    return elapsed >= (2.0 if fine else 60.0) and shown >= elapsed / 2


def _seconds(match: re.Match[str]) -> tuple[int, bool] | None:
    """Return the second of the day and whether the text states seconds; None if it is no time of day."""
    hour, minute, half = int(match["h"]), int(match["m"]), (match["half"] or "").lower()[:1]
    if hour > 23 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour * 3600 + minute * 60 + int(match["s"] or 0), match["s"] is not None


def _date(text: str) -> date | None:
    """Return the only day that text names, if it cannot be read as another day."""
    days = {day for match in _DATE.finditer(_RUN_TOGETHER.sub(r"\1 ", text)) if (day := _day(match)) is not None}
    return days.pop() if len(days) == 1 else None


def _day(match: re.Match[str]) -> date | None:
    try:
        if match["y"]:
            return date(int(match["y"]), int(match["mo"]), int(match["d"]))
        first, second, year = int(match["a"]), int(match["b"]), int(match["y2"])
        if match["sep"] == "." or first > 12 or first == second:
            return date(year, second, first)
        return date(year, first, second) if second > 12 else None
    except ValueError:
        return None

"""Times of day and days, in the wall-clock time of the recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from gpu_workers.engine.answering.reading.expressions import Clocked, ClockTime, Day, PartOfDay
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import Recording
from gpu_workers.engine.wall_clock import WallClock

ABOUT = timedelta(minutes=5)
"""Half the width of "around three"."""

_MOMENT = timedelta(minutes=30)
"""Maximum length of an interval that is one moment of a clock, and no stretch."""

_DAYTIME = (8, 20)
"""Hours in which "at three" is meant if nothing else says which half of the day."""

_Interval = tuple[datetime, datetime]
"""Local times without a zone, start and end."""


def resolve_wall(
    named: Clocked, recordings: Mapping[UUID, Recording], now: datetime | None
) -> tuple[dict[UUID, tuple[Span, ...]], str, bool]:
    """Return the spans filmed at that time, its meaning, and whether anything says when the recordings were made.

    If several days or halves of a day fit, the latest day counts that was filmed and is not after now, and
    the half in which something was filmed, in the daytime if both were. A recording that jumps may have filmed the time
    in several parts, and has a span for each.
    """
    clocks = {
        video_id: clock
        for video_id, recording in recordings.items()
        if (clock := clock_of(recording, shown=named.frame == "shown")) is not None
        and (clock.dated or named.day is None)
    }
    if not clocks:
        return {}, "", False
    if named.day is not None and named.day.nth:
        nth = _nth_filmed(named.day.nth, clocks.values())
        if nth is None:
            return {}, "", False
        named = replace(named, day=nth)
    latest = max(stretch.ends_at for clock in clocks.values() for stretch in clock.stretches)
    best: tuple[tuple[bool, date, bool], dict[UUID, tuple[Span, ...]], _Interval] | None = None
    zone = next((clock.zone for clock in clocks.values() if clock.zone), "")
    first: _Interval | None = None
    for _, clock in sorted(clocks.items()):
        present = (now or latest).astimezone(clock.tzinfo).replace(tzinfo=None)
        today = present.date()
        for interval in _intervals(named, _days(clock, named, today), today):
            first = first or interval
            spans = {other: parts for other, c in clocks.items() if (parts := _filmed(c, interval))}
            if not spans:
                continue
            day = interval[0].date()
            rank = (interval[0] <= present or not clock.dated, day, _DAYTIME[0] <= interval[0].hour < _DAYTIME[1])
            if best is None or rank > best[0]:
                best = rank, spans, interval
    if best is not None:
        return best[1], _in_words(best[2], named, zone, dated=_dated(clocks)), True
    return {}, _in_words(first, named, zone, dated=_dated(clocks)) if first else "that day", True


def resolve_every(
    named: Clocked, recordings: Mapping[UUID, Recording]
) -> list[tuple[str, dict[UUID, tuple[Span, ...]]]]:
    """Return the meaning and the spans of a part of the day on each day on which something of it was filmed."""
    clocks = {video_id: clock for video_id, each in recordings.items() if (clock := clock_of(each)) is not None}
    zone = next((clock.zone for clock in clocks.values() if clock.zone), "")
    intervals: set[_Interval] = set()
    for clock in clocks.values():
        today = max(stretch.ends_at for stretch in clock.stretches).astimezone(clock.tzinfo).date()
        intervals |= set(_intervals(named, _days(clock, named, today), today))
    found = []
    for interval in sorted(intervals):
        spans = {video_id: parts for video_id, clock in clocks.items() if (parts := _filmed(clock, interval))}
        if spans:
            found.append((_in_words(interval, named, zone, dated=_dated(clocks)), spans))
    return found


def clock_of(recording: Recording, *, shown: bool = False) -> WallClock | None:
    """Return the recording's clock, or the one that is readable in its picture (shown); None if unknown."""
    clock = recording.clock
    if clock is not None and shown and clock.shown:
        return WallClock(clock.shown, clock.zone, dated=clock.dated)
    return clock if clock is not None and clock.stretches else None


def _dated(clocks: Mapping[UUID, WallClock]) -> bool:
    return any(clock.dated for clock in clocks.values())


def _days(clock: WallClock, named: Clocked, today: date) -> list[date]:
    """Return the days that are meant: those that were filmed, or the named one if it was not filmed."""
    zone = clock.tzinfo
    filmed: set[date] = set()
    for stretch in clock.stretches:
        day, last = stretch.begins_at.astimezone(zone).date(), stretch.ends_at.astimezone(zone).date()
        # A part of the night belongs to the day on which the night began.
        day -= timedelta(days=1)
        while day <= last:
            filmed.add(day)
            day += timedelta(days=1)
    if named.day is None:
        return sorted(filmed)
    meant = sorted(day for day in filmed if named.day.is_day(day, today=today))
    return meant or [_unfilmed(named, today)]


def _nth_filmed(nth: int, clocks: Iterable[WallClock]) -> Day | None:
    """Return the nth day on which something was filmed, -1 the last; None if there were fewer."""
    filmed: set[date] = set()
    for clock in clocks:
        for stretch in clock.stretches:
            day = stretch.begins_at.astimezone(clock.tzinfo).date()
            last = (stretch.ends_at - timedelta(milliseconds=1)).astimezone(clock.tzinfo).date()
            filmed |= {day + timedelta(days=n) for n in range((last - day).days + 1)}
    if nth > len(filmed):
        return None
    day = sorted(filmed)[nth - 1 if nth > 0 else -1]
    return Day(month=day.month, day=day.day, year=day.year)


def _unfilmed(named: Clocked, today: date) -> date:
    """Return the latest day up to today that is named."""
    assert named.day is not None
    years = (named.day.year,) if named.day.year else range(today.year, today.year - 9, -1)
    if named.day.month:
        for year in years:
            try:
                day = date(year, named.day.month, named.day.day)
            except ValueError:
                continue
            if named.day.year or day <= today:
                return day
    return next((day for back in range(8) if named.day.is_day(day := today - timedelta(days=back), today=today)), today)


def _intervals(named: Clocked, days: Sequence[date], today: date) -> Iterator[_Interval]:
    for day in days:
        midnight = datetime.combine(day, time())
        part = named.part or PartOfDay(0, 24)
        whole = midnight + timedelta(hours=part.start), midnight + timedelta(hours=part.end)
        if named.kind == "day":
            yield whole
        elif named.kind == "since" and named.start is not None:
            yield from ((start, whole[1]) for start in _moments(named.start, midnight, named.part))
        elif named.kind == "until" and named.end is not None:
            yield from ((whole[0], end) for end in _moments(named.end, midnight, named.part) if end > whole[0])
        elif named.kind == "at" and named.start is not None:
            width = timedelta(seconds=1 if len(named.start.parts) == 3 else 60)
            for start in _moments(named.start, midnight, named.part):
                yield (start - ABOUT, start + ABOUT) if named.about else (start, start + width)
        elif named.start is not None and named.end is not None:
            yield from _between(named.start, named.end, midnight, named.part)


def _between(start: ClockTime, end: ClockTime, midnight: datetime, part: PartOfDay | None) -> Iterator[_Interval]:
    ends = [*_moments(end, midnight, None), *_moments(end, midnight + timedelta(days=1), None)]
    for begin in _moments(start, midnight, part):
        yield begin, min(moment for moment in ends if moment > begin)


def _moments(at: ClockTime, midnight: datetime, part: PartOfDay | None) -> Iterator[datetime]:
    """Yield the times of that day that figures may mean: both halves of the day unless its words or its figures say
    which one."""
    hour, minute, second = (*at.parts, 0, 0)[:3]
    if hour > 24 or minute > 59 or second > 59:
        return
    hours = [hour % 24]
    if at.half:
        hours = [hour % 12 + (12 if at.half == "pm" else 0)]
    elif 1 <= hour <= 12 and (len(at.parts) == 1 or at.spoken) and at.parts != (12, 0):
        hours = [hour % 12, hour % 12 + 12]
    for each in hours:
        moment = midnight + timedelta(hours=each, minutes=minute, seconds=second)
        if part is not None and part.end > 24 and each < part.end - 24:
            # "Saturday at three at night" may be the night before Sunday, or the small hours of Saturday.
            yield moment
            moment += timedelta(days=1)
        if part is None or part.start <= (moment - midnight) / timedelta(hours=1) < part.end:
            yield moment


def _filmed(clock: WallClock, interval: _Interval) -> tuple[Span, ...]:
    """Return the stretches of video time that were filmed in the interval of local time, in order of video time."""
    zone = clock.tzinfo
    start, end = (moment.replace(tzinfo=zone) for moment in interval)
    if interval[1] - interval[0] <= _MOMENT:
        # A time that the change to summer time leaves out was never filmed. A time that comes twice means the first.
        if not _exists(start):
            return ()
        again = start.replace(fold=1)
        parts = clock.spans(start, start.astimezone(UTC) + (interval[1] - interval[0]))
        parts = parts or clock.spans(again, again.astimezone(UTC) + (interval[1] - interval[0]))
    else:
        # An hour that comes twice is meant as a whole; in the hour that is left out nothing lies.
        end = end.replace(fold=1) if interval[1].minute and _exists(end) else end
        parts = clock.spans(_begins(start), _begins(end))
    return parts


def _exists(local: datetime) -> bool:
    """Whether a local time comes at all: a change to summer time leaves some out."""
    return local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) == local.replace(tzinfo=None)


def _begins(local: datetime) -> datetime:
    """Return the instant of a local time; of one that is left out, the instant of the change."""
    if _exists(local):
        return local.astimezone(UTC)
    before = local.replace(fold=1).astimezone(UTC)
    offset = before.astimezone(local.tzinfo).utcoffset()
    minutes = (before + timedelta(minutes=n) for n in range(24 * 60))
    return next(each for each in minutes if each.astimezone(local.tzinfo).utcoffset() != offset)


def _in_words(interval: _Interval, named: Clocked, zone: str, *, dated: bool) -> str:
    start, end = interval
    shape = "%H:%M:%S" if start.second or end.second or end - start < timedelta(minutes=1) else "%H:%M"
    day = f"{start.day} {start:%B %Y}, " if dated else ""
    last = f"{end.day} {end:%B %Y}, " if dated and end.date() != start.date() else ""
    until = "" if end - start <= timedelta(minutes=1) else f" to {last}{end:{shape}}"
    source = " on the clock in the picture" if named.frame == "shown" or not zone else f" ({zone})"
    return f"{day}{start:{shape}}{until}{source}"

"""Days and times of day, in the wall-clock time of the recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from gpu_workers.engine.answering.reading.forms import Clocked, ClockTime, Day, PartOfDay
from gpu_workers.engine.answering.understood import Stretch
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import Recording
from gpu_workers.engine.wall_clock import WallClock

ABOUT = timedelta(minutes=5)
"""Half the width of "around three"."""

_MOMENT = timedelta(minutes=30)
"""Maximum length of an interval that is one moment of a clock, and no stretch."""

_DAYTIME = (8, 20)
"""Hours in which "at three" is meant if nothing else says which half of the day."""

_NEAR_DAYS = sorted(range(-20 * 366, 20 * 366), key=lambda days: (days > 0, abs(days)))
"""Days from today, the past ones first, among which a day is looked for that was not filmed."""

_Interval = tuple[datetime, datetime]
"""Local times without a zone, start and end."""


def on_the_wall(named: Clocked, recordings: Mapping[UUID, Recording], now: datetime | None) -> list[Stretch] | None:
    """Return what was filmed at that time, without spans if nothing was; None if nothing says when that is.

    If several days or halves of a day fit, the latest day counts that was filmed and is not after now, and the half in
    which something was filmed, in the daytime if both were. A part of every day gives a stretch for each day.
    """
    clocks = {
        video_id: clock
        for video_id, recording in sorted(recordings.items())
        if (clock := _clock_of(recording, shown=named.frame == "shown")) is not None
        and (clock.dated or named.day is None)
    }
    if not clocks:
        return None
    main = next((clock for clock in clocks.values() if clock.zone), next(iter(clocks.values())))
    latest = max(stretch.ends_at for clock in clocks.values() for stretch in clock.stretches)
    present = (now or latest).astimezone(main.tzinfo).replace(tzinfo=None)
    intervals = [
        interval
        for day in _days(named.day, clocks.values(), present.date())
        for interval in _intervals(named, datetime.combine(day, time()))
    ]
    dated = any(clock.dated for clock in clocks.values())

    def stretch_of(interval: _Interval) -> Stretch:
        spans = {video_id: parts for video_id, clock in clocks.items() if (parts := _filmed(clock, interval))}
        return Stretch(_in_words(interval, named, main.zone, dated=dated), spans)

    def rank(interval: _Interval) -> tuple[bool, date, bool]:
        start = interval[0]
        return start <= present or not dated, start.date(), _DAYTIME[0] <= start.hour < _DAYTIME[1]

    filmed = [interval for interval in intervals if stretch_of(interval).spans]
    if named.part is not None and named.part.every and filmed:
        return [stretch_of(interval) for interval in filmed]
    meant = max(filmed, key=rank) if filmed else next(iter(intervals), None)
    return [stretch_of(meant)] if meant is not None else None


def _clock_of(recording: Recording, *, shown: bool) -> WallClock | None:
    """Return the recording's clock, or the one that is readable in its picture (shown); None if unknown."""
    clock = recording.clock
    if clock is not None and shown and clock.shown:
        return WallClock(clock.shown, clock.zone, dated=clock.dated)
    return clock if clock is not None and clock.stretches else None


def _days(named: Day | None, clocks: Iterable[WallClock], today: date) -> list[date]:
    """Return the days that are meant, in order: those that were filmed, or the named one if it was not filmed; none if
    fewer days were filmed than its number."""
    filmed: set[date] = set()
    for clock in clocks:
        for stretch in clock.stretches:
            first = stretch.begins_at.astimezone(clock.tzinfo).date()
            last = (stretch.ends_at - timedelta(milliseconds=1)).astimezone(clock.tzinfo).date()
            filmed |= {first + timedelta(days=n) for n in range((last - first).days + 1)}
    if named is not None and named.nth:
        return sorted(filmed)[-1:] if named.nth < 0 else sorted(filmed)[named.nth - 1 : named.nth]
    # A part of the night belongs to the day on which the night began.
    days = sorted(filmed | {day - timedelta(days=1) for day in filmed})
    if named is None:
        return days
    meant = [day for day in days if named.is_day(day, today=today)]
    near = (today + timedelta(days=n) for n in _NEAR_DAYS)
    return meant or [next((day for day in near if named.is_day(day, today=today)), today)]


def _intervals(named: Clocked, midnight: datetime) -> Iterator[_Interval]:
    part = named.part or PartOfDay(0, 24)
    begins, ends = midnight + timedelta(hours=part.start), midnight + timedelta(hours=part.end)
    if named.kind == "day":
        yield begins, ends
    elif named.kind == "until" and named.end is not None:
        yield from ((begins, end) for end in _moments(named.end, midnight, named.part) if end > begins)
    elif named.start is not None:
        for start in _moments(named.start, midnight, named.part):
            if named.kind == "since":
                yield start, ends
            elif named.end is not None:
                days = (midnight, midnight + timedelta(days=1))
                after = [end for day in days for end in _moments(named.end, day, None) if end > start]
                yield from ((start, end) for end in sorted(after)[:1])
            elif named.about:
                yield start - ABOUT, start + ABOUT
            else:
                yield start, start + timedelta(seconds=1 if len(named.start.parts) == 3 else 60)


def _moments(at: ClockTime, midnight: datetime, part: PartOfDay | None) -> Iterator[datetime]:
    """Yield the times of that day that figures may mean: both halves of the day if their words leave it open."""
    hour, minute, second = (*at.parts, 0, 0)[:3]
    if hour > 24 or minute > 59 or second > 59:
        return
    hours = [hour % 24]
    if at.half == "either" and 1 <= hour <= 12:
        hours = [hour % 12, hour % 12 + 12]
    elif at.half in ("am", "pm"):
        hours = [hour % 12 + (12 if at.half == "pm" else 0)]
    for each in hours:
        moment = midnight + timedelta(hours=each, minutes=minute, seconds=second)
        if part is not None and part.end > 24 and each < part.end - 24:
            # "Saturday at three at night" may be the night before Sunday, or the small hours of Saturday.
            yield moment
            moment += timedelta(days=1)
        if part is None or part.start <= (moment - midnight) / timedelta(hours=1) < part.end:
            yield moment


def _filmed(clock: WallClock, interval: _Interval) -> tuple[Span, ...]:
    """Return the stretches of video time that were filmed in the interval of local time, in order of video time.

    Where summer time ends, a time that comes twice means the first, and an hour that comes twice is meant as a whole.
    """
    start, end = (moment.replace(tzinfo=clock.tzinfo) for moment in interval)
    length = interval[1] - interval[0]
    if length <= _MOMENT:
        twice = (start.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
        return next((parts for each in twice if (parts := clock.spans(each, each + length))), ())
    return clock.spans(start, max(end.astimezone(UTC), end.replace(fold=1 if end.minute else 0).astimezone(UTC)))


def _in_words(interval: _Interval, named: Clocked, zone: str, *, dated: bool) -> str:
    start, end = interval
    shape = "%H:%M:%S" if start.second or end.second or end - start < timedelta(minutes=1) else "%H:%M"
    day = f"{start.day} {start:%B %Y}, " if dated else ""
    last = f"{end.day} {end:%B %Y}, " if dated and end.date() != start.date() else ""
    until = "" if end - start <= timedelta(minutes=1) else f" to {last}{end:{shape}}"
    source = " on the clock in the picture" if named.frame == "shown" or not zone else f" ({zone})"
    return f"{day}{start:{shape}}{until}{source}"

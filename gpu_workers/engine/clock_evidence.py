"""The wall clock of a video from all that is known about it: what the customer said of its recordings, and the clock
that is readable in the picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.wall_clock import ClockSource, ClockStretch, WallClock

CONTRADICTS = timedelta(seconds=60)
"""Minimum difference of the clock in the picture from what the customer said that is a contradiction. Clocks of cameras
are some seconds off, and some show only minutes."""

_SLACK = timedelta(minutes=70)
"""How far a clock without a date may go back within a day: by the hour at the end of summer time, and a little."""

_FIRST_DAY = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class RecordedPart:
    """One recording of a video: an uploaded file, or an appended segment. recorded_at: the instant of its first moment,
    aware; None if the customer did not say."""

    span: Span
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ShownPeriod:
    """A part of the video in which the clock in the picture runs on, until the next one starts. at_start: the clock at
    from_ms, as an ISO date and time or a time of day, without a zone."""

    from_ms: int
    at_start: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The clock in the picture differs from what the customer said. stated, shown: aware, at at_ms."""

    at_ms: int
    stated: datetime
    shown: datetime


@dataclass(frozen=True, slots=True)
class FittedClock:
    clock: WallClock | None
    contradictions: tuple[Contradiction, ...] = ()


def fit_wall_clock(parts: Sequence[RecordedPart], periods: Sequence[ShownPeriod], *, zone: str = "") -> FittedClock:
    """Return the wall clock of a video and where its evidence disagrees.

    parts: its recordings, in order, disjoint. periods: in order, from the video's start on. zone: IANA name, "" if
    unknown.

    The customer's word holds at the start of each recording that has one. Inside it the clock in the picture says how
    time goes on: pauses, drift and jumps are its changes from period to period, less those of summer time. A recording
    without a word of its own follows the picture, and without a readable clock the recording before it, as if nothing
    had been left out between them. A clock in the picture that was wrong in one recording is taken to be as wrong in
    the next ones. Without a date it has the date that follows from what is known before it.
    """
    tz: tzinfo = ZoneInfo(zone) if zone else UTC
    shown = list(_shown_parts(parts, periods))
    anything_dated = any(part.recorded_at for part in parts) or any("T" in period.at_start for _, period, _ in shown)
    stretches: list[ClockStretch] = []
    pictured: list[ClockStretch] = []
    contradictions: list[Contradiction] = []
    picture_end: datetime | None = None
    correction = timedelta()
    for part in parts:
        stated = part.recorded_at.astimezone(UTC) if part.recorded_at is not None else None
        # What the recording before suggests.
        adjoins = bool(stretches) and stretches[-1].span.end_ms == part.span.start_ms
        expected = stated or (stretches[-1].ends_at if adjoins else None)
        mine = [(span, period, offset) for span, period, offset in shown if part.span.holds(span)]
        source: ClockSource = "picture" if stated is None else "recorded_at"
        for place, (span, period, offset) in enumerate(mine):
            opens = stated is not None and place == 0
            reference = stated if opens else picture_end or expected
            instant = _instant(period.at_start, offset, tz, reference, follows=not opens)
            pictured.append(ClockStretch(span, instant, "picture"))
            picture_end = pictured[-1].ends_at
            if stated is not None and opens:
                correction = stated - instant
                if abs(correction) >= CONTRADICTS:
                    contradictions.append(Contradiction(span.start_ms, stated.astimezone(tz), instant.astimezone(tz)))
            stretches.append(ClockStretch(span, instant + correction, source))
        if not mine and expected is not None:
            stretches.append(ClockStretch(part.span, expected))
    if not stretches:
        return FittedClock(None)
    clock = WallClock(
        tuple(_joined(stretches)), zone, dated=anything_dated, shown=tuple(pictured) if contradictions else ()
    )
    return FittedClock(clock, tuple(contradictions))


def _shown_parts(
    parts: Sequence[RecordedPart], periods: Sequence[ShownPeriod]
) -> Iterator[tuple[Span, ShownPeriod, timedelta]]:
    """Yield the periods cut at the borders of the recordings, each with its distance from the period's start."""
    for part in parts:
        for index, period in enumerate(periods):
            end_ms = periods[index + 1].from_ms if index + 1 < len(periods) else part.span.end_ms
            if period.from_ms >= end_ms:
                continue
            span = Span(period.from_ms, max(end_ms, period.from_ms + 1)).cut_to(part.span)
            if span is not None:
                yield span, period, timedelta(milliseconds=span.start_ms - period.from_ms)


def _instant(at_start: str, offset: timedelta, tz: tzinfo, reference: datetime | None, *, follows: bool) -> datetime:
    """Return the instant, in UTC, at which a period that began with at_start has run for offset.

    Of several instants with that local time the one nearest to reference counts; of a time without a date the first one
    that follows the reference (follows), or else the nearest.
    """
    if "T" in at_start:
        local = datetime.fromisoformat(at_start)
        instants = sorted({local.replace(tzinfo=tz, fold=fold).astimezone(UTC) + offset for fold in (0, 1)})
        if not _exists(local, tz) or reference is None:
            return local.replace(tzinfo=tz).astimezone(UTC) + offset
        return min(instants, key=lambda instant: abs(instant - reference))
    of_day = time.fromisoformat(at_start)
    first = reference.astimezone(tz).date() if reference is not None else _FIRST_DAY
    days = [first + timedelta(days=back) for back in (-1, 0, 1, 2)] if reference is not None else [first]
    instants = sorted(
        {
            datetime.combine(day, of_day).replace(tzinfo=tz, fold=fold).astimezone(UTC) + offset
            for day in days
            for fold in (0, 1)
        }
    )
    if reference is None:
        return instants[0]
    if follows:
        later = [instant for instant in instants if instant >= reference - _SLACK]
        return min(later, key=lambda instant: (abs(instant - reference) > _SLACK, instant)) if later else instants[-1]
    return min(instants, key=lambda instant: abs(instant - reference))


def _exists(local: datetime, tz: tzinfo) -> bool:
    aware = local.replace(tzinfo=tz)
    return aware.astimezone(UTC).astimezone(tz).replace(tzinfo=None) == local


def _joined(stretches: Sequence[ClockStretch]) -> list[ClockStretch]:
    """Return the stretches; neighbours between which the clock goes on are one."""
    joined: list[ClockStretch] = []
    for stretch in stretches:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.span.end_ms == stretch.span.start_ms
            and last.ends_at == stretch.begins_at
            and last.source == stretch.source
        ):
            joined[-1] = ClockStretch(Span(last.span.start_ms, stretch.span.end_ms), last.begins_at, last.source)
        else:
            joined.append(stretch)
    return joined

"""Where the named times lie in the recordings of a scope: expressions become spans of each video, and plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from gpu_workers.engine.answering.reading.expressions import (
    DAY_MS,
    HOUR_MS,
    SECOND_MS,
    Clocked,
    ClockTime,
    Edge,
    Expression,
    Fraction,
    Offset,
    Order,
)
from gpu_workers.engine.answering.reading.wall import resolve_every, resolve_wall
from gpu_workers.engine.answering.understood import Stretch
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import Recording

ABOUT_MS = 30_000
"""Half the width of "around 12:30" of a video's own time."""


MOST_SPANS = 31
"""Maximum number of spans of one video that are read one by one; of more, all that lies between is read as well."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """spans: by video, from the first to the last moment of that time, without videos that have nothing then. meaning:
    the time in plain English. applied: False if nothing says when the recordings were made, so that the words cannot be
    placed. stretches: as in UnderstoodTime."""

    spans: Mapping[UUID, Span] = field(default_factory=dict)
    meaning: str = ""
    applied: bool = True
    stretches: tuple[Stretch, ...] = ()


def resolve(
    expressions: Sequence[Expression],
    recordings: Mapping[UUID, Recording],
    now: datetime | None,
    *,
    joined: bool = False,
) -> Resolved:
    """Return where the times lie. Times that overlap are one stretch.

    Raises TypeError for an Order, which needs an event to be located first. now: aware; None counts days from the end
    of the latest recording. joined: whether the times mean the stretch from the first to the last.
    """
    placed = [_place(expression, recordings, now) for expression in expressions]
    applied = [each for each in placed if each.applied]
    if not applied:
        return placed[0]
    stretches: list[Stretch] = []
    for each in applied:
        for stretch in each.stretches or (one_stretch(each.meaning, each.spans),):
            whole = stretch
            for other in [other for other in stretches if joined or _overlap(other, stretch)]:
                stretches.remove(other)
                whole = _union(other, whole)
            stretches.append(whole)
    return in_stretches(stretches, joined=joined)


def one_stretch(meaning: str, spans: Mapping[UUID, Span]) -> Stretch:
    return Stretch(meaning, {video_id: (span,) for video_id, span in spans.items()})


def in_stretches(stretches: Sequence[Stretch], *, joined: bool = False) -> Resolved:
    """Return several times as one. joined: read all that lies between them, too."""
    meanings = list(dict.fromkeys(stretch.meaning for stretch in stretches))
    spans: dict[UUID, Span] = {}
    count: Counter[UUID] = Counter()
    for stretch in stretches:
        for video_id, own in stretch.spans.items():
            known = spans.get(video_id, own[0])
            spans[video_id] = Span(min(known.start_ms, own[0].start_ms), max(known.end_ms, own[-1].end_ms))
            count[video_id] += len(own)
    most = max(count.values(), default=0)
    meaning = "; ".join(meanings)
    if (joined and len(meanings) > 1) or most > MOST_SPANS:
        meaning = f"{meaning}; with everything between"
    several = not joined and max(len(stretches), most) > 1 and most <= MOST_SPANS
    return Resolved(dict(sorted(spans.items())), meaning, stretches=tuple(stretches) if several else ())


def _overlap(one: Stretch, other: Stretch) -> bool:
    return any(a.overlaps(b) for video_id, own in one.spans.items() for a in own for b in other.spans.get(video_id, ()))


def _union(one: Stretch, other: Stretch) -> Stretch:
    """Return two stretches as one, with spans that touch each other joined."""
    spans: dict[UUID, tuple[Span, ...]] = {}
    for video_id in sorted({*one.spans, *other.spans}):
        joined: list[Span] = []
        for span in sorted((*one.spans.get(video_id, ()), *other.spans.get(video_id, ()))):
            if joined and span.start_ms <= joined[-1].end_ms:
                before = joined.pop()
                span = Span(before.start_ms, max(before.end_ms, span.end_ms))
            joined.append(span)
        spans[video_id] = tuple(joined)
    return Stretch("; ".join(dict.fromkeys((one.meaning, other.meaning))), spans)


def _place(expression: Expression, recordings: Mapping[UUID, Recording], now: datetime | None) -> Resolved:
    if isinstance(expression, Order):
        raise TypeError("an order has no place before its event is located")
    if isinstance(expression, Clocked):
        if _by_wall_clock(expression, recordings, now):
            days = resolve_every(expression, recordings) if expression.part and expression.part.every else []
            if days:
                return in_stretches([Stretch(meaning, parts) for meaning, parts in days])
            parts, meaning, applied = resolve_wall(expression, recordings, now)
            on_wall = replace(in_stretches([Stretch(meaning, parts)]), applied=applied)
            return on_wall if on_wall.applied else _day_of_video(expression, recordings) or on_wall
        start_ms, end_ms = _video_times(expression)
        return _offset(start_ms, end_ms, recordings)
    if isinstance(expression, Offset):
        return _offset(expression.start_ms, expression.end_ms, recordings)
    named = {video_id: _part(expression, recording.until_ms) for video_id, recording in recordings.items()}
    part_of = {video_id: part for video_id, part in named.items() if part is not None}
    if isinstance(expression, Edge):
        otherwise = f"the {expression.edge} {clock(expression.ms, hours=True)}"
    else:
        otherwise = f"{expression.start}/{expression.of} to {expression.end}/{expression.of}"
    return Resolved(part_of, _meaning(part_of, recordings, otherwise))


def _day_of_video(time: Clocked, recordings: Mapping[UUID, Recording]) -> Resolved | None:
    """Return the nth 24 hours of videos that nobody knows the clock of; None for other times, and if none is so long.

    The second day of a film of two hours is a day of its story.
    """
    if time.kind != "day" or time.part is not None or time.day is None or not time.day.nth:
        return None
    longest = max((recording.until_ms for recording in recordings.values()), default=0)
    nth = time.day.nth if time.day.nth > 0 else (longest - 1) // DAY_MS + 1
    if nth < 2 or longest <= (nth - 1) * DAY_MS:
        return None
    return _offset((nth - 1) * DAY_MS, nth * DAY_MS, recordings)


def _by_wall_clock(time: Clocked, recordings: Mapping[UUID, Recording], now: datetime | None) -> bool:
    """Whether figures are of the wall clock rather than of the video's own time.

    Figures without a day or "pm" can be both. Those of the video's time win, except for two figures, such as 14:05,
    with hours above twelve or in a video of more than an hour, at a time that was filmed: the time in such a video has
    three figures.
    """
    if time.frame != "any":
        return time.frame != "video"
    figures = [each for each in (time.start, time.end) if each is not None]
    start_ms, _ = _video_times(time)
    longest = max((recording.until_ms for recording in recordings.values()), default=0)
    inside = start_ms < longest
    clocked = not all(0 <= r.parts[0] <= 24 for r in figures) or any(r.clock is None for r in recordings.values())
    if clocked and all(recording.clock is None for recording in recordings.values()):
        return False
    filmed = bool(all(r.parts[0] <= 24 for r in figures) and resolve_wall(time, recordings, now)[0])
    if not inside:
        return filmed
    two = all(len(each.parts) == 2 for each in figures)
    return filmed and two and (longest > HOUR_MS or any(each.parts[0] > 12 for each in figures))


def _video_times(time: Clocked) -> tuple[int, int | None]:
    start = _ms(time.start) if time.start is not None else 0
    if time.kind == "at":
        return (max(0, start - ABOUT_MS), start + ABOUT_MS) if time.about else (start, start + SECOND_MS)
    if time.kind == "since" or time.end is None:
        return start, None
    return start, max(_ms(time.end), start + SECOND_MS)


def _ms(time: ClockTime) -> int:
    """Return figures of a video's own time: 1:23:45 in hours, 1:23 in minutes."""
    hours, minutes, seconds = (0, *time.parts)[-3:] if len(time.parts) > 1 else (time.parts[0], 0, 0)
    return ((hours * 60 + minutes) * 60 + seconds) * SECOND_MS


def _offset(start_ms: int, end_ms: int | None, recordings: Mapping[UUID, Recording]) -> Resolved:
    spans = {}
    for video_id, recording in recordings.items():
        until_ms = recording.until_ms if end_ms is None else min(end_ms, recording.until_ms)
        if start_ms < until_ms:
            spans[video_id] = Span(start_ms, until_ms)
    end = "the end" if end_ms is None else clock(end_ms, hours=True)
    moment = end_ms is not None and end_ms - start_ms <= SECOND_MS
    asked = clock(start_ms, hours=True) if moment else f"{clock(start_ms, hours=True)} to {end}"
    return Resolved(spans, f"{asked} of {_videos(recordings)}")


def _part(part: Edge | Fraction, until_ms: int) -> Span | None:
    """Return a part of a video of that length; None if it is empty."""
    if isinstance(part, Edge):
        start_ms = 0 if part.edge == "first" else max(0, until_ms - part.ms)
        end_ms = min(part.ms, until_ms) if part.edge == "first" else until_ms
    else:
        start_ms, end_ms = until_ms * part.start // part.of, until_ms * part.end // part.of
        if part.most_ms and not start_ms:
            end_ms = min(end_ms, part.most_ms)
        elif part.most_ms:
            start_ms = max(start_ms, end_ms - part.most_ms)
    return Span(start_ms, end_ms) if start_ms < end_ms else None


def _meaning(spans: Mapping[UUID, Span], recordings: Mapping[UUID, Recording], otherwise: str) -> str:
    distinct = set(spans.values())
    if len(distinct) != 1:
        return f"{otherwise} of {_videos(recordings)}"
    (span,) = distinct
    return f"{clock(span.start_ms, hours=True)} to {clock(span.end_ms, hours=True)} of {_videos(recordings)}"


def _videos(recordings: Mapping[UUID, Recording]) -> str:
    return "the video" if len(recordings) == 1 else "each video"

"""Where the named times lie in the recordings of a scope, and the step that narrows a question to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.reading.anchors import order_spans
from gpu_workers.engine.answering.reading.forms import HOUR_MS, SECOND_MS, Clocked, Edge, Form, Fraction, NamedTime
from gpu_workers.engine.answering.reading.wall import on_the_wall
from gpu_workers.engine.answering.understood import ChosenBy, Stretch, UnderstoodTime
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import Recording
from gpu_workers.engine.retrieval.stretches import stretches_of

NOT_PLACED = "not used, because nothing says when the video was recorded"

ABOUT_MS = 30_000
"""Half the width of "around 12:30" of a video's own time."""

MOST_SPANS = 31
"""Maximum number of spans of one video that are read one by one; of more, all that lies between is read as well."""


def narrow_to_time(asked: Asked, calls: Calls, named: NamedTime, *, chosen_by: ChosenBy, searched: str) -> Asked:
    """Return asked with the time that its question names, and with its graph narrowed to it; without one, as it is.

    searched: the words of the search without that time. A time that lies outside every video narrows the graph to
    nothing. Nothing is narrowed if nothing says when the videos were recorded, or if the event that an order names was
    not found, and the meaning says so. May raise Halt.
    """
    if not named.forms:
        return asked
    if named.order is None:
        stretches = resolve(named.forms, asked.recordings or asked.graph.recordings(), asked.question.now)
        whole = {video_id: (span,) for video_id, span in asked.graph.extents().items()}
        otherwise = Stretch(f'"{named.words}": {NOT_PLACED}', whole)
    else:
        try:
            spans, meaning = order_spans(asked, calls, named.order)
        except ModelError:
            spans, meaning = {}, ""
        stretches = (Stretch(meaning, spans),) if meaning else ()
        missing = (
            f'{named.order.order} "{named.order.anchor}": no such event was found, so all of the video was searched'
        )
        otherwise = Stretch(missing, {})
    time = understood_time(named, stretches or (otherwise,), chosen_by=chosen_by)
    if not stretches:
        return replace(asked, understood=replace(asked.understood, time=time))
    return replace(
        asked,
        graph=stretches_of(asked.graph, time.read_spans()),
        searched=searched,
        understood=replace(asked.understood, time=time, searched=searched),
    )


def understood_time(named: NamedTime, stretches: Sequence[Stretch], *, chosen_by: ChosenBy) -> UnderstoodTime:
    """Return the stretches as what was understood of a named time. stretches: at least one, disjoint."""
    own: dict[UUID, list[Span]] = {}
    for stretch in stretches:
        for video_id, spans in stretch.spans.items():
            own.setdefault(video_id, []).extend(spans)
    most = max(map(len, own.values()), default=0)
    several = max(most, len(stretches)) > 1 and most <= MOST_SPANS
    meaning = "; ".join(dict.fromkeys(stretch.meaning for stretch in stretches))
    return UnderstoodTime(
        named.words,
        f"{meaning}; with everything between" if most > MOST_SPANS else meaning,
        {
            video_id: Span(min(span.start_ms for span in spans), max(span.end_ms for span in spans))
            for video_id, spans in sorted(own.items())
        },
        order=named.order.order if named.order else "",
        anchor=named.order.anchor if named.order else "",
        chosen_by=chosen_by,
        stretches=tuple(stretches) if several else (),
    )


def resolve(forms: Sequence[Form], recordings: Mapping[UUID, Recording], now: datetime | None) -> tuple[Stretch, ...]:
    """Return where the times lie, disjoint: times that overlap are one stretch. A time outside every video is a stretch
    without spans; the result is empty if nothing says when the recordings were made.

    Raises TypeError for an Order, which needs an event to be located first. now: aware; None counts days from the end
    of the latest recording.
    """
    found: list[Stretch] = []
    for stretch in (stretch for form in forms for stretch in _place(form, recordings, now)):
        overlapping = [other for other in found if _overlap(other, stretch)]
        found = [other for other in found if other not in overlapping]
        found.append(_union([*overlapping, stretch]))
    return tuple(found)


def _overlap(one: Stretch, other: Stretch) -> bool:
    return any(a.overlaps(b) for video_id, own in one.spans.items() for a in own for b in other.spans.get(video_id, ()))


def _union(stretches: Sequence[Stretch]) -> Stretch:
    """Return several stretches as one, with spans that touch each other joined."""
    spans: dict[UUID, tuple[Span, ...]] = {}
    for video_id in sorted({video_id for stretch in stretches for video_id in stretch.spans}):
        joined: list[Span] = []
        for span in sorted(span for stretch in stretches for span in stretch.spans.get(video_id, ())):
            if joined and span.start_ms <= joined[-1].end_ms:
                before = joined.pop()
                span = Span(before.start_ms, max(before.end_ms, span.end_ms))
            joined.append(span)
        spans[video_id] = tuple(joined)
    return Stretch("; ".join(dict.fromkeys(stretch.meaning for stretch in stretches)), spans)


def _place(form: Form, recordings: Mapping[UUID, Recording], now: datetime | None) -> Sequence[Stretch]:
    if isinstance(form, Clocked):
        if _by_wall_clock(form, recordings, now):
            return on_the_wall(form, recordings, now) or ()
        start_ms, end_ms = _video_times(form)
        until = "the end" if end_ms is None else clock(end_ms, hours=True)
        moment = end_ms is not None and end_ms - start_ms <= SECOND_MS
        text = clock(start_ms, hours=True) if moment else f"{clock(start_ms, hours=True)} to {until}"
        named = {video_id: (start_ms, end_ms or each.until_ms) for video_id, each in recordings.items()}
    elif isinstance(form, (Edge, Fraction)):
        text = f"the {form.edge} {clock(form.ms, hours=True)}" if isinstance(form, Edge) else str(form)
        named = {video_id: _part(form, each.until_ms) for video_id, each in recordings.items()}
        if len(set(named.values())) == 1:
            text = " to ".join(clock(ms, hours=True) for ms in next(iter(named.values())))
    else:
        raise TypeError("an order has no place before its event is located")
    spans = {
        video_id: (Span(start_ms, min(end_ms, recordings[video_id].until_ms)),)
        for video_id, (start_ms, end_ms) in named.items()
        if start_ms < min(end_ms, recordings[video_id].until_ms)
    }
    return [Stretch(f"{text} of {'the video' if len(recordings) == 1 else 'each video'}", spans)]


def _by_wall_clock(time: Clocked, recordings: Mapping[UUID, Recording], now: datetime | None) -> bool:
    """Whether figures are of the wall clock rather than of the video's own time.

    Figures without a day or "pm" can be both. Those of the video's time win, except for two figures, such as 14:05,
    with hours above twelve or in a video of more than an hour, at a time that was filmed: the time in such a video has
    three figures.
    """
    if time.frame != "any":
        return time.frame != "video"
    filmed = on_the_wall(time, recordings, now)
    if not filmed or not filmed[0].spans:
        return False
    figures = [each for each in (time.start, time.end) if each is not None]
    longest = max(recording.until_ms for recording in recordings.values())
    two = all(len(each.parts) == 2 for each in figures)
    return two and (
        _video_times(time)[0] >= longest or longest > HOUR_MS or any(each.parts[0] > 12 for each in figures)
    )


def _video_times(time: Clocked) -> tuple[int, int | None]:
    start = time.start.ms if time.start is not None else 0
    if time.kind == "at":
        return (max(0, start - ABOUT_MS), start + ABOUT_MS) if time.about else (start, start + SECOND_MS)
    return start, None if time.end is None else max(time.end.ms, start + SECOND_MS)


def _part(part: Edge | Fraction, until_ms: int) -> tuple[int, int]:
    """Return start and end of a part of a video of that length."""
    if isinstance(part, Edge):
        return (0, min(part.ms, until_ms)) if part.edge == "first" else (max(0, until_ms - part.ms), until_ms)
    start_ms, end_ms = until_ms * part.start // part.of, until_ms * part.end // part.of
    if part.most_ms and not start_ms:
        return start_ms, min(end_ms, part.most_ms)
    return (max(start_ms, end_ms - part.most_ms) if part.most_ms else start_ms), end_ms

"""The functions over time and sets that a program may call. They read places of events, no texts, and ask no model.

Spans are half-open: an event that begins where another ends comes after it and does not overlap it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from gpu_workers.engine.answering.methods.ravu.values import (
    Frames,
    Moment,
    Moments,
    NumberValue,
    Run,
    TextValue,
    Things,
    in_time,
    place_of,
)
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import CHUNK_MS, Span
from gpu_workers.engine.ports import EventPlace, StoredFrame
from gpu_workers.engine.retrieval.frames import ROWS

MOST_VIDEOS = 16
"""Maximum number of videos that one step reads the time of, in order of id."""

FIRST_WINDOW_MS = 600_000
LONGEST_WINDOW_MS = ROWS * CHUNK_MS
"""Longest window of time whose events fit into one read."""
MOST_WINDOWS = 16
"""Maximum number of windows that a step reads backward: more than a day."""

MOST_DESCRIBED = 10
DESCRIBED_TOKENS = 120
"""Maximum tokens of one thing or event in a description."""


# --- time ------------------------------------------------------------------------------------------------------------


def after(run: Run, of: Moments, most: int, things: Things | None) -> Moments:
    """Return the events that begin at or after the end of the earliest of `of` in their video, nearest first.

    things: only events in which one of these takes part.
    """
    return _next_to(run, of, most, things, later=True)


def before(run: Run, of: Moments, most: int, things: Things | None) -> Moments:
    """Return the events that end at or before the start of the latest of `of` in their video, nearest first."""
    return _next_to(run, of, most, things, later=False)


def _next_to(run: Run, of: Moments, most: int, things: Things | None, *, later: bool) -> Moments:
    taking_part = events_with(run, things) if things is not None else None
    found: list[tuple[int, UUID, EventPlace]] = []
    for video_id, places in _by_video(run, of.items).items():
        if later:
            edge = min(places, key=lambda place: (place.span, place.event_id)).span.end_ms
        else:
            edge = max(places, key=lambda place: (place.span, place.event_id)).span.start_ms
        candidates: Sequence[EventPlace]
        if taking_part is not None:
            candidates = [place for place in taking_part if place.video_id == video_id]
        else:
            candidates = _following(run, video_id, edge, most) if later else _preceding(run, video_id, edge, most)
        for place in candidates:
            distance = place.span.start_ms - edge if later else edge - place.span.end_ms
            if distance >= 0:
                found.append((distance, place.event_id, place))
    return Moments(tuple(Moment(place) for _, _, place in sorted(found, key=lambda item: item[:2])[:most]))


def _following(run: Run, video_id: UUID, edge: int, most: int) -> Sequence[EventPlace]:
    extent = run.toolbox.extents.get(video_id)
    if extent is None or extent.end_ms <= edge:
        return ()
    # An event may lie across the edge.
    return run.graph.events_between(video_id, Span(edge, extent.end_ms), limit=most + 1)


def _preceding(run: Run, video_id: UUID, edge: int, most: int) -> Sequence[EventPlace]:
    """Return the events that end before edge, at least the last `most`. The store lists events forward in time, so
    windows are read backward, each longer than the one before."""
    extent = run.toolbox.extents.get(video_id)
    found: dict[UUID, EventPlace] = {}
    end, window = edge, FIRST_WINDOW_MS
    for _ in range(MOST_WINDOWS):
        start = max(extent.start_ms, end - window) if extent is not None else end
        if start >= end or len(found) >= most:
            break
        places = run.graph.events_between(video_id, Span(start, end), limit=ROWS)
        found |= {place.event_id: place for place in places if place.span.end_ms <= edge}
        end, window = start, min(4 * window, LONGEST_WINDOW_MS)
    return list(found.values())


def between(run: Run, a: Moments, b: Moments) -> Moments:
    """Return the events after the earliest of a and before the latest of b, per video, in order of time."""
    found: list[EventPlace] = []
    ends = _by_video(run, b.items)
    for video_id, places in _by_video(run, a.items).items():
        start = min(place.span for place in places).end_ms
        end = max((place.span for place in ends.get(video_id, ())), default=Span(0, 1)).start_ms
        if start < end:
            events = run.graph.events_between(video_id, Span(start, end), limit=ROWS)
            found += [place for place in events if start <= place.span.start_ms and place.span.end_ms <= end]
    return Moments(in_time(map(Moment, found)))


def during(run: Run, of: Moments | Things) -> Moments:
    """Return the events that overlap the time of these moments or things, in order of time."""
    if isinstance(of, Things):
        spans = [(place.video_id, place.span) for place in events_with(run, of)]
    else:
        spans = [(moment.place.video_id, moment.place.span) for moment in of.items]
    return Moments(in_time(map(Moment, _overlapping(run, spans))))


def first(run: Run, of: Moments) -> Moments:
    """Return the earliest of these; of equals the one with the smaller id."""
    return Moments(tuple(sorted(of.items, key=lambda m: (m.place.span.start_ms, m.place.event_id))[:1]))


def last(run: Run, of: Moments) -> Moments:
    """Return the latest of these; of equals the one with the smaller id."""
    return Moments(tuple(sorted(of.items, key=lambda m: (-m.place.span.start_ms, m.place.event_id))[:1]))


# --- things in time --------------------------------------------------------------------------------------------------


def events_of(run: Run, of: Things) -> Moments:
    """Return the events in which one of these things takes part, in order of time."""
    return Moments(in_time(map(Moment, events_with(run, of))))


def track(run: Run, of: Things) -> Moments:
    """Return the events in which these are to be seen; an object's with the middle of the time it is visible there."""
    visible: dict[UUID, list[Span]] = {}
    for thing in of.items:
        visible.setdefault(thing.video_id, []).extend(thing.spans)
    moments = []
    for place in events_with(run, of):
        seen = [span for span in visible.get(place.video_id, ()) if span.overlaps(place.span)]
        inside = [(max(s.start_ms, place.span.start_ms), min(s.end_ms, place.span.end_ms)) for s in seen]
        start, end = max(inside, key=lambda part: part[1] - part[0], default=(0, 0))
        moments.append(Moment(place, ms=(start + end) // 2 if inside else None))
    return Moments(in_time(moments))


def events_with(run: Run, things: Things) -> list[EventPlace]:
    """Return the events in which one of these takes part: an entity by its mentions, an object where it is visible for
    at least 1 ms."""
    found: list[EventPlace] = []
    if entities := things.ids("entity"):
        found += run.graph.events_of(entities, limit=ROWS)
    spans = [(thing.video_id, span) for thing in things.items for span in thing.spans]
    found += _overlapping(run, spans)
    return list({place.event_id: place for place in found}.values())


def _overlapping(run: Run, spans: Iterable[tuple[UUID, Span]]) -> list[EventPlace]:
    """Return the events that overlap one of the spans: one read per video."""
    by_video: dict[UUID, list[Span]] = {}
    for video_id, span in spans:
        by_video.setdefault(video_id, []).append(span)
    found: list[EventPlace] = []
    for video_id in run.within_reach(by_video, MOST_VIDEOS):
        inside = by_video[video_id]
        whole = Span(min(span.start_ms for span in inside), max(span.end_ms for span in inside))
        places = run.graph.events_between(video_id, whole, limit=ROWS)
        found += [place for place in places if any(place.span.overlaps(span) for span in inside)]
    return found


def _by_video(run: Run, moments: Iterable[Moment]) -> dict[UUID, list[EventPlace]]:
    by_video: dict[UUID, list[EventPlace]] = {}
    for moment in moments:
        by_video.setdefault(moment.place.video_id, []).append(moment.place)
    return {video_id: by_video[video_id] for video_id in run.within_reach(by_video, MOST_VIDEOS)}


# --- sets ------------------------------------------------------------------------------------------------------------


def union(run: Run, a: Moments | Things, b: Moments | Things) -> Moments | Things:
    if isinstance(a, Things) and isinstance(b, Things):
        return Things(tuple({thing.id: thing for thing in (*a.items, *b.items)}.values()))
    return Moments(in_time((*_moments(a), *_moments(b))))


def intersect(run: Run, a: Moments | Things, b: Moments | Things) -> Moments | Things:
    return _kept(a, b, lambda here: here)


def minus(run: Run, a: Moments | Things, b: Moments | Things) -> Moments | Things:
    return _kept(a, b, lambda here: not here)


def _kept(a: Moments | Things, b: Moments | Things, keep: Callable[[bool], bool]) -> Moments | Things:
    """Return the items of a, in their order, of which keep(whether b has it too) is true."""
    if isinstance(a, Things) and isinstance(b, Things):
        ids = {thing.id for thing in b.items}
        return Things(tuple(thing for thing in a.items if keep(thing.id in ids)))
    events = {moment.place.event_id for moment in _moments(b)}
    return Moments(tuple(moment for moment in _moments(a) if keep(moment.place.event_id in events)))


def _moments(value: Moments | Things) -> tuple[Moment, ...]:
    """Return the items of a value that the check has shown to be moments."""
    return value.items if isinstance(value, Moments) else ()


# --- results ---------------------------------------------------------------------------------------------------------


def count(run: Run, of: Moments | Things) -> NumberValue:
    """Return how many there are. Only objects that are surely different things are counted exactly: entities go by
    words, and events were found by similarity. After a cut no number is exact."""
    sure = isinstance(of, Things) and all(thing.kind == "object" and thing.sure for thing in of.items)
    return NumberValue(len(of.items), about=bool(run.limits) or not sure, of=of)


def describe(run: Run, of: Moments | Things) -> TextValue:
    """Return the first MOST_DESCRIBED of these in words, a line each."""
    if isinstance(of, Things):
        return TextValue("\n".join(as_data(thing.words) for thing in of.items[:MOST_DESCRIBED]), of)
    events = run.toolbox.load(list(of.event_ids[:MOST_DESCRIBED]))
    return TextValue("\n".join(run.toolbox.event_words(event, DESCRIBED_TOKENS) for event in events), of)


def frames(run: Run, of: Moments, most: int) -> Frames:
    """Return at most `most` pictures of the first `most` of these events, an equal share of each, in order of time.

    A moment with a time of its own gives the frame nearest to it first.
    """
    chosen = of.items[:most]
    by_event: dict[UUID, list[StoredFrame]] = {}
    for frame in run.graph.frames_of([moment.place.event_id for moment in chosen], limit=ROWS):
        by_event.setdefault(frame.event_id, []).append(frame)
    seen = [moment for moment in chosen if moment.place.event_id in by_event]
    picked: dict[UUID, StoredFrame] = {}
    for n, moment in enumerate(seen):
        share = most // len(seen) + (n < most % len(seen))
        for frame in _share(by_event[moment.place.event_id], moment.ms, share):
            picked[frame.id] = frame
    return Frames(tuple(sorted(picked.values(), key=lambda frame: (frame.video_id, frame.ms))))


def _share(owned: Sequence[StoredFrame], ms: int | None, share: int) -> Sequence[StoredFrame]:
    """Return share of an event's frames, evenly spread, or first the one nearest to ms."""
    if ms is None:
        return middles(owned, share)
    nearest = min(owned, key=lambda frame: (abs(frame.ms - ms), frame.ms))
    return [nearest, *middles([frame for frame in owned if frame.id != nearest.id], share - 1)]


def middles(frames: Sequence[StoredFrame], most: int) -> Sequence[StoredFrame]:
    """Return at most `most` of the frames: the middle one of each of as many equal parts."""
    if len(frames) <= most:
        return frames
    return [frames[(2 * part + 1) * len(frames) // (2 * most)] for part in range(most)]


def moments_of(run: Run, event_ids: Sequence[UUID], scores: dict[UUID, float]) -> Moments:
    """Return the events as moments, in the order of event_ids."""
    loaded = run.graph.load_events(event_ids)
    return Moments(tuple(Moment(place_of(loaded[key]), scores.get(key, 0.0)) for key in event_ids if key in loaded))

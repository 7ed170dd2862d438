"""The functions that a program may call: those over time and sets, and the table of all.

They read places of events and ask no model. Spans are half-open: an event that begins where another ends comes after it
and does not overlap it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar
from uuid import UUID

from gpu_workers.engine.answering.methods.ravu.finding import RELATIONS, filter_moments, localize, neighbors
from gpu_workers.engine.answering.methods.ravu.values import (
    Frames,
    Moment,
    Moments,
    NumberValue,
    Run,
    TextValue,
    Things,
    Value,
    in_time,
    place_of,
)
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import EventPlace, StoredFrame
from gpu_workers.engine.retrieval.frames import ROWS

Group = TypeVar("Group", Moments, Things)

MOST_DESCRIBED = 10
DESCRIBED_TOKENS = 120
"""Maximum tokens of one event in a description."""

MOST_FRAMES = 10
"""Maximum number of frames that a program may choose (RAVU, arXiv 2505.03173: 5 to 10)."""
MOST_AFTER = 10
"""Maximum number of events that `after` or `before` may return."""


# --- time ------------------------------------------------------------------------------------------------------------


def after(run: Run, of: Moments, things: Things | None, most: int) -> Moments:
    """Return the events that begin at or after the end of the earliest of `of` in their video, nearest first.

    things: only events in which one of these takes part.
    """
    return _next_to(run, of, things, most, later=True)


def before(run: Run, of: Moments, things: Things | None, most: int) -> Moments:
    """Return the events that end at or before the start of the latest of `of` in their video, nearest first."""
    return _next_to(run, of, things, most, later=False)


def _next_to(run: Run, of: Moments, things: Things | None, most: int, *, later: bool) -> Moments:
    outermost = min if later else max
    edges = {
        video_id: outermost(places, key=lambda place: (place.span, place.event_id))
        for video_id, places in _by_video(run, of.items).items()
    }
    if things is not None:
        candidates: Sequence[EventPlace] = _events_with(run, things)
    else:
        candidates = _following(run, [edge.event_id for edge in edges.values()], most, later=later)
    found = []
    for place in candidates:
        if edge := edges.get(place.video_id):
            span = edge.span
            distance = place.span.start_ms - span.end_ms if later else span.start_ms - place.span.end_ms
            found += [(distance, place.event_id, place)] if distance >= 0 else []
    return Moments(tuple(Moment(place) for *_, place in sorted(found, key=lambda item: item[:2])[:most]))


def _following(run: Run, event_ids: Sequence[UUID], most: int, *, later: bool) -> list[EventPlace]:
    """Return the next `most` events after each of these, or before each."""
    found: list[UUID] = []
    for _ in range(most):
        event_ids = list((run.graph.next_events if later else run.graph.previous_events)(event_ids).values())
        found += event_ids
    return [place_of(event) for event in run.toolbox.load(found)]


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
    return in_time(map(Moment, found))


def during(run: Run, of: Moments | Things) -> Moments:
    """Return the events that overlap the time of these moments or things, in order of time."""
    places = _events_with(run, of) if isinstance(of, Things) else [moment.place for moment in of.items]
    return in_time(map(Moment, _overlapping(run, ((place.video_id, place.span) for place in places))))


def first(run: Run, of: Moments) -> Moments:
    """Return the earliest of these, by id among equals."""
    return Moments(tuple(sorted(of.items, key=lambda m: (m.place.span.start_ms, m.id))[:1]))


def last(run: Run, of: Moments) -> Moments:
    """Return the latest of these, by id among equals."""
    return Moments(tuple(sorted(of.items, key=lambda m: (-m.place.span.start_ms, m.id))[:1]))


# --- things in time --------------------------------------------------------------------------------------------------


def events_of(run: Run, of: Things) -> Moments:
    """Return the events in which one of these things takes part, in order of time."""
    return in_time(map(Moment, _events_with(run, of)))


def track(run: Run, of: Things) -> Moments:
    """Return the events in which these are to be seen; an object's with the middle of the time it is visible there."""
    moments = []
    for place in _events_with(run, of):
        inside = [
            (max(span.start_ms, place.span.start_ms), min(span.end_ms, place.span.end_ms))
            for thing in of.items
            for span in thing.spans
            if thing.video_id == place.video_id and span.overlaps(place.span)
        ]
        start, end = max(inside, key=lambda part: part[1] - part[0], default=(0, 0))
        moments.append(Moment(place, ms=(start + end) // 2 if inside else None))
    return in_time(moments)


def _events_with(run: Run, things: Things) -> list[EventPlace]:
    """Return the events in which one of these takes part: an entity by its mentions, an object where it is visible for
    at least 1 ms."""
    found = list(run.graph.events_of(things.entity_ids, limit=ROWS)) if things.entity_ids else []
    found += _overlapping(run, ((thing.video_id, span) for thing in things.items for span in thing.spans))
    return list({place.event_id: place for place in found}.values())


def _overlapping(run: Run, spans: Iterable[tuple[UUID, Span]]) -> list[EventPlace]:
    """Return the events that overlap one of the spans: one read per video."""
    by_video: dict[UUID, list[Span]] = defaultdict(list)
    for video_id, span in spans:
        by_video[video_id].append(span)
    found: list[EventPlace] = []
    for video_id in run.first_videos(by_video):
        inside = by_video[video_id]
        whole = Span(min(span.start_ms for span in inside), max(span.end_ms for span in inside))
        places = run.graph.events_between(video_id, whole, limit=ROWS)
        found += [place for place in places if any(place.span.overlaps(span) for span in inside)]
    return found


def _by_video(run: Run, moments: Iterable[Moment]) -> dict[UUID, list[EventPlace]]:
    by_video: dict[UUID, list[EventPlace]] = defaultdict(list)
    for moment in moments:
        by_video[moment.place.video_id].append(moment.place)
    return {video_id: by_video[video_id] for video_id in run.first_videos(by_video)}


# --- sets ------------------------------------------------------------------------------------------------------------


def union(run: Run, a: Group, b: Group) -> Group:
    if isinstance(a, Moments) and isinstance(b, Moments):
        return in_time((*a.items, *b.items))
    return type(a)(tuple({item.id: item for item in (*a.items, *b.items)}.values()))


def intersect(run: Run, a: Group, b: Group) -> Group:
    return _kept(a, b, shared=True)


def minus(run: Run, a: Group, b: Group) -> Group:
    return _kept(a, b, shared=False)


def _kept(a: Group, b: Group, *, shared: bool) -> Group:
    """Return the items of a, in their order, that b has too, or has not."""
    keys = {item.id for item in b.items}
    return type(a)(tuple(item for item in a.items if (item.id in keys) is shared))


# --- results ---------------------------------------------------------------------------------------------------------


def count(run: Run, of: Moments | Things) -> NumberValue:
    """Return how many there are. Only objects that are surely different things are counted exactly: entities go by
    words, and events were found by similarity. After a cut no number is exact."""
    sure = isinstance(of, Things) and all(thing.sure for thing in of.items)
    return NumberValue(len(of.items), about=bool(run.limits) or not sure, of=of)


def describe(run: Run, of: Moments | Things) -> TextValue:
    """Return the first MOST_DESCRIBED of these in words, a line each."""
    if isinstance(of, Things):
        return TextValue("\n".join(thing.words for thing in of.items[:MOST_DESCRIBED]), of)
    events = run.toolbox.load(of.event_ids[:MOST_DESCRIBED])
    return TextValue("\n".join(run.toolbox.event_words(event, DESCRIBED_TOKENS) for event in events), of)


def frames(run: Run, of: Moments, most: int) -> Frames:
    """Return at most `most` pictures of the first `most` of these events, an equal share of each, in order of time.

    A moment with a time of its own gives the frame nearest to it first.
    """
    by_event: dict[UUID, list[StoredFrame]] = defaultdict(list)
    for frame in run.graph.frames_of(of.event_ids[:most], limit=ROWS):
        by_event[frame.event_id].append(frame)
    seen = [moment for moment in of.items[:most] if moment.id in by_event]
    picked: list[StoredFrame] = []
    for n, moment in enumerate(seen):
        owned, share = by_event[moment.id], most // len(seen) + (n < most % len(seen))
        if moment.ms is not None:
            at = moment.ms
            nearest = min(owned, key=lambda frame: (abs(frame.ms - at), frame.ms))
            picked.append(nearest)
            owned, share = [frame for frame in owned if frame.id != nearest.id], share - 1
        picked += middles(owned, share)
    return Frames(tuple(sorted(picked, key=lambda frame: (frame.video_id, frame.ms))))


def middles(frames: Sequence[StoredFrame], most: int) -> Sequence[StoredFrame]:
    """Return at most `most` of the frames: the middle one of each of as many equal parts."""
    if len(frames) <= most:
        return frames
    return [frames[(2 * part + 1) * len(frames) // (2 * most)] for part in range(most)]


# --- the table -------------------------------------------------------------------------------------------------------

Type = Literal["things", "moments", "frames", "number", "text"]
"""Type of a step's value. things: entities or tracked objects; moments: events."""

TARGETS = ("event", "frame", "entity", "object")
"""What `localize` can find: moments (events, pictures) or things (entities by words, tracked objects by category)."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function. kind: phrase takes words; number, a whole number from 1 to most; target, one of
    TARGETS; value, the value of an earlier step if it has one of types. default: the argument if none is given; None if
    the function then does without."""

    name: str
    kind: Literal["phrase", "number", "target", "value"]
    required: bool = True
    types: tuple[Type, ...] = ()
    most: int = 0
    default: str | int | None = None

    @property
    def form(self) -> str:
        """Return the parameter as a prompt writes it."""
        forms = {"phrase": "words", "number": f"1-{self.most}", "target": "|".join(TARGETS)}
        return f"{self.name}{'' if self.required else '?'}: {forms.get(self.kind, '|'.join(self.types))}"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the table. call: takes the run and the arguments in order. gives: type of its value; "same" is the
    type of its first argument, "what" is moments or things by its argument `what`. meaning: what it returns, for the
    prompt."""

    name: str
    call: Callable[..., Value]
    parameters: tuple[Parameter, ...]
    gives: Type | Literal["same", "what"]
    meaning: str

    def line(self) -> str:
        """Return the function as one line of a prompt."""
        gives = {"same": "the same", "what": "moments or things"}.get(self.gives, self.gives)
        return f"{self.name}({', '.join(parameter.form for parameter in self.parameters)}) -> {gives}: {self.meaning}"


_MOMENTS = Parameter("of", "value", types=("moments",))
_THINGS = Parameter("of", "value", types=("things",))
_ANY = Parameter("of", "value", types=("moments", "things"))
_PAIR = (Parameter("a", "value", types=_ANY.types), Parameter("b", "value", types=_ANY.types))
_NEXT = (
    _MOMENTS,
    Parameter("with", "value", required=False, types=("things",)),
    Parameter("most", "number", required=False, most=MOST_AFTER, default=3),
)
_WITHIN = Parameter("within", "value", required=False, types=("moments",))
_PHRASE = Parameter("phrase", "phrase")
_WHAT = Parameter("what", "target", required=False, default="event")
_RELATION = Parameter("relation", "phrase", required=False)
_BETWEEN = (Parameter("a", "value", types=("moments",)), Parameter("b", "value", types=("moments",)))
_SHOWN = Parameter("most", "number", required=False, most=MOST_FRAMES, default=8)
_PREDICATE = Parameter("predicate", "phrase")
_AFTER = "the next events after the earliest of these; with: only with these things"
_NEIGHBORS = f"what is related to these; relation: a verb, or {', '.join(RELATIONS)}"
_FILTER = "those of which the statement is true"

FUNCTIONS: Mapping[str, Function] = {
    function.name: function
    for function in (
        Function("localize", localize, (_PHRASE, _WHAT, _WITHIN), "what", "what fits the phrase best"),
        Function("after", after, _NEXT, "moments", _AFTER),
        Function("before", before, _NEXT, "moments", "the last events before the latest of these"),
        Function("between", between, _BETWEEN, "moments", "after a and before b"),
        Function("during", during, (_ANY,), "moments", "all events at the same time"),
        Function("first", first, (_MOMENTS,), "moments", "the earliest one"),
        Function("last", last, (_MOMENTS,), "moments", "the latest one"),
        Function("events_of", events_of, (_THINGS,), "moments", "events in which these take part"),
        Function("track", track, (_THINGS,), "moments", "where these are to be seen, over time"),
        Function("neighbors", neighbors, (_THINGS, _RELATION, _WITHIN), "things", _NEIGHBORS),
        Function("filter", filter_moments, (_MOMENTS, _PREDICATE), "moments", _FILTER),
        Function("union", union, _PAIR, "same", "a or b"),
        Function("intersect", intersect, _PAIR, "same", "both a and b"),
        Function("minus", minus, _PAIR, "same", "a but not b"),
        Function("count", count, (_ANY,), "number", "how many"),
        Function("describe", describe, (_ANY,), "text", "these in words"),
        Function("frames", frames, (_MOMENTS, _SHOWN), "frames", "pictures of these"),
    )
}
"""Every function that a program may call. The paper names only `localize_node`; the others are ours."""

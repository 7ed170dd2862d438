"""The object memory of a question's scope: what is tracked, when it is visible, and in which events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.tools.object_tables import (
    MAX_APPEARANCES,
    MAX_OBJECTS,
    ScopeObject,
    events_of_object,
)
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.observer.categories import moves_itself
from gpu_workers.engine.ports import EventPlace, StoredEvent, StoredObject

UNSURE = 0.7
"""Confidence below which an object may be another one seen again: its looks fit two objects, or one that it does not
join (indexing.objects)."""

CROWD = 12
"""Number of things that move by themselves from which their number is "about": tracks break where people cross."""

MAX_EVENTS = 100_000
"""Maximum number of events that are read to find those of the objects."""

LEAST_MS = 500
"""Time for which an object is visible in an event that shows it. An event that ends sooner hardly mentions it."""

SPANS_SHOWN = 4

LINE_TOKENS = 80
"""Tokens of an object's or an event's line, an upper estimate that leaves it out before it counts as seen."""

_PAGE = 4_096


class TooWide(Exception):
    """The scope has more objects or events than one question may copy. The message says what to do."""

    def __init__(self) -> None:
        super().__init__(
            f"The scope has more than {MAX_OBJECTS} objects, {MAX_APPEARANCES} appearances or {MAX_EVENTS} events. "
            "The object memory can be asked if the question names fewer videos or a time span."
        )


@dataclass(frozen=True)
class ObjectMemory:
    """The objects of a scope, each with its numbers. by_number: by n of O<n>."""

    objects: tuple[ScopeObject, ...]

    @cached_property
    def by_number(self) -> dict[int, ScopeObject]:
        return {shown.number: shown for shown in self.objects}

    @cached_property
    def event_ids(self) -> dict[int, UUID]:
        """Return the events with an object in them, by n of E<n>."""
        return {number: place.event_id for shown in self.objects for number, place in shown.events}


def read_memory(desk: Desk) -> ObjectMemory:
    """Read the objects in scope and give each of them, and each of their events, its number. Raises TooWide."""
    graph, sightings = desk.asked.graph, desk.sightings
    things = graph.objects(limit=MAX_OBJECTS + 1)
    if len(things) > MAX_OBJECTS or sum(len(thing.spans) for thing in things) > MAX_APPEARANCES:
        raise TooWide
    places: defaultdict[UUID, list[EventPlace]] = defaultdict(list)
    last, read = None, 0
    while things and (page := graph.timeline(after=last, limit=_PAGE)):
        for place in page:
            places[place.video_id].append(place)
        last, read = page[-1], read + len(page)
        if read > MAX_EVENTS:
            raise TooWide
    videos = {video_id: number for number, video_id in desk.videos.items()}
    seen_in = {thing.id: tuple(events_of_object(thing, places)) for thing in things if thing.spans}
    for place in sorted({place for events in seen_in.values() for place in events}, key=_in_time):
        sightings.keep_event(place.event_id)
    return ObjectMemory(
        tuple(
            ScopeObject(
                sightings.keep_object(thing.id),
                videos.get(thing.video_id, 0),
                thing,
                tuple((sightings.keep_event(place.event_id), place) for place in seen_in[thing.id]),
            )
            for thing in things
            if thing.id in seen_in
        )
    )


def moment_of(shown: ScopeObject) -> EventPlace | None:
    """Return the first event in which the object's first appearance lasts LEAST_MS, or else lasts longest; None without
    any event."""
    overlaps = [(_overlap(shown.thing.spans[0], place.span), place) for _, place in shown.events]
    enough = min(LEAST_MS, max((overlap for overlap, _ in overlaps), default=0))
    return next((place for overlap, place in overlaps if overlap >= enough), None)


def first_events(desk: Desk, things: Iterable[ScopeObject]) -> dict[UUID, StoredEvent]:
    """Return the events of the objects' first appearances by id, read at once. They do not count as seen by this."""
    places = (moment_of(shown) for shown in things)
    return {event.id: event for event in desk.load(place.event_id for place in places if place is not None)}


def object_line(desk: Desk, shown: ScopeObject, events: Mapping[UUID, StoredEvent]) -> tuple[str, UUID | None]:
    """Number the object and the event of its first appearance as seen. Return the object as a line, and that event.

    events: those of first_events().
    """
    thing, place = shown.thing, moment_of(shown)
    event = events.get(place.event_id) if place is not None else None
    spans = [desk.place(thing.video_id, span) for span in thing.spans[:SPANS_SHOWN]]
    if len(thing.spans) > SPANS_SHOWN:
        spans.append(f"and {len(thing.spans) - SPANS_SHOWN} more times")
    head = f"{desk.sightings.object(thing)} {as_data(f'{thing.colour} {thing.category}'.strip())}: {', '.join(spans)}"
    parts = [head, f"entered {thing.entries}, left {thing.exits}"]
    parts += [f"first in {desk.sightings.event(event)}"] if event else []
    parts += ["perhaps the same as another"] if thing.confidence < UNSURE else []
    return "; ".join(parts), event.id if event else None


def counted(things: Sequence[StoredObject]) -> str:
    """Return the number of the objects, with "about" where tracks may have counted one thing twice."""
    crowd = sum(moves_itself(thing.category) for thing in things) > CROWD
    return f"about {len(things)}" if crowd or any(thing.confidence < UNSURE for thing in things) else f"{len(things)}"


def _in_time(place: EventPlace) -> tuple[UUID, int]:
    return place.video_id, place.span.start_ms


def _overlap(left: Span, right: Span) -> int:
    return min(left.end_ms, right.end_ms) - max(left.start_ms, right.start_ms)

"""The values of a program's steps, and what the steps of one run share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from uuid import UUID

from gpu_workers.engine.answering.agent.object_tools import UNSURE, object_name
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import EventPlace, KnowledgeGraph, StoredEntity, StoredEvent, StoredFrame, StoredObject

THINGS_IN_WORDS = 5
MOST_VIDEOS = 16
"""Maximum number of videos in which one step reads, in order of id."""


@dataclass(frozen=True, slots=True)
class Moment:
    """An event, and the time in it that was found; None for the whole event. score: cosine of what found it."""

    place: EventPlace
    score: float = 0.0
    ms: int | None = None

    @property
    def id(self) -> UUID:
        return self.place.event_id


@dataclass(frozen=True, slots=True)
class Moments:
    items: tuple[Moment, ...] = ()

    @property
    def event_ids(self) -> tuple[UUID, ...]:
        return tuple(moment.id for moment in self.items)

    def in_words(self) -> str:
        return f"{len(self.items)} events"


@dataclass(frozen=True, slots=True)
class Thing:
    """An entity of the graph, or a tracked object. words: what it is, as data. stored: the object, None for an
    entity."""

    id: UUID
    video_id: UUID
    words: str
    stored: StoredObject | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return when an object is visible; () for an entity."""
        return self.stored.spans if self.stored is not None else ()

    @property
    def sure(self) -> bool:
        """Whether this is certainly one thing of its own: two entities may be one, since they go by words."""
        return self.stored is not None and self.stored.confidence >= UNSURE


@dataclass(frozen=True, slots=True)
class Things:
    items: tuple[Thing, ...] = ()

    @property
    def entity_ids(self) -> tuple[UUID, ...]:
        return tuple(thing.id for thing in self.items if thing.stored is None)

    @property
    def objects(self) -> tuple[StoredObject, ...]:
        return tuple(thing.stored for thing in self.items if thing.stored is not None)

    def in_words(self) -> str:
        named = "; ".join(thing.words for thing in self.items[:THINGS_IN_WORDS])
        return f"{len(self.items)} things: {named}" if named else "0 things"


@dataclass(frozen=True, slots=True)
class Frames:
    items: tuple[StoredFrame, ...] = ()

    def in_words(self) -> str:
        return f"{len(self.items)} frames"


@dataclass(frozen=True, slots=True)
class NumberValue:
    """A count. about: whether it is no exact number. of: what was counted."""

    value: int
    about: bool
    of: Moments | Things

    def in_words(self) -> str:
        noun = "event" if isinstance(self.of, Moments) else "thing"
        return f"{'about ' if self.about else ''}{self.value} {noun}{'' if self.value == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class TextValue:
    """A description. of: what it describes."""

    text: str
    of: Moments | Things

    def in_words(self) -> str:
        return self.text


Value = Moments | Things | Frames | NumberValue | TextValue


def is_empty(value: Value) -> bool:
    """Whether a step found nothing, so that no later step can find anything."""
    match value:
        case NumberValue(value=number):
            return number == 0
        case TextValue(text=text):
            return not text
        case _:
            return not value.items


def place_of(event: StoredEvent) -> EventPlace:
    return EventPlace(event.id, event.video_id, event.n, event.span)


def entity_thing(entity: StoredEntity) -> Thing:
    also = f", also {', '.join(entity.aliases)}" if entity.aliases else ""
    described = f": {entity.description}" if entity.description else ""
    return Thing(entity.id, entity.video_id, as_data(f"{entity.name} ({entity.type}){also}{described}"))


def object_thing(stored: StoredObject) -> Thing:
    return Thing(stored.id, stored.video_id, object_name(stored), stored)


def in_time(moments: Iterable[Moment]) -> Moments:
    """Return moments by video and time, each event once: its best."""
    best: dict[UUID, Moment] = {}
    for moment in moments:
        kept = best.get(moment.id)
        if kept is None or moment.score > kept.score:
            best[moment.id] = moment
    ordered = sorted(best.values(), key=lambda moment: (moment.place.video_id, moment.place.span, moment.place.n))
    return Moments(tuple(ordered))


@dataclass(slots=True)
class Run:
    """One run of a program.

    ranks: whether `localize` asks the reasoner which hits fit. calls_left: model calls that it may still make. holds:
    whether the budget has room for one more and for the answer. notes: what was cut or could not be asked in the
    current step, in words, for the record. limits: those of all steps that make a number uncertain. checks_relations:
    whether written relations are checked against frames.
    """

    toolbox: Toolbox
    ranks: bool
    calls_left: int
    holds: Callable[[], bool]
    notes: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    checks_relations: bool = False

    @property
    def graph(self) -> KnowledgeGraph:
        return self.toolbox.asked.graph

    def take_call(self) -> bool:
        """Whether one more model call may be made; it is then counted."""
        if self.calls_left < 1 or not self.holds():
            return False
        self.calls_left -= 1
        return True

    def first_videos(self, videos: Iterable[UUID]) -> list[UUID]:
        """Return at most MOST_VIDEOS of the videos, in order of id; note whether some were left out."""
        ordered = sorted(set(videos))
        if len(ordered) > MOST_VIDEOS:
            self.limit(f"read {MOST_VIDEOS} of {len(ordered)} videos")
        return ordered[:MOST_VIDEOS]

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def limit(self, text: str) -> None:
        """Note what makes every number of this program uncertain."""
        self.note(text)
        if text not in self.limits:
            self.limits.append(text)

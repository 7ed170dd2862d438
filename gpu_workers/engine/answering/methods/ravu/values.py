"""The values of a program's steps (moments, things, frames, a count, a description), and what the functions of one run
share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from gpu_workers.engine.answering.agent.object_tools import UNSURE
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import EventPlace, KnowledgeGraph, StoredEntity, StoredEvent, StoredFrame, StoredObject


@dataclass(frozen=True, slots=True)
class Moment:
    """An event, and the time in it that was found; None for the whole event. score: cosine of what found it."""

    place: EventPlace
    score: float = 0.0
    ms: int | None = None


@dataclass(frozen=True, slots=True)
class Thing:
    """An entity of the graph, or a tracked object. words: what it is. stored: the object as stored,
    None for an entity. sure: whether it is certainly one thing: entities go by words, so two of them may be one."""

    id: UUID
    kind: Literal["entity", "object"]
    video_id: UUID
    words: str
    stored: StoredObject | None = None
    sure: bool = False

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return when an object is visible; () for an entity."""
        return self.stored.spans if self.stored is not None else ()


@dataclass(frozen=True, slots=True)
class Moments:
    items: tuple[Moment, ...] = ()

    @property
    def event_ids(self) -> tuple[UUID, ...]:
        return tuple(moment.place.event_id for moment in self.items)


@dataclass(frozen=True, slots=True)
class Things:
    items: tuple[Thing, ...] = ()

    def ids(self, kind: Literal["entity", "object"]) -> tuple[UUID, ...]:
        return tuple(thing.id for thing in self.items if thing.kind == kind)


@dataclass(frozen=True, slots=True)
class Frames:
    items: tuple[StoredFrame, ...] = ()


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


Value = Moments | Things | Frames | NumberValue | TextValue


def is_empty(value: Value) -> bool:
    """Whether a step found nothing, so that no later step can find anything."""
    match value:
        case Moments(items=items) | Things(items=items) | Frames(items=items):
            return not items
        case TextValue(text=text):
            return not text
        case NumberValue(value=number):
            return number == 0


def place_of(event: StoredEvent) -> EventPlace:
    return EventPlace(event.id, event.video_id, event.n, event.span)


def entity_thing(entity: StoredEntity) -> Thing:
    also = f", also {', '.join(entity.aliases)}" if entity.aliases else ""
    words = f"{entity.name} ({entity.type}){also}"
    words = f"{words}: {entity.description}" if entity.description else words
    return Thing(entity.id, "entity", entity.video_id, words)


def object_thing(stored: StoredObject) -> Thing:
    words = f"{stored.colour} {stored.category}".strip()
    return Thing(stored.id, "object", stored.video_id, words, stored, sure=stored.confidence >= UNSURE)


def in_time(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    """Return moments by video and time, each event once: its best."""
    best: dict[UUID, Moment] = {}
    for moment in moments:
        kept = best.get(moment.place.event_id)
        if kept is None or moment.score > kept.score:
            best[moment.place.event_id] = moment
    return tuple(sorted(best.values(), key=lambda moment: (moment.place.video_id, moment.place.span, moment.place.n)))


class NoVerdict(Exception):
    """A step could not decide what its program asks. code: stable, for the step's record."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(slots=True)
class Run:
    """One run of a program.

    ranks: whether `localize` asks the reasoner which hits fit. calls_left: model calls that it may still make. holds:
    whether the budget has room for one more and for the answer. notes: what was cut or could not be asked in the
    current step, in words, for the record. limits: those of all steps that make a number uncertain.
    """

    toolbox: Toolbox
    ranks: bool
    calls_left: int
    holds: Callable[[], bool]
    notes: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)

    @property
    def graph(self) -> KnowledgeGraph:
        return self.toolbox.asked.graph

    def take_call(self) -> bool:
        """Whether one more model call may be made; it is then counted."""
        if self.calls_left < 1 or not self.holds():
            return False
        self.calls_left -= 1
        return True

    def within_reach(self, videos: Iterable[UUID], most: int) -> list[UUID]:
        """Return at most `most` of the videos, in order of id, and note whether some were left out."""
        ordered = sorted(set(videos))
        if len(ordered) > most:
            self.limit(f"read {most} of {len(ordered)} videos")
        return ordered[:most]

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def limit(self, text: str) -> None:
        """Note what makes every number of this program uncertain."""
        self.note(text)
        if text not in self.limits:
            self.limits.append(text)

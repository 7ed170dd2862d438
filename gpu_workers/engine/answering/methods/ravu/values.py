"""The values of a program's steps: moments, things, frames, a number, a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import EventPlace, StoredEntity, StoredEvent, StoredFrame, StoredObject

SURE = 0.7
"""Confidence of an object below which it may be the same as another one."""


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
class Number:
    """A count. about: whether it is no exact number. of: what was counted."""

    value: int
    about: bool
    of: Moments | Things

    def in_words(self) -> str:
        noun = "event" if isinstance(self.of, Moments) else "thing"
        return f"{'about ' if self.about else ''}{self.value} {noun}{'' if self.value == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Text:
    """A description. of: what it describes."""

    text: str
    of: Moments | Things


Value = Moments | Things | Frames | Number | Text


def is_empty(value: Value) -> bool:
    """Whether a step found nothing, so that no later step can find anything."""
    match value:
        case Moments(items=items) | Things(items=items) | Frames(items=items):
            return not items
        case Text(text=text):
            return not text
        case Number(value=number):
            return number == 0


def place_of(event: StoredEvent) -> EventPlace:
    return EventPlace(event.id, event.video_id, event.n, event.span)


def entity_thing(entity: StoredEntity) -> Thing:
    also = f", also {', '.join(entity.aliases)}" if entity.aliases else ""
    told = f"{entity.name} ({entity.type}){also}"
    return Thing(entity.id, "entity", entity.video_id, f"{told}: {entity.description}" if entity.description else told)


def object_thing(stored: StoredObject) -> Thing:
    told = f"{stored.colour} {stored.category}".strip()
    return Thing(stored.id, "object", stored.video_id, told, stored, sure=stored.confidence >= SURE)


def in_time(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    """Return moments by video and time, each event once: its best."""
    best: dict[UUID, Moment] = {}
    for moment in moments:
        kept = best.get(moment.place.event_id)
        if kept is None or moment.score > kept.score:
            best[moment.place.event_id] = moment
    return tuple(sorted(best.values(), key=lambda moment: (moment.place.video_id, moment.place.span, moment.place.n)))

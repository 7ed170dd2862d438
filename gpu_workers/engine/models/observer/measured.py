"""Measurements of a chunk as data; Chunk.facts holds them as JSON between jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import TypeAdapter

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.observer.at_once import most_at_once, presence

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class MeasuredObject:
    """One track inside one chunk.

    colour: "" if unsure. motion: as in movement.py, "" if unknown. entered, left: the border over which the track came
    in or went out, or "". frames_ms: times of the frames that show it. first_box, box: the first and the last box.
    """

    track_id: int
    category: str
    colour: str
    motion: str
    entered: str
    left: str
    start_ms: int
    end_ms: int
    frames_ms: tuple[int, ...]
    first_box: Box
    box: Box


@dataclass(frozen=True, slots=True)
class CategoryCount:
    """Number of things of a category in one chunk. most: at the same moment (at_once). distinct: in the whole chunk."""

    most: int
    distinct: int


def at_once(objects: Sequence[MeasuredObject]) -> int:
    """Return how many of these things are there at the same moment."""
    present = [
        presence(one.category, [Span(ms, ms + 1) for ms in one.frames_ms], passes=bool(one.entered or one.left))
        for one in objects
    ]
    return len(most_at_once(present)[0])


@dataclass(frozen=True, slots=True)
class MeasuredChunk:
    """All measurements of one chunk. Unsure ones are left out.

    counts: by category. scene: tags with their probability. camera_moves: if true, no object has a motion. speech: ""
    for none. aspect: width over height of the picture. cuts: number of scenes that begin. text: lines on screen without
    the clock. clock: time on the picture's clock in the middle of the chunk, "" without a clock.
    """

    objects: tuple[MeasuredObject, ...]
    counts: Mapping[str, CategoryCount]
    scene: tuple[tuple[str, float], ...]
    motion_level: Literal["none", "some", "much"]
    camera_moves: bool
    brightness: Literal["black", "dark", "normal"]
    speech: str
    aspect: float
    cuts: int = 0
    text: tuple[str, ...] = field(default=())
    clock: str = ""

    def facts(self) -> dict[str, Any]:
        """Return the measurements as Chunk.facts holds them: only JSON types."""
        facts: dict[str, Any] = _JSON.dump_python(self, mode="json")
        return facts

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> MeasuredChunk:
        """Read the result of facts(). Raises pydantic.ValidationError, a ValueError, for anything else."""
        return _JSON.validate_python(facts)


_JSON = TypeAdapter(MeasuredChunk)

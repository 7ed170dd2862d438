"""Pictures of one video for the console: its timeline, and the graph of its entities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.ekg.models import Entity, Relation

WIDTH, HEIGHT, RADIUS = 640, 480, 170
"""Units of the drawn graph, whose entities stand on a circle."""
AT = "at"
"""Parameter of a video's page with a moment in ms, and the page of a list of marks that holds this moment."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a video. left, width: in percent of the whole."""

    start_ms: int
    end_ms: int
    words: str
    left: float
    width: float


def lanes(marks: Mapping[str, Sequence[Mapping[str, Any]]], duration_ms: int) -> list[tuple[str, list[Mark]]]:
    """Return the marks of each kind with their places on a line that is duration_ms long."""
    whole = max(duration_ms, 1)
    return [(kind, [_placed(mark, whole) for mark in found]) for kind, found in marks.items()]


def _placed(mark: Mapping[str, Any], whole: int) -> Mark:
    start, end = min(mark["start_ms"], whole), min(mark["end_ms"], whole)
    # What is too short to be seen has the width of a hair, and stays within the line.
    width = max(100 * (end - start) / whole, 0.2)
    left = min(100 * start / whole, 100 - width)
    return Mark(mark["start_ms"], mark["end_ms"], mark["shown"], left, width)


@dataclass(frozen=True, slots=True)
class Point:
    """An entity in the picture. anchor: how its name is aligned, so that it points away from the centre."""

    entity: Entity
    x: float
    y: float
    name_x: float
    name_y: float
    size: float
    anchor: str


@dataclass(frozen=True, slots=True)
class Line:
    """A relation in the picture."""

    words: str
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Graph:
    points: list[Point]
    lines: list[Line]
    width: int = WIDTH
    height: int = HEIGHT


def graph_of(entities: Sequence[Entity], relations: Sequence[Relation]) -> Graph:
    """Return the picture of entities on a circle, the weightiest at the top, and of the relations between them."""
    heaviest = max([entity.weight for entity in entities], default=1)
    points: dict[UUID, Point] = {}
    for position, entity in enumerate(entities):
        angle = 2 * math.pi * position / len(entities) - math.pi / 2
        across, down = math.cos(angle), math.sin(angle)
        points[entity.id] = Point(
            entity=entity,
            x=WIDTH / 2 + RADIUS * across,
            y=HEIGHT / 2 + RADIUS * down,
            name_x=WIDTH / 2 + (RADIUS + 16) * across,
            name_y=HEIGHT / 2 + (RADIUS + 24) * down,
            size=4 + 6 * math.sqrt(entity.weight / max(heaviest, 1)),
            anchor="middle" if abs(across) < 0.1 else "start" if across > 0 else "end",
        )
    lines = [
        Line(
            f"{points[row.source_id].entity.name} {row.predicate} {points[row.target_id].entity.name}",
            points[row.source_id].x, points[row.source_id].y, points[row.target_id].x, points[row.target_id].y,
        )
        for row in relations
        if row.source_id in points and row.target_id in points
    ]  # fmt: skip
    return Graph(list(points.values()), lines)

"""How many tracked things there are: in total, at once, how many entered and how many left, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.agent.object_tools import CROWD
from gpu_workers.engine.answering.routes.phrases import Sureness
from gpu_workers.engine.answering.understood import Counting
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.observer.categories import moves_itself
from gpu_workers.engine.ports import StoredObject

CERTAIN = 0.97
"""Confidence of each object from which a number may be exact: that it is one thing, and no other object."""


@dataclass(frozen=True, slots=True)
class ObjectCount:
    """A number of things. kind: in total, at once, entered or left, or the number of entries or exits. things: those
    that were counted. moment: of the largest number at once, in ms."""

    n: int
    kind: str
    sure: Sureness
    things: Sequence[StoredObject]
    moment: int | None = None


def counts_of(counting: Counting, things: Sequence[StoredObject], *, least: bool) -> list[ObjectCount]:
    """Return the numbers that a question asks for: two if it asks who entered and who left. least: whether the object
    memory lacks a part of the scope."""
    sure: Sureness = "at_least" if least else _sureness(things)
    if counting == "at_once":
        together, moment = most_at_once(things)
        return [ObjectCount(len(together), "at once", sure, together, moment)]
    passing: Sureness = sure if least else "about"
    entered, left = [one for one in things if one.entries], [one for one in things if one.exits]
    counts = {
        "entered": [ObjectCount(len(entered), "entered", passing, entered)],
        "left": [ObjectCount(len(left), "left", passing, left)],
        "entries": [ObjectCount(sum(one.entries for one in entered), "entries", passing, entered)],
        "exits": [ObjectCount(sum(one.exits for one in left), "exits", passing, left)],
    }
    counts["both"] = [*counts["entered"], *counts["left"]]
    return counts.get(counting) or [ObjectCount(len(things), "total", sure, things)]


def most_at_once(things: Sequence[StoredObject]) -> tuple[list[StoredObject], int]:
    """Return as many things of one video as are ever visible at the same moment, and the first such moment in ms."""
    most: tuple[list[StoredObject], int] = [], 0
    by_video: dict[UUID, list[StoredObject]] = {}
    for thing in things:
        by_video.setdefault(thing.video_id, []).append(thing)
    for own in by_video.values():
        edges = [(ms, begins, n) for n, thing in enumerate(own) for span in thing.spans for ms, begins in _edges(span)]
        visible: set[int] = set()
        for ms, begins, n in sorted(edges):
            if not begins:
                visible.discard(n)
                continue
            visible.add(n)
            if len(visible) > len(most[0]):
                most = [own[other] for other in sorted(visible)], ms
    return most


def _edges(span: Span) -> tuple[tuple[int, bool], tuple[int, bool]]:
    """Return when a thing appears (True) and when it is gone (False): at one moment, what is gone sorts first."""
    return (span.start_ms, True), (span.end_ms, False)


def _sureness(things: Sequence[StoredObject]) -> Sureness:
    """Return how sure a number of these things is. Objects of two videos may be one thing: they are never joined."""
    crowd = sum(moves_itself(thing.category) for thing in things) > CROWD
    certain = bool(things) and all(thing.confidence >= CERTAIN for thing in things)
    one_video = len({thing.video_id for thing in things}) == 1
    return "exactly" if certain and one_video and not crowd else "about"

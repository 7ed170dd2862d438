"""How many tracked things there are: in total, at once, how many entered and how many left, and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.object_memory import CROWD
from gpu_workers.engine.answering.routes.phrases import Sureness
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.observer.categories import moves_itself
from gpu_workers.engine.ports import StoredObject

CERTAIN = 0.97
"""Confidence of each object from which a number may be exact: that it is one thing, and no other object."""

_AT_ONCE = re.compile(
    r"\bat (?:once|the same time|any one time|most)\b|\bsimultaneously\b|\bmaximum\b|\btogether\b|gleichzeitig|"
    r"a la vez|al mismo tiempo|同时|同時|في (?:وقت واحد|نفس الوقت)",
    re.IGNORECASE,
)
_ENTERED = re.compile(
    r"\b(?:enter(?:s|ed|ing)?|arriv\w+|(?:com(?:e|es|ing)|came|go(?:es|ing)?|went) in(?:to)?(?: and out)?|"
    r"entr(?:a|an|ó|aron)|"
    r"(?:her|hin)?ein(?:ge)?(?:kommen|kommt|kamen|gehen|geht|gingen|gegangen)|(?:herein|hinein|rein)\w*|"
    r"betr[ae]t\w*|betritt)\b|进入|進入",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"\b(?:leav(?:e|es|ing)|left|exit(?:s|ed|ing)?|(?:com(?:e|es|ing)|came|go(?:es|ing)?|went)(?: in and)? out|"
    r"sal(?:e|en|ió|ieron)|(?:heraus|hinaus|raus)\w*|(?:weg|fort)(?:ge)?(?:gehen|gegangen|fahren)|"
    r"verl(?:a|ä|ie)(?:ss|ß)\w*|(?:gehen|geht|ging|gingen|fahren|fährt) (?:weg|fort))\b|离开|離開",
    re.IGNORECASE,
)
_HOW_OFTEN = re.compile(
    r"\bhow (?:often|frequently|many times)\b|\bnumber of times\b|\bwie (?:oft|häufig)\b|\bwie ?viele? ?mal\b|"
    r"\bcu[aá]ntas veces\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Count:
    """A number of things. kind: in total, at once, entered or left, or the number of entries or exits. things: those
    that were counted. moment: of the largest number at once, in ms."""

    n: int
    kind: str
    sure: Sureness
    things: Sequence[StoredObject]
    moment: int | None = None


def counts_of(question: str, things: Sequence[StoredObject], *, least: bool) -> list[Count]:
    """Return the numbers that a question asks for: two if it asks who entered and who left. least: whether the object
    memory lacks a part of the scope."""
    sure: Sureness = "at_least" if least else _sureness(things)
    if _AT_ONCE.search(question):
        together, moment = most_at_once(things)
        return [Count(len(together), "at once", sure, together, moment)]
    often, passing = _HOW_OFTEN.search(question) is not None, sure if least else "about"
    counts = []
    if _ENTERED.search(question):
        entered = [thing for thing in things if thing.entries]
        n = sum(thing.entries for thing in entered) if often else len(entered)
        counts.append(Count(n, "entries" if often else "entered", passing, entered))
    if _LEFT.search(question):
        left = [thing for thing in things if thing.exits]
        n = sum(thing.exits for thing in left) if often else len(left)
        counts.append(Count(n, "exits" if often else "left", passing, left))
    return counts or [Count(len(things), "total", sure, things)]


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

"""How several times of one question belong together: on which days they are, and whether they are one stretch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from gpu_workers.engine.answering.reading.expressions import Clocked, Day, Expression, Frame, PartOfDay
from gpu_workers.engine.answering.reading.times.parsing import Parsing


def dated(found: list[Expression], days: Sequence[Day | None], parts: Sequence[PartOfDay | None]) -> list[Expression]:
    """Return the expressions on these days: one after the other if there are as many of both, else each on all."""
    pairs = list(zip(days, parts, strict=True)) if len(days) == len(parts) else list(product(days, parts))
    clocked = [e for e in found if isinstance(e, Clocked)]
    others = [e for e in found if not isinstance(e, Clocked)]
    if not clocked and (days != [None] or not found):
        return [*others, *(Clocked("day", day=day, part=part, frame="wall") for day, part in pairs)]
    timed = list(zip(clocked, pairs, strict=True)) if len(clocked) == len(pairs) else list(product(clocked, pairs))
    placed = [replace(e, day=day, part=part, frame=_wall(e)) for e, (day, part) in timed]
    return [*others, *placed] if len(pairs) > 1 else [placed.pop(0) if isinstance(e, Clocked) else e for e in found]


def is_joined(parsing: Parsing, found: Sequence[Expression]) -> bool:
    """Whether the words between the times join them to one stretch: "between the start and 10:00", "Monday to now"."""
    first, last = parsing.taken.index(True), len(parsing.taken) - parsing.taken[::-1].index(True)
    between = any(isinstance(each, Clocked) and each.kind == "between" for each in found)
    return ("b" in parsing.kinds[:last] and not between) or any(
        kind == "&" and not parsing.taken[n] and not parsing.also(n)
        for n, kind in enumerate(parsing.kinds[first:last], start=first)
    )


def joined_edges(found: list[Expression]) -> list[Expression]:
    """Return "after two" and "before three" as one stretch, where these are all that was found."""
    edges = {each.kind: each for each in found if isinstance(each, Clocked)}
    since, until = edges.get("since"), edges.get("until")
    if len(found) != 2 or since is None or until is None or since.start is None or until.end is None:
        return found
    frame: Frame = "wall" if "wall" in (since.frame, until.frame) else since.frame
    return [replace(since, kind="between", end=until.end, frame=frame)]


def _wall(clocked: Clocked) -> Frame:
    return clocked.frame if clocked.frame == "shown" else "wall"

"""How many things are there at the same moment: one rule for what an event says and for what a count answers."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.observer.categories import moves_itself


def presence(category: str, seen: Sequence[Span], *, passes: bool) -> tuple[Span, ...]:
    """Return when a thing is there, from when it is seen. seen: in order of time.

    A thing that does not move itself, and that nobody saw come or go, is there between two sightings as well: a
    detector that loses a bottle for a second does not make it leave. passes: whether the thing came in or went out.
    """
    if moves_itself(category) or passes or not seen:
        return tuple(seen)
    return (Span(seen[0].start_ms, max(span.end_ms for span in seen)),)


def most_at_once(present: Sequence[Sequence[Span]]) -> tuple[list[int], int]:
    """Return the indices of as many things as are ever there at the same moment, and the first such moment in ms.

    present: of each thing, when it is there.
    """
    # At one moment, what is gone sorts before what appears.
    begins = [(span.start_ms, True, n) for n, spans in enumerate(present) for span in spans]
    ends = [(span.end_ms, False, n) for n, spans in enumerate(present) for span in spans]
    there: set[int] = set()
    most: tuple[list[int], int] = [], 0
    for ms, appears, n in sorted([*begins, *ends]):
        if not appears:
            there.discard(n)
            continue
        there.add(n)
        if len(there) > len(most[0]):
            most = sorted(there), ms
    return most

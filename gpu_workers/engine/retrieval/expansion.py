"""Strength of the graph's connections between events: entities in common, and entities one relation away."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.ports import Hit

SHARED, RELATED = 1.0, 0.5
"""Weights of an entity in common, and of an entity that is one relation away."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """An entity takes part in an event. n: the event's number in its video."""

    entity_id: UUID
    name: str
    event_id: UUID
    n: int


def connected_events(
    appearances: Iterable[Appearance], *, seeds: Collection[UUID], shared: Collection[UUID], limit: int
) -> list[Hit]:
    """Return at most limit events other than seeds, most strongly connected first; ties by number, then by id.

    appearances: all in scope, of the entities of seeds (shared) and of entities that a relation joins to them. An
    entity adds SHARED or RELATED over log2(1 + number of its events): an entity that is everywhere says little about
    where to look. similarity: strength over that of the strongest event. words: the entities, in the order of their
    ids.
    """
    events_of: defaultdict[UUID, dict[UUID, Appearance]] = defaultdict(dict)
    for appearance in appearances:
        events_of[appearance.entity_id][appearance.event_id] = appearance
    strength: defaultdict[UUID, float] = defaultdict(float)
    names: defaultdict[UUID, list[str]] = defaultdict(list)
    number: dict[UUID, int] = {}
    # By id, so that sums and words do not depend on the order in which a store returns them.
    for entity_id in sorted(events_of):
        events = events_of[entity_id]
        weight = (SHARED if entity_id in shared else RELATED) / math.log2(1 + len(events))
        for event_id, appearance in events.items():
            if event_id not in seeds:
                strength[event_id] += weight
                names[event_id].append(appearance.name)
                number[event_id] = appearance.n
    order = sorted(strength, key=lambda event_id: (-strength[event_id], number[event_id], event_id))
    top = max(strength.values(), default=1.0)
    return [
        Hit(event_id, strength[event_id] / top, "graph", words="; ".join(names[event_id])) for event_id in order[:limit]
    ]

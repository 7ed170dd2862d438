"""The facts of the graph about an event: one definition of their words and their order, for every store."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.ports import EntityFact, Hit


@dataclass(frozen=True, slots=True)
class Participation:
    """An entity takes part in an event. name, type, role, description: as this event saw it. weight: the entity's."""

    entity_id: UUID
    event_id: UUID
    name: str
    type: str
    role: str
    description: str
    weight: int


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """A relation that an event states. source, target: names of the entities, for events that do not mention them."""

    id: UUID
    event_id: UUID
    source_id: UUID
    source: str
    predicate: str
    target_id: UUID
    target: str
    description: str


def facts_of(
    event_ids: Sequence[UUID], participations: Iterable[Participation], relations: Iterable[StatedRelation]
) -> list[EntityFact]:
    """Return the facts of the events, in the order of event_ids, each event once.

    The participations of an event come first: those with a role before those without, then by falling weight of the
    entity. Its relations follow in the order of their ids. Ties fall to the entity's id. The words are those of the
    event's own mention, because an entity's name is that of its first mention and may contradict a later event.
    """
    taking_part: defaultdict[UUID, list[Participation]] = defaultdict(list)
    for part in participations:
        taking_part[part.event_id].append(part)
    stated: defaultdict[UUID, list[StatedRelation]] = defaultdict(list)
    for relation in relations:
        stated[relation.event_id].append(relation)
    facts: list[EntityFact] = []
    for event_id in dict.fromkeys(event_ids):
        parts = sorted(taking_part[event_id], key=lambda part: (not part.role, -part.weight, part.entity_id))
        facts += [EntityFact(event_id, part.entity_id, _participation_text(part)) for part in parts]
        own_name = {part.entity_id: part.name for part in parts}
        for relation in sorted(stated[event_id], key=lambda relation: relation.id):
            source = own_name.get(relation.source_id, relation.source)
            target = own_name.get(relation.target_id, relation.target)
            text = _with(f"{source} {relation.predicate} {target}", relation.description)
            facts.append(EntityFact(event_id, relation.source_id, text, relation=True))
    return facts


def best_facts(facts: Sequence[EntityFact], *, limit: int, relations: int) -> list[EntityFact]:
    """Return the first limit facts of one event, with room for that many relations if there are as many."""
    stated = [fact for fact in facts if fact.relation]
    parts = [fact for fact in facts if not fact.relation]
    room = max(limit - len(stated), limit - relations)
    chosen = parts[:room]
    return [*chosen, *stated[: limit - len(chosen)]]


def _participation_text(part: Participation) -> str:
    text = f"{part.name} ({part.type})"
    return _with(f"{text}, {part.role}" if part.role else text, part.description)


def _with(text: str, description: str) -> str:
    return f"{text}: {description}" if description else text


# --- how strongly entities connect events ----------------------------------------------------------------------------

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

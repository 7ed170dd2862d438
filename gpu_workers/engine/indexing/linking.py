"""Linking the mentions of an event to entities (AVA, section 4.3): nearest centroid, one event at a time.

The paper clusters all mentions with K-means at the end; that needs the whole video and time that grows with its
square. Here each mention joins the nearest known entity that is near enough, else it becomes a new entity. compact() is
the paper's clustering, seeded, for a finished index that was linked in this way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import (
    Entity,
    EntityMention,
    LinkedMention,
    Relation,
    RelationStatement,
    Vector,
    stable_id,
    unit,
)
from gpu_workers.engine.indexing.identity import marks, share_mark
from gpu_workers.engine.ports import EntityDirectory

CANDIDATES = 8
NAMED_CANDIDATES = 32
"""Maximum number of entities that are compared with a mention that has a code or full name: looks say less then."""
MAX_ALIASES = 16


@dataclass(frozen=True, slots=True)
class LinkingSettings:
    """Minimum cosine between a mention and an entity's centroid to link them.

    tau_by_type: by entity type; tau for types that are missing. Several people or cars have similar descriptions,
    places rarely do. tau_across_types: for entities of another type ("truck" and "vehicle"). tau_named: for an entity
    with a code or full name of the mention (engine.indexing.identity.marks); it counts more than looks, which change
    with clothes and light. Two that have different ones are never linked.
    """

    tau: float = 0.80
    tau_by_type: Mapping[str, float] = field(default_factory=lambda: {"person": 0.85, "vehicle": 0.85})
    tau_across_types: float = 0.97
    tau_named: float = 0.50

    def threshold(self, mention_type: str, entity_type: str) -> float:
        if mention_type != entity_type:
            return self.tau_across_types
        return self.tau_by_type.get(mention_type, self.tau)

    @property
    def floor(self) -> float:
        """Return the lowest of all thresholds: nothing below it is ever linked."""
        return min(self.tau, self.tau_across_types, *self.tau_by_type.values())


@dataclass(frozen=True, slots=True)
class LinkedEvent:
    """The parts of EventRecord without the event."""

    entities: tuple[Entity, ...]
    mentions: tuple[LinkedMention, ...]
    relations: tuple[Relation, ...]


def distinct_mentions(mentions: Sequence[EntityMention]) -> tuple[EntityMention, ...]:
    """Return mentions with equal names (apart from case and spaces) merged, without those that have no name."""
    merged: dict[str, EntityMention] = {}
    for mention in mentions:
        key = _key(mention.name)
        if key:
            merged[key] = _merge(merged[key], mention) if key in merged else mention
    return tuple(merged.values())


class EntityLinker:
    """Links the mentions of one event after another against a directory that sees what was linked before."""

    def __init__(
        self, video_id: UUID, index_version: int, directory: EntityDirectory, settings: LinkingSettings | None = None
    ) -> None:
        self._scope = (video_id, index_version)
        self._directory = directory
        self._settings = settings or LinkingSettings()

    def link(
        self,
        event_id: UUID,
        mentions: Sequence[EntityMention],
        embeddings: NDArray[np.float32],
        relations: Sequence[RelationStatement],
    ) -> LinkedEvent:
        """Return the entities after this event, its mentions and its relations.

        mentions: distinct by name (distinct_mentions). embeddings: one unit row for each. Two mentions that find the
        same entity become one mention. A relation is left out if an end is unknown or both ends are the same entity; a
        repeated relation is kept once.
        """
        entities: dict[UUID, Entity] = {}
        merged: dict[UUID, tuple[EntityMention, Vector]] = {}
        owner: dict[str, UUID] = {}
        known = self._candidates(mentions, embeddings)
        for mention, embedding, candidates in zip(mentions, embeddings, known, strict=True):
            entity = self._chosen(mention, candidates) or self._new(event_id, mention, embedding)
            if entity.id in merged:
                first, vector = merged[entity.id]
                merged[entity.id] = (_merge(first, mention), unit(vector + embedding))
            else:
                merged[entity.id] = (mention, embedding)
                entities[entity.id] = entity
            for name in (mention.name, *mention.aliases):
                owner.setdefault(_key(name), entity.id)
        linked = [
            LinkedMention(stable_id("mention", event_id, entity_id), entity_id, event_id, mention, unit(vector))
            for entity_id, (mention, vector) in merged.items()
        ]
        after = [_after(entities[m.entity_id], m.mention, m.embedding) for m in linked]
        return LinkedEvent(tuple(after), tuple(linked), _relations(event_id, relations, owner))

    def expect(self, embeddings: NDArray[np.float32]) -> None:
        """Announce the mentions of the next events to the directory."""
        if len(embeddings):
            self._directory.expect(embeddings, limit=CANDIDATES, floor=self._settings.floor)

    def _candidates(
        self, mentions: Sequence[EntityMention], embeddings: NDArray[np.float32]
    ) -> Sequence[Sequence[tuple[Entity, float]]]:
        if not len(embeddings):
            return ()
        candidates = list(self._directory.nearest(embeddings, limit=CANDIDATES, floor=self._settings.floor))
        named = [row for row, mention in enumerate(mentions) if marks((mention.name, *mention.aliases))]
        if named:
            floor = min(self._settings.tau_named, self._settings.floor)
            found = self._directory.nearest(embeddings[named], limit=NAMED_CANDIDATES, floor=floor)
            for row, further in zip(named, found, strict=True):
                candidates[row] = further
        return candidates

    def _chosen(self, mention: EntityMention, candidates: Sequence[tuple[Entity, float]]) -> Entity | None:
        """Return the nearest entity that the mention can be; one with its code or full name before all others."""
        mine = marks((mention.name, *mention.aliases))
        by_looks: Entity | None = None
        for entity, cosine in candidates:
            theirs = marks((entity.name, *entity.aliases)) if mine else frozenset[str]()
            named = share_mark(mine, theirs)
            if named and mention.type == entity.type and cosine >= self._settings.tau_named:
                return entity
            near = cosine >= self._settings.threshold(mention.type, entity.type)
            if by_looks is None and near and (named or not theirs):
                by_looks = entity
        return by_looks

    def _new(self, event_id: UUID, mention: EntityMention, embedding: Vector) -> Entity:
        entity_id = stable_id("entity", *self._scope, event_id, _key(mention.name))
        return Entity(entity_id, mention.name, mention.type, mention.description, (), embedding, 0)


@dataclass(frozen=True, slots=True)
class Compaction:
    """All entities of an index, linked again, with their relations; mentions in order of time."""

    entities: tuple[Entity, ...]
    mentions: tuple[LinkedMention, ...]
    relations: tuple[Relation, ...]


def compact(
    video_id: UUID,
    index_version: int,
    entities: Sequence[Entity],
    mentions: Sequence[LinkedMention],
    relations: Sequence[Relation],
    *,
    ratio: float = 0.4,
) -> Compaction:
    """Link all mentions of a finished index again, by K-means over their embeddings (AVA, section 4.3).

    mentions: in order of time; relations name entities of their own event's mentions. Mentions of one event in one
    cluster become one. An entity gets the most frequent of its mentions' names (the earliest of equals), and the
    aliases of an old entity if it holds all mentions of it. Relations follow the mentions. If two relations become the
    same, the more certain one stays; a relation whose ends become one entity is dropped. The same input gives the same
    ids.
    """
    labels = compact_entities(np.stack([m.embedding for m in mentions]), ratio) if mentions else ()
    clusters: dict[int, list[LinkedMention]] = {}
    for label, mention in zip(labels, mentions, strict=True):
        clusters.setdefault(int(label), []).append(mention)
    linked: list[LinkedMention] = []
    moved: dict[tuple[UUID, UUID], UUID] = {}
    after: list[Entity] = []
    total = Counter(mention.entity_id for mention in mentions)
    entity_of = {entity.id: entity for entity in entities}
    for members in clusters.values():
        # The id comes from the first mention; an event has only one mention of an entity.
        entity_id = stable_id("entity", video_id, index_version, "cluster", members[0].event_id, members[0].entity_id)
        merged: dict[UUID, LinkedMention] = {}
        for mention in members:
            moved[mention.event_id, mention.entity_id] = entity_id
            merged[mention.event_id] = _joined(merged.get(mention.event_id), mention, entity_id)
        linked.extend(merged.values())
        whole = [entity_of[old] for old, n in Counter(m.entity_id for m in members).items() if n == total[old]]
        after.append(_entity_of(entity_id, members, len(merged), whole))
    order = {event_id: n for n, event_id in enumerate(dict.fromkeys(mention.event_id for mention in mentions))}
    linked.sort(key=lambda mention: order[mention.event_id])
    return Compaction(tuple(after), tuple(linked), _moved(relations, moved))


def _joined(first: LinkedMention | None, second: LinkedMention, entity_id: UUID) -> LinkedMention:
    mention, vector = second.mention, second.embedding
    if first is not None:
        mention, vector = _merge(first.mention, mention), unit(first.embedding + vector)
    return LinkedMention(stable_id("mention", second.event_id, entity_id), entity_id, second.event_id, mention, vector)


def _entity_of(entity_id: UUID, members: Sequence[LinkedMention], weight: int, whole: Sequence[Entity]) -> Entity:
    names = Counter(member.mention.name for member in members)
    types = Counter(member.mention.type for member in members)
    name = names.most_common(1)[0][0]
    more = (alias for mention in members for alias in mention.mention.aliases)
    aliases = dict.fromkeys((*names, *more, *(text for entity in whole for text in (entity.name, *entity.aliases))))
    aliases.pop(name)
    return Entity(
        id=entity_id,
        name=name,
        type=types.most_common(1)[0][0],
        description=next((m.mention.description for m in members if m.mention.description), ""),
        aliases=tuple(aliases)[:MAX_ALIASES],
        centroid=unit(np.sum([m.embedding for m in members], axis=0)),
        weight=weight,
    )


def _moved(relations: Sequence[Relation], moved: Mapping[tuple[UUID, UUID], UUID]) -> tuple[Relation, ...]:
    relation_of: dict[UUID, Relation] = {}
    for relation in relations:
        event_id = relation.event_id
        source, target = (moved.get((event_id, end)) for end in (relation.source_id, relation.target_id))
        if source is None or target is None or source == target:
            continue
        relation_id = stable_id("relation", event_id, source, target, relation.predicate)
        if relation_id not in relation_of or relation_of[relation_id].confidence < relation.confidence:
            relation_of[relation_id] = replace(relation, id=relation_id, source_id=source, target_id=target)
    return tuple(relation_of.values())


def compact_entities(embeddings: NDArray[np.float32], ratio: float = 0.4, seed: int = 0) -> NDArray[np.int64]:
    """Return a cluster label for each row, by mini-batch K-means with ceil(ratio * rows) clusters; the same for the
    same seed.

    Raises ValueError unless 0 < ratio <= 1. Without rows there are no labels.
    """
    if not 0.0 < ratio <= 1.0:
        raise ValueError(f"ratio is above 0 and at most 1, got {ratio}")
    rows = len(embeddings)
    if rows == 0:
        return np.zeros(0, dtype=np.int64)
    from sklearn.cluster import MiniBatchKMeans  # in the ml extra, and slow to import

    clusters = min(rows, int(np.ceil(ratio * rows)))
    model = MiniBatchKMeans(clusters, random_state=seed, n_init=1, batch_size=1024)
    return cast("NDArray[np.int64]", model.fit_predict(embeddings).astype(np.int64))


def _key(name: str) -> str:
    return " ".join(name.casefold().split())


def _merge(first: EntityMention, second: EntityMention) -> EntityMention:
    aliases = dict.fromkeys((*first.aliases, second.name, *second.aliases))
    aliases.pop(first.name, None)
    description, more = first.description.strip(), second.description.strip()
    return replace(
        first,
        description=description if more in description else f"{description} {more}".strip(),
        aliases=tuple(aliases),
        confidence=max(first.confidence, second.confidence),
        frame_ms=tuple(sorted({*first.frame_ms, *second.frame_ms})),
    )


def _after(entity: Entity, mention: EntityMention, embedding: Vector) -> Entity:
    """Return entity with one more mention: the first name stays, others are aliases, the centroid is the mean."""
    names = dict.fromkeys((*entity.aliases, mention.name, *mention.aliases))
    names.pop(entity.name, None)
    return replace(
        entity,
        description=entity.description or mention.description,
        aliases=tuple(names)[:MAX_ALIASES],
        centroid=unit(entity.centroid * entity.weight + embedding),
        weight=entity.weight + 1,
    )


def _relations(
    event_id: UUID, statements: Sequence[RelationStatement], owner: Mapping[str, UUID]
) -> tuple[Relation, ...]:
    relation_of: dict[UUID, Relation] = {}
    for statement in statements:
        source, target = owner.get(_key(statement.subject)), owner.get(_key(statement.object))
        predicate = _key(statement.predicate)
        if source is None or target is None or source == target or not predicate:
            continue
        relation_id = stable_id("relation", event_id, source, target, predicate)
        if relation_id not in relation_of or relation_of[relation_id].confidence < statement.confidence:
            relation_of[relation_id] = Relation(
                relation_id, source, target, predicate, statement.description, event_id, statement.confidence
            )
    return tuple(relation_of.values())

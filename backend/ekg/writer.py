"""Writes the Event Knowledge Graph: rows and topology of one step in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from backend.ekg.graph_store import GraphStore, Participation, RelatedTo
from backend.ekg.index_reads import transcript_between
from backend.ekg.known_entities import nearest_entities
from backend.ekg.models import (
    Chunk,
    Entity,
    EntityObject,
    Event,
    Frame,
    FrameVector,
    Mention,
    Overview,
    Relation,
    Topic,
    Track,
    TranscriptLine,
)
from backend.ekg.sketches import SketchWriter
from backend.ekg.stored_rows import read_chunk
from backend.ekg.word_index import index_words
from backend.tenancy.context import current_tenant_id
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import EventRecord, SegmentRecord, Vector, stable_id
from gpu_workers.engine.indexing.linking import Compaction

ROLE_LENGTH, PREDICATE_LENGTH = 200, 100


def _half(vector: Vector) -> HalfVector:
    return HalfVector(vector.tolist())


class VersionWriter:
    """Writes one index version of one video, inside an open tenant_scope; one writer per video at a time."""

    def __init__(self, video_id: UUID, version: int, *, text_model: str, frame_model: str) -> None:
        self._row = {"tenant_id": current_tenant_id(), "video_id": video_id, "index_version": version}
        self.video_id = video_id
        self.version = version
        self._text_model = text_model
        self._frame_model = frame_model
        self._graph = GraphStore()
        self._sketches = SketchWriter(video_id, version, text_model=text_model, frame_model=frame_model)

    def store_segment(self, segment_n: int, record: SegmentRecord, *, thumbnail_keys: Mapping[int, str]) -> None:
        """Store chunks, frames, tracks and transcript of one observed segment. thumbnail_keys: object key per frame ms.

        Ids come from content positions, so a second attempt writes the same rows.
        """
        Chunk.objects.bulk_create(
            [
                Chunk(
                    id=self._id("chunk", chunk.n),
                    **self._row,
                    n=chunk.n,
                    start_ms=chunk.span.start_ms,
                    end_ms=chunk.span.end_ms,
                    segment_n=segment_n,
                    description=chunk.description,
                    gap=chunk.gap,
                    facts=chunk.facts,
                    on_screen_text=list(chunk.on_screen_text),
                    inherited=chunk.inherited,
                )
                for chunk in record.chunks
            ]
        )
        Frame.objects.bulk_create(
            [
                Frame(
                    id=self._id("frame", frame.ms),
                    **self._row,
                    ms=frame.ms,
                    thumbnail_key=thumbnail_keys[frame.ms],
                )
                for frame in record.frames
            ]
        )
        FrameVector.objects.bulk_create(
            [
                FrameVector(
                    id=self._id("frame", frame.ms),
                    **self._row,
                    ms=frame.ms,
                    embedding=_half(frame.embedding),
                    embedding_model=self._frame_model,
                )
                for frame in record.frames
            ]
        )
        Track.objects.bulk_create(
            [
                Track(
                    id=self._id("track", segment_n, number),
                    **self._row,
                    segment_n=segment_n,
                    track_no=number,
                    category=track.category,
                    colour=track.colour,
                    motion=track.motion,
                    start_ms=track.span.start_ms,
                    end_ms=track.span.end_ms,
                    confidence=track.confidence,
                    entered=track.entered,
                    left=track.left,
                    boxes=[list(box) for box in track.boxes],
                    appearance=None if track.appearance is None else _half(track.appearance),
                    crop_ms=None if track.crop is None else track.crop.ms,
                    crop_embedding=None if track.crop is None else _half(track.crop.embedding),
                    crop_model="" if track.crop is None else self._frame_model,
                )
                for number, track in enumerate(record.tracks)
            ]
        )
        TranscriptLine.objects.bulk_create(
            [
                TranscriptLine(
                    id=self._id("transcript", line.span.start_ms, line.span.end_ms, line.track),
                    **self._row,
                    start_ms=line.span.start_ms,
                    end_ms=line.span.end_ms,
                    text=line.text,
                    language=line.language,
                    track=line.track,
                    words=[list(word) for word in line.words],
                    embedding=None if line.embedding is None else _half(line.embedding),
                    embedding_model="" if line.embedding is None else self._text_model,
                )
                for line in record.transcript
            ],
            ignore_conflicts=True,
        )

    def store_events(self, records: Sequence[EventRecord]) -> None:
        """Store events in time order with their entities, mentions and relations, in rows and graph."""
        if not records:
            return
        self._graph.lock_video(self.video_id)
        events = [record.event for record in records]
        Event.objects.bulk_create([self._event(event) for event in events])
        index_words(self.video_id, self.version, events)
        for event in events:
            Chunk.objects.filter(
                video_id=self.video_id, index_version=self.version, n__gte=event.first_chunk, n__lt=event.end_chunk
            ).update(event_id=event.id)
            Frame.objects.filter(
                video_id=self.video_id,
                index_version=self.version,
                ms__gte=event.span.start_ms,
                ms__lt=event.span.end_ms,
            ).update(event_id=event.id)
        self._sketches.add_events(records)
        entity_ids = self.store_entities(records)
        mentions = [mention for record in records for mention in record.mentions]
        Mention.objects.bulk_create([self._mention(mention) for mention in mentions])
        relations = [relation for record in records for relation in record.relations]
        Relation.objects.bulk_create([self._relation(relation) for relation in relations])
        self._store_topology(events, entity_ids, mentions, relations)

    def store_entities(self, records: Sequence[EventRecord]) -> list[UUID]:
        """Store the rows of the entities in their last state, without their topology. Returns their ids."""
        # The last state of an entity in this batch counts.
        entities = {entity.id: entity for record in records for entity in record.entities}
        known = set(Entity.objects.filter(id__in=entities).values_list("id", flat=True))
        Entity.objects.bulk_create(
            [self._entity(entity) for entity in entities.values()],
            update_conflicts=True,
            unique_fields=["tenant", "id"],
            update_fields=["name", "type", "description", "aliases", "weight", "centroid"],
        )
        # A centroid hardly moves between the powers of two of its weight.
        self._sketches.add_entities(
            {
                entity.id: entity.centroid
                for entity in entities.values()
                if entity.id not in known or entity.weight & (entity.weight - 1) == 0
            }
        )
        return list(entities)

    def _store_topology(
        self,
        events: Sequence[ekg.Event],
        entity_ids: Sequence[UUID],
        mentions: Sequence[ekg.LinkedMention],
        relations: Sequence[ekg.Relation],
    ) -> None:
        self._graph.add_events(self.video_id, self.version, [event.id for event in events])
        self._graph.add_entities(self.video_id, self.version, entity_ids)
        before = (
            Event.objects.filter(video_id=self.video_id, index_version=self.version, n=events[0].n - 1)
            .values_list("id", flat=True)
            .first()
        )
        chain = ([before] if before else []) + [event.id for event in events]
        self._graph.link_next(self.video_id, self.version, list(pairwise(chain)))
        self._store_ties(mentions, relations)

    def _store_ties(self, mentions: Sequence[ekg.LinkedMention], relations: Sequence[ekg.Relation]) -> None:
        self._graph.add_participations(
            self.video_id,
            self.version,
            [
                Participation(mention.entity_id, mention.event_id, mention.mention.role[:ROLE_LENGTH])
                for mention in mentions
            ],
        )
        self._graph.add_relations(
            self.video_id,
            self.version,
            [
                RelatedTo(
                    relation.source_id, relation.target_id, relation.predicate[:PREDICATE_LENGTH], relation.event_id
                )
                for relation in relations
            ],
        )

    def replace_entities(self, compaction: Compaction) -> None:
        """Replace all entities, in rows and graph; events stay as they are."""
        self._graph.lock_video(self.video_id)
        for model in (Relation, Mention, Entity):
            model.objects.filter(video_id=self.video_id, index_version=self.version).delete()
        Entity.objects.bulk_create([self._entity(entity) for entity in compaction.entities], batch_size=1_000)
        Mention.objects.bulk_create([self._mention(mention) for mention in compaction.mentions], batch_size=1_000)
        Relation.objects.bulk_create([self._relation(relation) for relation in compaction.relations], batch_size=1_000)
        self._sketches.drop_entities()
        self._sketches.add_entities({entity.id: entity.centroid for entity in compaction.entities})
        self._graph.drop_entities(self.video_id, self.version)
        self._graph.add_entities(self.video_id, self.version, [entity.id for entity in compaction.entities])
        self._store_ties(compaction.mentions, compaction.relations)

    def store_links(self, links: Sequence[ekg.EntityObject]) -> None:
        """Replace all links between the version's entities and tracked objects."""
        EntityObject.objects.filter(video_id=self.video_id, index_version=self.version).delete()
        EntityObject.objects.bulk_create(
            [
                EntityObject(
                    id=self._id("entity object", link.entity_id, link.object_id),
                    **self._row,
                    entity_id=link.entity_id,
                    object_id=link.object_id,
                    confidence=link.confidence,
                )
                for link in links
            ],
            batch_size=1_000,
        )

    def store_summary(self, topics: Sequence[ekg.Topic], overview: ekg.Overview | None) -> None:
        """Replace all topics of the version and its overview."""
        rows = Topic.objects.filter(video_id=self.video_id, index_version=self.version)
        rows.filter(n__gte=len(topics)).delete()
        columns = [
            "start_ms", "end_ms", "first_event", "end_event", "title", "summary", "people", "places", "frame_ms",
            "embedding", "embedding_model",
        ]  # fmt: skip
        Topic.objects.bulk_create(
            [
                Topic(
                    id=self._id("topic", topic.n),
                    **self._row,
                    n=topic.n,
                    start_ms=topic.span.start_ms,
                    end_ms=topic.span.end_ms,
                    first_event=topic.first_event,
                    end_event=topic.end_event,
                    title=topic.title,
                    summary=topic.summary,
                    people=list(topic.people),
                    places=list(topic.places),
                    frame_ms=list(topic.frame_ms),
                    embedding=None if topic.embedding is None else _half(topic.embedding),
                    embedding_model="" if topic.embedding is None else self._text_model,
                )
                for topic in topics
            ],
            update_conflicts=True,
            unique_fields=["tenant", "id"],
            update_fields=columns,
        )
        if overview is not None:
            content = {
                "text": overview.text,
                "people": list(overview.people),
                "places": list(overview.places),
                "until_ms": overview.until_ms,
                "model": overview.model[:100],
            }
            Overview.objects.update_or_create(
                **self._row, defaults=content, create_defaults={**content, "id": self._id("overview")}
            )

    def pending_chunks(self, *, before_segment: int) -> list[ekg.Chunk]:
        """Return the chunks of assembled segments that no event holds yet: the merge window to resume with."""
        rows = list(
            Chunk.objects.filter(
                video_id=self.video_id, index_version=self.version, segment_n__lt=before_segment, event=None
            ).order_by("n")
        )
        if not rows:
            return []
        lines = transcript_between(self.video_id, self.version, rows[0].start_ms, rows[-1].end_ms)
        return [read_chunk(row, lines) for row in rows]

    def next_event_n(self) -> int:
        last = (
            Event.objects.filter(video_id=self.video_id, index_version=self.version)
            .order_by("-n")
            .values_list("n", flat=True)
            .first()
        )
        return 0 if last is None else int(last) + 1

    def _id(self, kind: str, *parts: object) -> UUID:
        return stable_id(kind, self.video_id, self.version, *parts)

    def _event(self, event: ekg.Event) -> Event:
        return Event(
            id=event.id,
            **self._row,
            n=event.n,
            start_ms=event.span.start_ms,
            end_ms=event.span.end_ms,
            first_chunk=event.first_chunk,
            end_chunk=event.end_chunk,
            summary=event.summary,
            embedding=_half(event.embedding),
            embedding_model=self._text_model,
        )

    def _entity(self, entity: ekg.Entity) -> Entity:
        return Entity(
            id=entity.id,
            **self._row,
            name=entity.name[:200],
            type=entity.type[:64],
            description=entity.description,
            aliases=list(entity.aliases),
            weight=entity.weight,
            centroid=_half(entity.centroid),
            embedding_model=self._text_model,
        )

    def _mention(self, linked: ekg.LinkedMention) -> Mention:
        mention = asdict(linked.mention)
        return Mention(
            id=linked.id,
            **self._row,
            entity_id=linked.entity_id,
            event_id=linked.event_id,
            name=mention["name"][:200],
            type=mention["type"][:64],
            description=mention["description"],
            role=mention["role"][:ROLE_LENGTH],
            confidence=mention["confidence"],
            frame_ms=list(mention["frame_ms"]),
            embedding=_half(linked.embedding),
            embedding_model=self._text_model,
        )

    def _relation(self, relation: ekg.Relation) -> Relation:
        return Relation(
            id=relation.id,
            **self._row,
            source_id=relation.source_id,
            target_id=relation.target_id,
            event_id=relation.event_id,
            predicate=relation.predicate[:PREDICATE_LENGTH],
            description=relation.description,
            confidence=relation.confidence,
        )


class StagedEntities:
    """Known entities by nearest centroid (pgvector), replaced by the entities of events that are not yet committed.

    Implements the engine's ports.EntityDirectory. tenant_id is bound here; each look-up is a transaction of its own,
    since model calls happen between look-ups.
    """

    def __init__(self, tenant_id: UUID, video_id: UUID, version: int) -> None:
        self._tenant_id = tenant_id
        self._video_id = video_id
        self._version = version
        self._staged: dict[UUID, ekg.Entity] = {}
        self._expected: dict[bytes, list[tuple[ekg.Entity, float]]] = {}

    def stage(self, record: EventRecord) -> None:
        self._staged.update((entity.id, entity) for entity in record.entities)

    def clear(self) -> None:
        self._staged.clear()
        self._expected.clear()

    def expect(self, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0) -> None:
        """Look all rows up among the committed entities. Nobody else commits any before clear() or the step's end."""
        # Each row may change one entity before the next row is looked up; the staged state of these entities counts.
        spare = len(self._staged) + len(embeddings)
        nearest = nearest_entities(
            self._tenant_id, self._video_id, self._version, embeddings, limit=limit + spare, floor=floor
        )
        self._expected = {_key(row, floor): near for row, near in zip(embeddings, nearest, strict=True)}

    def nearest(
        self, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0
    ) -> Sequence[Sequence[tuple[ekg.Entity, float]]]:
        expected = [self._expected.get(_key(row, floor)) for row in embeddings]
        committed = [near for near in expected if near is not None]
        if len(committed) < len(embeddings):
            committed = nearest_entities(
                self._tenant_id, self._video_id, self._version, embeddings, limit=limit + len(self._staged), floor=floor
            )
        return [
            self._laid_over(entities, row, limit, floor) for entities, row in zip(committed, embeddings, strict=True)
        ]

    def _laid_over(
        self, committed: Sequence[tuple[ekg.Entity, float]], embedding: Vector, limit: int, floor: float
    ) -> list[tuple[ekg.Entity, float]]:
        pairs = [pair for pair in committed if pair[0].id not in self._staged]
        staged = ((entity, float(entity.centroid @ embedding)) for entity in self._staged.values())
        pairs += [pair for pair in staged if pair[1] >= floor]
        return sorted(pairs, key=lambda pair: (-pair[1], str(pair[0].id)))[:limit]


def _key(embedding: Vector, floor: float) -> bytes:
    return embedding.tobytes() + str(floor).encode()

"""The reads of the graph in memory by thing: tracked objects, and the entities with their events and relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from gpu_workers.engine.ekg import ObjectState, Relation, TrackObservation, Vector
from gpu_workers.engine.memory_graph.rows import MemoryRows, moment_of
from gpu_workers.engine.ports import (
    EventPlace,
    NearObject,
    StoredEntity,
    StoredMention,
    StoredObject,
    StoredTrack,
    TimedRelation,
)
from gpu_workers.engine.retrieval.in_scope import entity_in, object_in, track_in
from gpu_workers.engine.retrieval.object_search import nearest_objects


class MemoryThings(MemoryRows):
    """The reads of things, over the rows that the scope admits."""

    def objects(self, *, limit: int, ids: Sequence[UUID] | None = None) -> Sequence[StoredObject]:
        wanted = None if ids is None else set(ids)
        seen = (
            object_in(readable, _stored(video.video_id, state), video.tracks.get(state.id, ()))
            for video in self._videos.values()
            if (readable := self._readable(video)) is not None
            for state in sorted(video.objects, key=lambda state: state.n)
            if wanted is None or state.id in wanted
        )
        return [thing for thing in seen if thing is not None][: max(0, limit)]

    def objects_like(self, vector: Vector, *, limit: int) -> Sequence[NearObject]:
        near = [
            NearObject(object_id, track.crop.ms, float(track.crop.embedding @ vector))
            for video in self._videos.values()
            if (readable := self._readable(video)) is not None
            for object_id, tracks in video.tracks.items()
            for track in tracks
            if track.crop is not None and readable.contains(track.crop.ms)
        ]
        return nearest_objects(near, limit=limit)

    def tracks_of(self, object_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredTrack]:
        wanted = set(object_ids)
        tracks = [
            StoredTrack(object_id, video.video_id, part)
            for video in self._videos.values()
            if (readable := self._readable(video)) is not None
            for object_id, observed in video.tracks.items()
            if object_id in wanted
            for track in observed
            if (part := track_in(readable, track)) is not None
        ]
        return sorted(tracks, key=lambda track: (track.video_id, _track_order(track.observed)))[: max(0, limit)]

    def entities(self, entity_ids: Sequence[UUID]) -> Mapping[UUID, StoredEntity]:
        return {
            entity_id: self._entity(entity_id)
            for entity_id in dict.fromkeys(entity_ids)
            if self._events_of_entity.get(entity_id)
        }

    def entities_of(self, event_ids: Sequence[UUID]) -> Sequence[StoredMention]:
        return [
            StoredMention(linked.entity_id, event_id, linked.mention.name, linked.mention.role)
            for event_id in dict.fromkeys(event_ids)
            for linked in sorted(
                self._mentions.get(event_id, ()),
                key=lambda linked: (-self._entities[linked.entity_id].weight, linked.entity_id),
            )
        ]

    def events_of(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[EventPlace]:
        events = {event_id for entity_id in entity_ids for event_id in self._events_of_entity.get(entity_id, ())}
        return [place for place in self._timeline if place.event_id in events][: max(0, limit)]

    def relations_of(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[TimedRelation]:
        wanted = set(entity_ids)
        relations = [
            self._timed(relation, place)
            for place in self._timeline
            for relation in sorted(self._relations.get(place.event_id, ()), key=lambda relation: relation.id)
            if wanted & {relation.source_id, relation.target_id}
        ]
        return relations[: max(0, limit)]

    def _entity(self, entity_id: UUID) -> StoredEntity:
        entity = self._entities[entity_id]
        whole = StoredEntity(
            entity_id,
            self._video_of[entity_id],
            entity.name,
            entity.type,
            entity.description,
            entity.aliases,
            entity.weight,
        )
        events = sorted(self._events_of_entity[entity_id], key=lambda event_id: moment_of(self._places[event_id]))
        mentions = [
            (linked.mention.name, linked.mention.type, linked.mention.description)
            for event_id in events
            for linked in self._mentions[event_id]
            if linked.entity_id == entity_id
        ]
        return whole if len(mentions) == self._participations[entity_id] else entity_in(whole, mentions)

    def _timed(self, relation: Relation, place: EventPlace) -> TimedRelation:
        own_name = {linked.entity_id: linked.mention.name for linked in self._mentions.get(place.event_id, ())}
        source, target = (
            own_name.get(end, self._entities[end].name) for end in (relation.source_id, relation.target_id)
        )
        return TimedRelation(
            relation.id,
            relation.source_id,
            source,
            relation.predicate,
            relation.target_id,
            target,
            relation.description,
            place,
        )


def _track_order(track: TrackObservation) -> tuple[int, int, int]:
    return track.span.start_ms, track.track_id, track.span.end_ms


def _stored(video_id: UUID, state: ObjectState) -> StoredObject:
    return StoredObject(
        state.id,
        video_id,
        state.n,
        state.category,
        state.colour,
        state.spans,
        state.entries,
        state.exits,
        state.confidence,
    )

"""Reads of a question's scope by thing: tracked objects, and entities with their events and relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from backend.ekg.models import Track, TrackedObject
from backend.ekg.moment_reads import MomentReads, places
from backend.ekg.stored_rows import read_track
from backend.ekg.views import INSIDE, SCOPE
from gpu_workers.engine.ekg import Span, TrackObservation
from gpu_workers.engine.ports import (
    EventPlace,
    StoredEntity,
    StoredMention,
    StoredObject,
    StoredTrack,
    TimedRelation,
)
from gpu_workers.engine.retrieval.in_scope import entity_in, object_in, track_in

_WITH_INSIDE = f"WITH {SCOPE}, {INSIDE} "
_UNTIL = "least(scope.to_ms, scope.until_ms)"
OBJECT_IN_SCOPE = (
    f"o.tenant_id = %(tenant)s AND scope.from_ms < {_UNTIL} "
    f"AND EXISTS (SELECT FROM jsonb_array_elements(o.spans) span "
    f"WHERE (span->>0)::bigint < {_UNTIL} AND (span->>1)::bigint > scope.from_ms)"
)
_OBJECTS = (
    f"WITH {SCOPE} SELECT o.*, scope.from_ms, {_UNTIL} AS to_ms "
    "FROM ekg_trackedobject o JOIN scope USING (video_id, index_version) "
    f"WHERE {OBJECT_IN_SCOPE} AND (%(ids)s::uuid[] IS NULL OR o.id = ANY(%(ids)s::uuid[])) "
    "ORDER BY o.video_id, o.n LIMIT %(limit)s"
)
OBJECTS_LIKE = (
    f"WITH {SCOPE} SELECT object_id, crop_ms, similarity FROM "
    "(SELECT DISTINCT ON (t.object_id) t.object_id, t.crop_ms, "
    "-(t.crop_embedding <#> %(vector)s::halfvec) AS similarity "
    "FROM ekg_track t JOIN scope USING (video_id, index_version) "
    "WHERE t.tenant_id = %(tenant)s AND t.object_id IS NOT NULL AND t.crop_model = %(frame_model)s "
    f"AND t.crop_ms >= scope.from_ms AND t.crop_ms < {_UNTIL} "
    "ORDER BY t.object_id, similarity DESC, t.crop_ms) near ORDER BY similarity DESC, object_id LIMIT %(limit)s"
)
_TRACKS = (
    f"WITH {SCOPE} SELECT t.id, t.video_id, t.object_id, t.track_no, t.category, t.colour, t.motion, t.start_ms, "
    f't.end_ms, t.confidence, t.entered, t."left", t.boxes, t.appearance, scope.from_ms, {_UNTIL} AS to_ms '
    "FROM ekg_track t JOIN scope USING (video_id, index_version) "
    f"WHERE t.tenant_id = %(tenant)s AND t.object_id = ANY(%(ids)s::uuid[]) AND scope.from_ms < {_UNTIL} "
    f"AND t.start_ms < {_UNTIL} AND t.end_ms > scope.from_ms "
    f"ORDER BY t.video_id, greatest(t.start_ms, scope.from_ms), t.track_no, least(t.end_ms, {_UNTIL}) LIMIT %(limit)s"
)
_ENTITIES = _WITH_INSIDE + (
    "SELECT u.id, u.video_id, u.name, u.type, u.description, ARRAY(SELECT jsonb_array_elements_text(u.aliases)), "
    "u.weight, count(*), count(e.id) FROM ekg_entity u JOIN scope USING (video_id, index_version) "
    "JOIN ekg_mention m ON m.tenant_id = u.tenant_id AND m.entity_id = u.id LEFT JOIN inside e ON e.id = m.event_id "
    "WHERE u.tenant_id = %(tenant)s AND u.id = ANY(%(ids)s::uuid[]) GROUP BY u.tenant_id, u.id HAVING count(e.id) > 0"
)
_MENTIONS = _WITH_INSIDE + (
    "SELECT m.entity_id, m.name, m.type, m.description FROM inside e "
    "JOIN ekg_mention m ON m.tenant_id = %(tenant)s AND m.event_id = e.id WHERE m.entity_id = ANY(%(ids)s::uuid[]) "
    "ORDER BY e.video_id, e.start_ms, e.n, e.id"
)
_ENTITIES_OF = _WITH_INSIDE + (
    "SELECT m.event_id, m.entity_id, m.name, m.role FROM inside e JOIN ekg_mention m ON m.tenant_id = %(tenant)s "
    "AND m.event_id = e.id JOIN ekg_entity u ON u.tenant_id = m.tenant_id AND u.id = m.entity_id "
    "WHERE e.id = ANY(%(ids)s::uuid[]) ORDER BY u.weight DESC, u.id"
)
_EVENTS_OF = _WITH_INSIDE + (
    "SELECT DISTINCT e.id, e.video_id, e.n, e.start_ms, e.end_ms FROM inside e "
    "JOIN ekg_mention m ON m.tenant_id = %(tenant)s AND m.event_id = e.id WHERE m.entity_id = ANY(%(ids)s::uuid[]) "
    "ORDER BY e.video_id, e.start_ms, e.n, e.id LIMIT %(limit)s"
)
# An end has the name of the event's own mention, as in engine.retrieval.facts.
_RELATIONS_OF = _WITH_INSIDE + (
    "SELECT r.id, r.source_id, coalesce(source.name, a.name), r.predicate, r.target_id, coalesce(target.name, b.name), "
    "r.description, e.id, e.video_id, e.n, e.start_ms, e.end_ms FROM inside e "
    "JOIN ekg_relation r ON r.tenant_id = %(tenant)s AND r.event_id = e.id "
    "JOIN ekg_entity a ON a.tenant_id = r.tenant_id AND a.id = r.source_id "
    "JOIN ekg_entity b ON b.tenant_id = r.tenant_id AND b.id = r.target_id "
    "LEFT JOIN ekg_mention source ON source.tenant_id = r.tenant_id AND source.event_id = r.event_id "
    "AND source.entity_id = r.source_id "
    "LEFT JOIN ekg_mention target ON target.tenant_id = r.tenant_id AND target.event_id = r.event_id "
    "AND target.entity_id = r.target_id "
    "WHERE r.source_id = ANY(%(ids)s::uuid[]) OR r.target_id = ANY(%(ids)s::uuid[]) "
    "ORDER BY e.video_id, e.start_ms, e.n, e.id, r.id LIMIT %(limit)s"
)


class ThingReads(MomentReads):
    """The reads of engine.ports.KnowledgeGraph by thing."""

    # --- tracked objects -------------------------------------------------------------------------------------------

    def objects(self, *, limit: int, ids: Sequence[UUID] | None = None) -> Sequence[StoredObject]:
        def read() -> list[StoredObject]:
            parameters = {"limit": max(0, limit), "ids": None if ids is None else list(set(ids))}
            rows = list(TrackedObject.objects.raw(_OBJECTS, self._scope_parameters | parameters))
            scopes = {row.id: Span(row.from_ms, row.to_ms) for row in rows}
            whole = [_stored(row) for row in rows]
            reaching = [thing.id for thing in whole if not all(map(scopes[thing.id].holds, thing.spans))]
            crossings = _crossings(reaching)
            seen = (object_in(scopes[thing.id], thing, crossings[thing.id]) for thing in whole)
            return [thing for thing in seen if thing is not None]

        return self._run(read)

    def tracks_of(self, object_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredTrack]:
        def read() -> list[StoredTrack]:
            tracks = []
            parameters = {"ids": list(set(object_ids)), "limit": max(0, limit)}
            for row in Track.objects.raw(_TRACKS, self._scope_parameters | parameters):
                scope = Span(row.from_ms, row.to_ms)
                observed = track_in(scope, read_track(row))
                if observed is not None and row.object_id is not None:
                    tracks.append(StoredTrack(row.object_id, row.video_id, observed))
            return tracks

        return self._run(read) if object_ids else []

    # --- entities --------------------------------------------------------------------------------------------------

    def entities(self, entity_ids: Sequence[UUID]) -> Mapping[UUID, StoredEntity]:
        return self._run(lambda: self._entities(entity_ids)) if entity_ids else {}

    def _entities(self, entity_ids: Sequence[UUID]) -> dict[UUID, StoredEntity]:
        rows = self._rows(_ENTITIES, ids=list(set(entity_ids)))
        partial = [row[0] for row in rows if row[8] < row[7]]
        mentions: defaultdict[UUID, list[tuple[str, str, str]]] = defaultdict(list)
        for entity_id, name, kind, description in self._rows(_MENTIONS, ids=partial) if partial else ():
            mentions[entity_id].append((name, kind, description))
        entities = {}
        for entity_id, video_id, name, kind, description, aliases, weight, *_ in rows:
            whole = StoredEntity(entity_id, video_id, name, kind, description, tuple(aliases), weight)
            entities[entity_id] = entity_in(whole, mentions[entity_id]) if entity_id in mentions else whole
        return entities

    def entities_of(self, event_ids: Sequence[UUID]) -> Sequence[StoredMention]:
        rows = self._run(lambda: self._rows(_ENTITIES_OF, ids=list(set(event_ids)))) if event_ids else []
        mentions: defaultdict[UUID, list[StoredMention]] = defaultdict(list)
        for event_id, entity_id, name, role in rows:
            mentions[event_id].append(StoredMention(entity_id, event_id, name, role))
        return [mention for event_id in dict.fromkeys(event_ids) for mention in mentions[event_id]]

    def events_of(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[EventPlace]:
        parameters = {"ids": list(set(entity_ids)), "limit": max(0, limit)}
        return places(self._run(lambda: self._rows(_EVENTS_OF, **parameters))) if entity_ids else []

    def relations_of(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[TimedRelation]:
        parameters = {"ids": list(set(entity_ids)), "limit": max(0, limit)}
        rows = self._run(lambda: self._rows(_RELATIONS_OF, **parameters)) if entity_ids else []
        return [_timed(*row) for row in rows]


def _timed(
    relation_id: UUID,
    source_id: UUID,
    source: str,
    predicate: str,
    target_id: UUID,
    target: str,
    description: str,
    *place: Any,
) -> TimedRelation:
    return TimedRelation(relation_id, source_id, source, predicate, target_id, target, description, places([place])[0])


def _stored(row: TrackedObject) -> StoredObject:
    return StoredObject(
        id=row.id,
        video_id=row.video_id,
        n=row.n,
        category=row.category,
        colour=row.colour,
        spans=tuple(Span(start_ms, end_ms) for start_ms, end_ms in row.spans),
        entries=row.entries,
        exits=row.exits,
        confidence=row.confidence,
    )


def _crossings(object_ids: Sequence[UUID]) -> Mapping[UUID, list[TrackObservation]]:
    """Return the tracks in which the objects entered or left, by object, with their times alone."""
    crossings: defaultdict[UUID, list[TrackObservation]] = defaultdict(list)
    tracks = Track.objects.filter(Q(entered=True) | Q(left=True), object_id__in=object_ids)
    for row in tracks.defer("boxes", "appearance", "crop_embedding") if object_ids else ():
        span = Span(row.start_ms, row.end_ms)
        track = TrackObservation(row.track_no, row.category, span, row.confidence, entered=row.entered, left=row.left)
        if row.object_id is not None:
            crossings[row.object_id].append(track)
    return crossings

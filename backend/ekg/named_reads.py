"""Reads of a question's scope by name, and the links between entities and tracked objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from backend.ekg.thing_reads import OBJECT_IN_SCOPE, ThingReads
from backend.ekg.views import EVENT_OF_TOPIC, INSIDE, SCOPE
from gpu_workers.engine.ekg import EntityObject
from gpu_workers.engine.ports import Hit, NamedView, StoredEntity
from gpu_workers.engine.retrieval.named_things import CANDIDATES, NamedThing, NamingWords, named_hits, object_name

_WITH_INSIDE = f"WITH {SCOPE}, {INSIDE} "
# engine.retrieval.in_scope.folded() in SQL. strpos has no wildcards.
_HAS_PART = (
    'EXISTS (SELECT FROM (SELECT casefold(normalize({text}, NFC) COLLATE "pg_unicode_fast") AS text OFFSET 0) folded '
    "JOIN unnest(%(parts)s::text[]) part ON strpos(folded.text, part) > 0)"
)
_NAMES = "concat_ws(E'\\n', u.name, (SELECT string_agg(alias, E'\\n') FROM jsonb_array_elements_text(u.aliases) alias))"
_TAKES_PART = (
    "EXISTS (SELECT FROM ekg_mention m JOIN inside e ON e.id = m.event_id "
    "WHERE m.tenant_id = u.tenant_id AND m.entity_id = u.id)"
)
_ENTITIES_NAMED = _WITH_INSIDE + (
    "SELECT u.id FROM ekg_entity u JOIN scope USING (video_id, index_version) WHERE u.tenant_id = %(tenant)s "
    f"AND {_HAS_PART.format(text=_NAMES)} AND {_TAKES_PART} ORDER BY u.weight DESC, u.id LIMIT %(limit)s"
)
_EVENTS_OF_ENTITIES = _WITH_INSIDE + (
    "SELECT DISTINCT m.entity_id, e.video_id, e.start_ms, e.n, e.id FROM inside e JOIN ekg_mention m "
    "ON m.tenant_id = %(tenant)s AND m.event_id = e.id WHERE m.entity_id = ANY(%(ids)s::uuid[]) "
    "ORDER BY e.video_id, e.start_ms, e.n, e.id"
)
_TOPICS_NAMED = _WITH_INSIDE + (
    "SELECT topic.id, topic.title, e.id FROM ekg_topic topic JOIN scope USING (video_id, index_version) "
    f"JOIN inside e ON {EVENT_OF_TOPIC} WHERE topic.tenant_id = %(tenant)s AND topic.start_ms >= scope.from_ms "
    "AND topic.end_ms <= least(scope.to_ms, scope.until_ms) "
    f"AND {_HAS_PART.format(text='topic.title')} ORDER BY e.video_id, e.start_ms, e.n, e.id"
)
_KINDS_OF_OBJECTS = (
    f"WITH {SCOPE} SELECT DISTINCT o.category, o.colour FROM ekg_trackedobject o "
    "JOIN scope USING (video_id, index_version) WHERE o.tenant_id = %(tenant)s"
)
_OBJECTS_NAMED = (
    f"WITH {SCOPE} SELECT o.id, o.video_id, o.n, o.category, o.colour FROM ekg_trackedobject o "
    "JOIN scope USING (video_id, index_version) "
    "JOIN unnest(%(categories)s::text[], %(colours)s::text[]) kind(category, colour) USING (category, colour) "
    f"WHERE {OBJECT_IN_SCOPE} ORDER BY o.video_id, o.n LIMIT %(limit)s"
)
_EVENTS_OF_OBJECTS = _WITH_INSIDE + (
    "SELECT DISTINCT o.id, e.video_id, e.start_ms, e.n, e.id FROM ekg_trackedobject o "
    "JOIN scope USING (video_id, index_version) CROSS JOIN LATERAL jsonb_array_elements(o.spans) span "
    "JOIN inside e ON e.video_id = o.video_id AND e.index_version = o.index_version "
    "AND e.start_ms < least((span->>1)::bigint, scope.to_ms) "
    "AND e.end_ms > greatest((span->>0)::bigint, scope.from_ms) "
    "WHERE o.tenant_id = %(tenant)s AND o.id = ANY(%(ids)s::uuid[]) "
    "AND (span->>0)::bigint < least(scope.to_ms, scope.until_ms) AND (span->>1)::bigint > scope.from_ms "
    "ORDER BY e.video_id, e.start_ms, e.n, e.id"
)
_LINKS = _WITH_INSIDE + (
    "SELECT link.entity_id, link.object_id, link.confidence FROM ekg_entityobject link "
    "JOIN ekg_entity u ON u.tenant_id = link.tenant_id AND u.id = link.entity_id "
    "JOIN ekg_trackedobject o ON o.tenant_id = link.tenant_id AND o.id = link.object_id "
    "JOIN scope ON scope.video_id = o.video_id AND scope.index_version = o.index_version "
    "WHERE link.tenant_id = %(tenant)s AND (link.entity_id = ANY(%(ids)s::uuid[]) "
    f"OR link.object_id = ANY(%(ids)s::uuid[])) AND {_TAKES_PART} AND {OBJECT_IN_SCOPE} "
    "ORDER BY link.confidence DESC, link.entity_id, link.object_id LIMIT %(limit)s"
)


class NamedReads(ThingReads):
    """The reads of engine.ports.KnowledgeGraph by name."""

    def things_named(self, text: str, *, limit: int) -> Mapping[NamedView, Sequence[Hit]]:
        words = NamingWords.of(text)

        def read() -> Mapping[NamedView, Sequence[Hit]]:
            return named_hits(
                {
                    "name": self._entities_named(words),
                    "title": self._topics_named(words),
                    "object": self._objects_named(words),
                },
                limit,
            )

        return self._run(read) if words.content and limit > 0 else {"name": [], "title": [], "object": []}

    def links_of(self, ids: Sequence[UUID], *, limit: int) -> Sequence[EntityObject]:
        parameters = {"ids": list(set(ids)), "limit": max(0, limit)}
        rows = self._run(lambda: self._rows(_LINKS, **parameters)) if ids else []
        return [EntityObject(*row) for row in rows]

    def _entities_named(self, words: NamingWords) -> Iterable[NamedThing]:
        rows = self._rows(_ENTITIES_NAMED, parts=words.parts, limit=CANDIDATES)
        named: dict[UUID, tuple[StoredEntity, float, str]] = {}
        for entity_id, entity in self._entities([row[0] for row in rows]).items():
            share, name = words.share_of_name((entity.name, *entity.aliases))
            if share:
                named[entity_id] = (entity, share, name)
        events = self._events_by_thing(_EVENTS_OF_ENTITIES, list(named))
        for entity_id, (entity, share, name) in named.items():
            yield NamedThing(entity_id, share, name, (-entity.weight, entity_id), events[entity_id])

    def _topics_named(self, words: NamingWords) -> Iterable[NamedThing]:
        titles: dict[UUID, str] = {}
        events: defaultdict[UUID, list[UUID]] = defaultdict(list)
        for topic_id, title, event_id in self._rows(_TOPICS_NAMED, parts=words.parts):
            titles[topic_id] = title
            events[topic_id].append(event_id)
        for topic_id, title in titles.items():
            share, name = words.share_of_name((title,))
            if share:
                yield NamedThing(topic_id, share, name, (topic_id,), tuple(events[topic_id]))

    def _objects_named(self, words: NamingWords) -> Iterable[NamedThing]:
        shares = {(row[0], row[1]): words.share_of_object(row[0], row[1]) for row in self._rows(_KINDS_OF_OBJECTS)}
        kinds = [kind for kind, share in shares.items() if share]
        if not kinds:
            return
        wanted = {"categories": [category for category, _ in kinds], "colours": [colour for _, colour in kinds]}
        rows = self._rows(_OBJECTS_NAMED, **wanted, limit=CANDIDATES)
        events = self._events_by_thing(_EVENTS_OF_OBJECTS, [row[0] for row in rows])
        for object_id, video_id, n, category, colour in rows:
            name = object_name(category, colour)
            yield NamedThing(object_id, shares[category, colour], name, (video_id, n), events[object_id])

    def _events_by_thing(self, sql: str, ids: Sequence[Any]) -> defaultdict[UUID, tuple[UUID, ...]]:
        events: defaultdict[UUID, tuple[UUID, ...]] = defaultdict(tuple)
        for row in self._rows(sql, ids=list(ids)) if ids else ():
            events[row[0]] = (*events[row[0]], row[4])
        return events

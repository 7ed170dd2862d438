"""The reads of the graph in memory by name, and the links between entities and tracked objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from gpu_workers.engine.ekg import EntityObject, stable_id
from gpu_workers.engine.memory_graph.rows import moment_of
from gpu_workers.engine.memory_graph.things import MemoryThings
from gpu_workers.engine.ports import Hit, NamedView, StoredObject
from gpu_workers.engine.retrieval.in_scope import folded
from gpu_workers.engine.retrieval.named_things import CANDIDATES, NamedThing, NamingWords, named_hits, object_name


class MemoryNames(MemoryThings):
    """The reads by name, over the rows that the scope admits."""

    def things_named(self, text: str, *, limit: int) -> Mapping[NamedView, Sequence[Hit]]:
        words = NamingWords.of(text)
        return named_hits(
            {
                "name": self._entities_named(words),
                "title": self._topics_named(words),
                "object": self._objects_named(words),
            },
            limit,
        )

    def links_of(self, ids: Sequence[UUID], *, limit: int) -> Sequence[EntityObject]:
        wanted, visible = set(ids), {thing.id for thing in self._all_objects()}
        links = [
            link
            for video in self._videos.values()
            for link in video.links
            if wanted & {link.entity_id, link.object_id}
            and self._events_of_entity.get(link.entity_id)
            and link.object_id in visible
        ]
        links.sort(key=lambda link: (-link.confidence, link.entity_id, link.object_id))
        return links[: max(0, limit)]

    # --- things ----------------------------------------------------------------------------------------------------

    def _entities_named(self, words: NamingWords) -> Iterable[NamedThing]:
        parts = words.parts
        known = [self._entities[entity_id] for entity_id, events in self._events_of_entity.items() if events]
        names = {entity.id: folded("\n".join((entity.name, *entity.aliases))) for entity in known}
        likely = [entity for entity in known if any(part in names[entity.id] for part in parts)]
        likely.sort(key=lambda entity: (-entity.weight, entity.id))
        for whole in likely[:CANDIDATES]:
            entity = self._entity(whole.id)
            share, name = words.share_of_name((entity.name, *entity.aliases))
            if share:
                events = self._in_order(self._events_of_entity[entity.id])
                yield NamedThing(entity.id, share, name, (-entity.weight, entity.id), events)

    def _topics_named(self, words: NamingWords) -> Iterable[NamedThing]:
        for video in self._videos.values():
            for topic in self.topics(video.video_id):
                share, title = words.share_of_name((topic.title,))
                if share:
                    topic_id = stable_id("topic", video.video_id, video.index_version, topic.n)
                    places = [place for place in self._timeline if place.video_id == video.video_id]
                    members = [place.event_id for place in places if topic.first_event <= place.n < topic.end_event]
                    yield NamedThing(topic_id, share, title, (topic_id,), tuple(members))

    def _objects_named(self, words: NamingWords) -> Iterable[NamedThing]:
        shares = ((thing, words.share_of_object(thing.category, thing.colour)) for thing in self._all_objects())
        for thing, share in [pair for pair in shares if pair[1]][:CANDIDATES]:
            spans = (self.events_between(thing.video_id, span, limit=len(self._timeline)) for span in thing.spans)
            events = self._in_order({place.event_id for places in spans for place in places})
            name = object_name(thing.category, thing.colour)
            yield NamedThing(thing.id, share, name, (thing.video_id, thing.n), events)

    def _all_objects(self) -> Sequence[StoredObject]:
        return self.objects(limit=sum(len(video.objects) for video in self._videos.values()))

    def _in_order(self, event_ids: Iterable[UUID]) -> tuple[UUID, ...]:
        return tuple(sorted(event_ids, key=lambda event_id: moment_of(self._places[event_id])))

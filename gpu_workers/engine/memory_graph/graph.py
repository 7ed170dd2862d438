"""The graph in memory: its views and its edges, over the rows that the scope admits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal
from uuid import UUID

from gpu_workers.engine.ekg import Span, Vector, stable_id
from gpu_workers.engine.memory_graph.named import MemoryNames
from gpu_workers.engine.memory_graph.video import MemoryVideo
from gpu_workers.engine.memory_graph.views import Part, View, WordsView
from gpu_workers.engine.ports import EntityFact, EventSimilarity, Hit, NearPart, ViewName, ViewQuery, Within
from gpu_workers.engine.retrieval.facts import Appearance, Participation, StatedRelation, connected_events, facts_of


class InMemoryGraph(MemoryNames):
    """Implements ports.KnowledgeGraph over a set of videos by exact cosine.

    span: if given, only what lies in it exists for the reader: events that overlap it, frames inside it. spans: the
    same for single videos.
    """

    def __init__(
        self, videos: Iterable[MemoryVideo], *, span: Span | None = None, spans: Mapping[UUID, Span] | None = None
    ) -> None:
        super().__init__(videos, span=span, spans=spans)
        self._next: dict[UUID, UUID] = {}
        self._views: dict[ViewName, View] = {
            name: View() for name in ("event", "entity", "frame", "transcript", "topic")
        }
        for video in self._videos.values():
            self._add_views(video)
        self._views["event"].following = self._next
        self._words = WordsView(self._events)
        # After all events, since an entity's last state counts.
        for entity_id, event_ids in self._events_of_entity.items():
            entity = self._entities[entity_id]
            self._views["entity"].add(entity_id, entity.centroid, event_ids, entity.name)

    def narrowed(self, spans: Mapping[UUID, Span]) -> InMemoryGraph:
        parts = {
            video_id: part
            for video_id, span in spans.items()
            if video_id in self._videos and (part := span.cut_to(self._span_of(video_id))) is not None
        }
        return InMemoryGraph((self._videos[video_id] for video_id in parts), spans=parts)

    # --- views -----------------------------------------------------------------------------------------------------

    def search_views(
        self, queries: Mapping[ViewName, ViewQuery], *, floor: float = 0.1
    ) -> Mapping[ViewName, Sequence[Hit]]:
        parts = {name: self._part(query.within) for name, query in queries.items() if query.within is not None}
        return {
            name: self._words.hits(query, parts.get(name))
            if name == "words"
            else [
                Hit(event_id, cosine, name, item.id, item.words.strip())
                for item, event_ids, cosine in self._views[name].nearest(query, parts.get(name), floor=floor)
                for event_id in event_ids
            ]
            for name, query in queries.items()
        }

    def _part(self, within: Within) -> Part:
        places = self.events_between(within.video_id, within.span, limit=len(self._timeline))
        asked = within.span.cut_to(self._span_of(within.video_id))
        return Part(asked or within.span, frozenset(place.event_id for place in places))

    def similarities(
        self, event_ids: Sequence[UUID], *, text: Vector, frame: Vector, limit: int
    ) -> Mapping[UUID, EventSimilarity]:
        wanted = set(event_ids)
        own = self._views["event"].cosines(text, wanted)
        parts: dict[UUID, list[NearPart]] = {event_id: [] for event_id in wanted if event_id in self._events}
        views: tuple[tuple[Literal["frame", "transcript"], Vector], ...] = (("frame", frame), ("transcript", text))
        for name, vector in views:
            found: dict[UUID, list[NearPart]] = {}
            for item, cosine in self._views[name].cosines(vector, wanted).values():
                for event_id in item.event_ids:
                    if event_id in parts and item.span is not None and self._in_span(event_id, item.span):
                        words = item.words.strip() if name == "transcript" else ""
                        found.setdefault(event_id, []).append(NearPart(name, item.id, item.span, cosine, words))
            for event_id, near in found.items():
                parts[event_id] += sorted(near, key=lambda part: (-part.similarity, part.id))[: max(0, limit)]
        return {
            event_id: EventSimilarity(own[event_id][1] if event_id in own else None, tuple(near))
            for event_id, near in parts.items()
        }

    def _in_span(self, event_id: UUID, span: Span) -> bool:
        """Whether a part of an event lies in what the scope admits of the event's video."""
        return span.overlaps(self._span_of(self._events[event_id].video_id))

    # --- edges -----------------------------------------------------------------------------------------------------

    def next_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return {event_id: self._next[event_id] for event_id in event_ids if event_id in self._next}

    def previous_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        later = set(event_ids)
        return {after: before for before, after in self._next.items() if after in later}

    def events_sharing_entities(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[Hit]:
        seeds = set(event_ids)
        shared = {mention.entity_id for event_id in seeds for mention in self._mentions.get(event_id, ())}
        ends = [(r.source_id, r.target_id) for relations in self._relations.values() for r in relations]
        reached = {end for pair in ends if shared & set(pair) for end in pair}
        return connected_events(
            (
                Appearance(entity_id, self._entities[entity_id].name, event_id, self._events[event_id].n)
                for entity_id in shared | reached
                for event_id in self._events_of_entity.get(entity_id, ())
            ),
            seeds=seeds,
            shared=shared,
            limit=limit,
        )

    def facts(self, event_ids: Sequence[UUID]) -> Sequence[EntityFact]:
        wanted = dict.fromkeys(event_ids)
        mentions = (mention for event_id in wanted for mention in self._mentions.get(event_id, ()))
        relations = (relation for event_id in wanted for relation in self._relations.get(event_id, ()))
        return facts_of(
            event_ids,
            (
                Participation(
                    linked.entity_id,
                    linked.event_id,
                    linked.mention.name,
                    linked.mention.type,
                    linked.mention.role,
                    linked.mention.description,
                    self._entities[linked.entity_id].weight,
                )
                for linked in mentions
            ),
            (
                StatedRelation(
                    relation.id,
                    relation.event_id,
                    relation.source_id,
                    self._entities[relation.source_id].name,
                    relation.predicate,
                    relation.target_id,
                    self._entities[relation.target_id].name,
                    relation.description,
                )
                for relation in relations
            ),
        )

    # --- construction ----------------------------------------------------------------------------------------------

    def _add_views(self, video: MemoryVideo) -> None:
        version = (video.video_id, video.index_version)
        events = [record.event for record in video.events if record.event.id in self._events]
        for event in events:
            self._views["event"].add(event.id, event.embedding, [event.id])
        for before, after in pairwise(events):
            if after.n == before.n + 1:
                self._next[before.id] = after.id
        rows = {row.ms: row for row in video.frames}
        for frame in (frame for event in events for frame in self._frames.get(event.id, ())):
            at = Span(frame.ms, frame.ms + 1)
            vector = rows[frame.ms].embedding
            self._views["frame"].add(frame.id, vector, [frame.event_id], f"at {frame.ms} ms", at)
        seen: set[UUID] = set()
        for line in (line for chunk in video.chunks for line in chunk.transcript):
            line_id = stable_id("transcript", *version, line.span.start_ms, line.span.end_ms, line.track)
            event_ids = self._events_of_line.get(line_id)
            if event_ids and line.embedding is not None and line_id not in seen:
                seen.add(line_id)
                self._views["transcript"].add(line_id, line.embedding, event_ids, line.text, line.span)
        for topic in self.topics(video.video_id):
            members = [event.id for event in events if topic.first_event <= event.n < topic.end_event]
            if topic.embedding is not None and members:
                topic_id = stable_id("topic", *version, topic.n)
                self._views["topic"].add(topic_id, topic.embedding, members, topic.title, topic.span)

"""The rows that a scope admits, held in memory, and the reads of them by time, words and topic."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from gpu_workers.engine.ekg import (
    Chunk,
    Entity,
    Event,
    LinkedMention,
    Overview,
    Relation,
    Span,
    Topic,
    TranscriptLine,
    stable_id,
)
from gpu_workers.engine.memory_graph.video import END_OF_TIME, MemoryVideo
from gpu_workers.engine.ports import (
    EventPlace,
    Recording,
    StoredEvent,
    StoredFrame,
    StoredLine,
)
from gpu_workers.engine.retrieval.frames import evenly, spread
from gpu_workers.engine.retrieval.in_scope import folded, overview_in, searchable


class MemoryRows:
    """The rows of a set of videos that one scope admits.

    span: if given, only events that overlap it and frames inside it exist for the reader. spans: the same for single
    videos; a video that is missing keeps span.
    """

    def __init__(
        self, videos: Iterable[MemoryVideo], *, span: Span | None = None, spans: Mapping[UUID, Span] | None = None
    ) -> None:
        # In one order everywhere: videos by id, events by time.
        self._videos = {video.video_id: video for video in sorted(videos, key=lambda video: video.video_id)}
        self._whole = span or Span(0, END_OF_TIME)
        self._spans = dict(spans or {})
        self._events: dict[UUID, StoredEvent] = {}
        self._entities: dict[UUID, Entity] = {}
        self._video_of: dict[UUID, UUID] = {}
        self._participations: Counter[UUID] = Counter()
        self._mentions: dict[UUID, list[LinkedMention]] = defaultdict(list)
        self._relations: dict[UUID, list[Relation]] = defaultdict(list)
        self._events_of_entity: dict[UUID, list[UUID]] = defaultdict(list)
        self._frames: dict[UUID, list[StoredFrame]] = defaultdict(list)
        self._jpegs: dict[str, bytes] = {}
        self._lines: dict[UUID, StoredLine] = {}
        self._events_of_line: dict[UUID, list[UUID]] = defaultdict(list)
        for video in self._videos.values():
            scope = self._span_of(video.video_id)
            known = ((record.event, record.event.span) for record in video.events)
            events = [event for event, at in known if at.end_ms <= video.until_ms and at.overlaps(scope)]
            self._add_events(video, events)
            self._add_frames(video, events)
        self._timeline = sorted(map(_place, self._events.values()), key=moment_of)
        self._places = {place.event_id: place for place in self._timeline}
        self._frames_in_order: dict[UUID, list[StoredFrame]] = defaultdict(list)
        for frame in sorted((f for frames in self._frames.values() for f in frames), key=lambda frame: frame.ms):
            self._frames_in_order[frame.video_id].append(frame)

    # --- recordings ------------------------------------------------------------------------------------------------

    def recordings(self) -> Mapping[UUID, Recording]:
        return {video_id: self._recording(video) for video_id, video in self._videos.items()}

    def _recording(self, video: MemoryVideo) -> Recording:
        held = (record.event.span.end_ms for record in video.events)
        # A video that was never cut off is known as far as something is known about it.
        until_ms = video.until_ms if video.until_ms < END_OF_TIME else max(held, default=0)
        end_ms = min(until_ms, self._span_of(video.video_id).end_ms)
        return Recording(video.video_id, video.title, end_ms, video.language, video.spoken, video.clock)

    # --- rows of events --------------------------------------------------------------------------------------------

    def timeline(self, *, after: EventPlace | None = None, limit: int) -> Sequence[EventPlace]:
        first = 0 if after is None else bisect_right(self._timeline, moment_of(after), key=moment_of)
        return self._timeline[first : first + max(0, limit)]

    def undescribed(self) -> Sequence[EventPlace]:
        known = ((place, self._events[place.event_id].chunks) for place in self._timeline)
        return [place for place, chunks in known if chunks and all(chunk.gap for chunk in chunks)]

    def load_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, StoredEvent]:
        return {event_id: self._events[event_id] for event_id in event_ids if event_id in self._events}

    def frames_of(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredFrame]:
        owned = [frame for event_id in dict.fromkeys(event_ids) for frame in self._frames.get(event_id, ())]
        owned.sort(key=lambda frame: (frame.video_id, frame.ms))
        return [owned[index] for index in evenly(len(owned), limit)]

    def jpeg(self, frame: StoredFrame) -> bytes:
        """Return the JPEG of a frame. Raises KeyError for a frame of another graph."""
        return self._jpegs[frame.thumbnail_key]

    # --- time ------------------------------------------------------------------------------------------------------

    def extents(self) -> Mapping[UUID, Span]:
        spans: dict[UUID, Span] = {}
        for place in self._timeline:
            known = spans.get(place.video_id, place.span)
            spans[place.video_id] = Span(known.start_ms, max(known.end_ms, place.span.end_ms))
        cut = {video_id: span.cut_to(self._span_of(video_id)) for video_id, span in spans.items()}
        return {video_id: span for video_id, span in cut.items() if span is not None}

    def events_between(self, video_id: UUID, span: Span, *, limit: int) -> Sequence[EventPlace]:
        asked = span.cut_to(self._span_of(video_id))
        if asked is None:
            return []
        places = [place for place in self._timeline if place.video_id == video_id and place.span.overlaps(asked)]
        return places[: max(0, limit)]

    def chunks_between(self, video_id: UUID, span: Span, *, limit: int) -> Sequence[Chunk]:
        asked = span.cut_to(self._span_of(video_id))
        if asked is None:
            return []
        events = (event for event in self._events.values() if event.video_id == video_id)
        chunks = {chunk.n: chunk for event in events for chunk in event.chunks if chunk.span.overlaps(asked)}
        return [chunks[n] for n in sorted(chunks)][: max(0, limit)]

    def frames_between(self, video_id: UUID, span: Span, *, limit: int, ends: bool = False) -> Sequence[StoredFrame]:
        extent = self.extents().get(video_id)
        asked = None if extent is None else span.cut_to(extent)
        if asked is None:
            return []
        owned = self._frames_in_order.get(video_id, [])
        first = bisect_left(owned, asked.start_ms, key=lambda frame: frame.ms)
        inside = owned[first : bisect_left(owned, asked.end_ms, key=lambda frame: frame.ms)]
        return [inside[index] for index in spread([frame.ms for frame in inside], asked, limit, ends=ends)]

    # --- words -----------------------------------------------------------------------------------------------------

    def lines(self, line_ids: Sequence[UUID]) -> Sequence[StoredLine]:
        wanted = set(line_ids)
        return self._readable_lines(line for line_id, line in self._lines.items() if line_id in wanted)

    def lines_containing(self, words: Sequence[str], *, limit: int) -> Sequence[StoredLine]:
        wanted = searchable(words)
        texts = ((line, folded(line.text)) for line in self._lines.values())
        found = (line for line, text in texts if any(word in text for word in wanted))
        return self._readable_lines(found)[: max(0, limit)]

    # --- topics ----------------------------------------------------------------------------------------------------

    def topics(self, video_id: UUID) -> Sequence[Topic]:
        video = self._videos.get(video_id)
        readable = None if video is None else self._readable(video)
        if video is None or readable is None:
            return []
        return [topic for topic in video.topics if readable.holds(topic.span)]

    def topics_of(self, video_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[Topic]]:
        return {video_id: topics for video_id in video_ids if (topics := self.topics(video_id))}

    def overview(self, video_id: UUID) -> Overview | None:
        video = self._videos.get(video_id)
        readable = None if video is None else self._readable(video)
        return None if video is None or readable is None else overview_in(readable, video.overview)

    def overviews_of(self, video_ids: Sequence[UUID]) -> Mapping[UUID, Overview]:
        return {video_id: told for video_id in video_ids if (told := self.overview(video_id)) is not None}

    # --- parts of reads --------------------------------------------------------------------------------------------

    def _span_of(self, video_id: UUID) -> Span:
        """Return the span to which a video is narrowed."""
        return self._spans.get(video_id, self._whole)

    def _readable(self, video: MemoryVideo) -> Span | None:
        """Return the span of the video that may be read; None if there is none."""
        scope = self._span_of(video.video_id)
        if video.until_ms <= scope.start_ms:
            return None
        return Span(scope.start_ms, min(scope.end_ms, video.until_ms))

    def _readable_lines(self, lines: Iterable[StoredLine]) -> list[StoredLine]:
        readable = [line for line in lines if line.span.overlaps(self._span_of(line.video_id))]
        return sorted(readable, key=lambda line: (line.video_id, line.span, line.id))

    # --- construction ----------------------------------------------------------------------------------------------

    def _add_events(self, video: MemoryVideo, events: Sequence[Event]) -> None:
        chunks = {chunk.n: chunk for chunk in video.chunks}
        inside = {event.id for event in events}
        for record in video.events:
            event = record.event
            for entity in record.entities:
                self._entities[entity.id], self._video_of[entity.id] = entity, video.video_id
            taking_part = dict.fromkeys(mention.entity_id for mention in record.mentions)
            self._participations.update(taking_part.keys())
            if event.id not in inside:
                continue
            members = tuple(chunks[n] for n in range(event.first_chunk, event.end_chunk) if n in chunks)
            self._events[event.id] = StoredEvent(event.id, video.video_id, event.n, event.span, event.summary, members)
            self._mentions[event.id].extend(record.mentions)
            self._relations[event.id].extend(record.relations)
            for entity_id in taking_part:
                self._events_of_entity[entity_id].append(event.id)
            for line in (line for chunk in members for line in chunk.transcript if line.span.overlaps(event.span)):
                self._add_line(video, event, line)

    def _add_line(self, video: MemoryVideo, event: Event, line: TranscriptLine) -> None:
        times = (line.span.start_ms, line.span.end_ms, line.track)
        line_id = stable_id("transcript", video.video_id, video.index_version, *times)
        stored = StoredLine(line_id, video.video_id, line.span, line.text, line.words, line.language)
        self._lines.setdefault(line_id, stored)
        if event.id not in self._events_of_line[line_id]:
            self._events_of_line[line_id].append(event.id)

    def _add_frames(self, video: MemoryVideo, events: Sequence[Event]) -> None:
        position = 0
        scope = self._span_of(video.video_id)
        for row in sorted(video.frames, key=lambda row: row.ms):
            while position < len(events) and events[position].span.end_ms <= row.ms:
                position += 1
            if position == len(events):
                return
            if not events[position].span.contains(row.ms) or not scope.contains(row.ms):
                continue
            key = f"{video.video_id}/{row.ms}.jpg"
            frame_id = stable_id("frame", video.video_id, video.index_version, row.ms)
            event_id = events[position].id
            self._frames[event_id].append(StoredFrame(frame_id, video.video_id, event_id, row.ms, key))
            self._jpegs[key] = row.jpeg


def _place(event: StoredEvent) -> EventPlace:
    return EventPlace(event.id, event.video_id, event.n, event.span)


def moment_of(place: EventPlace) -> tuple[UUID, int, int, UUID]:
    return place.video_id, place.span.start_ms, place.n, place.event_id

"""The invariants of every index, checked by the tests after each scenario and in service by `manage.py check_index`.

Runs inside an open tenant_scope and reads one index version into memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from uuid import UUID

from backend.ekg.graph_store import GraphStore, Participation, RelatedTo, Topology
from backend.ekg.models import Chunk, Entity, Event, Frame, Mention, Relation, Topic, Track
from backend.library.models import Segment, SegmentState, Video
from gpu_workers.engine.ekg import CHUNK_MS


def index_faults(video: Video, version: int, *, complete: bool = True) -> list[str]:
    """Return the faults of an index version, one sentence each; an empty list if there are none.

    complete: the version is ready, so every chunk has its event and the segments reach the end of the video.
    """
    rows = {"video_id": video.id, "index_version": version}
    events = list(Event.objects.filter(**rows).order_by("n").defer("embedding"))
    chunks = list(Chunk.objects.filter(**rows).order_by("n").only("n", "start_ms", "end_ms", "event_id", "segment_n"))
    faults = [
        *_segments(list(Segment.objects.filter(**rows).order_by("n")), video, complete),
        *_chunks(chunks, complete),
        *_events(events, chunks),
        *_frames(list(Frame.objects.filter(**rows).values_list("ms", "event_id")), events),
        *_topics(list(Topic.objects.filter(**rows).order_by("n")), events),
        *_objects(list(Track.objects.filter(**rows).exclude(object=None).values_list("object_id", "boxes"))),
        *_graph(video.id, version, events),
    ]
    return list(faults)


def _segments(segments: Sequence[Segment], video: Video, complete: bool) -> Iterator[str]:
    if not segments:
        yield "there are no segments"
        return
    if segments[0].start_ms != 0:
        yield f"the first segment begins at {segments[0].start_ms} ms"
    for before, after in pairwise(segments):
        if before.end_ms != after.start_ms:
            yield f"segment {before.n} ends at {before.end_ms} ms and the next one begins at {after.start_ms} ms"
    if complete and segments[-1].end_ms != video.duration_ms:
        yield f"the segments end at {segments[-1].end_ms} ms of {video.duration_ms}"
    if complete and any(segment.state != SegmentState.ASSEMBLED for segment in segments):
        yield "a segment is not assembled"


def _chunks(chunks: Sequence[Chunk], complete: bool) -> Iterator[str]:
    for chunk in chunks:
        if chunk.start_ms != chunk.n * CHUNK_MS or not chunk.start_ms < chunk.end_ms <= chunk.start_ms + CHUNK_MS:
            yield f"chunk {chunk.n} is from {chunk.start_ms} to {chunk.end_ms} ms"
        if complete and chunk.event_id is None:
            yield f"chunk {chunk.n} belongs to no event"
    if complete and [chunk.n for chunk in chunks] != list(range(len(chunks))):
        yield "the chunks have holes"


def _events(events: Sequence[Event], chunks: Sequence[Chunk]) -> Iterator[str]:
    if [event.n for event in events] != list(range(len(events))):
        yield "the events are not numbered from 0 without holes"
    for before, after in pairwise(events):
        if before.end_ms != after.start_ms or before.end_chunk != after.first_chunk:
            yield f"event {after.n} does not begin where event {before.n} ends"
    owner = {n: event.id for event in events for n in range(event.first_chunk, event.end_chunk)}
    times = {chunk.n: chunk for chunk in chunks}
    for event in events:
        first, last = times.get(event.first_chunk), times.get(event.end_chunk - 1)
        if first is None or last is None or (first.start_ms, last.end_ms) != (event.start_ms, event.end_ms):
            yield f"event {event.n} has other times than its chunks"
    for chunk in chunks:
        if chunk.event_id is not None and owner.get(chunk.n) != chunk.event_id:
            yield f"chunk {chunk.n} belongs to another event than its number says"


def _frames(frames: Iterable[tuple[int, UUID | None]], events: Sequence[Event]) -> Iterator[str]:
    spans = {event.id: event for event in events}
    for ms, event_id in frames:
        event = spans.get(event_id) if event_id is not None else None
        if event_id is not None and (event is None or not event.start_ms <= ms < event.end_ms):
            yield f"the frame at {ms} ms is in an event of another time"
        if event_id is None and events and ms < events[-1].end_ms:
            yield f"the frame at {ms} ms is in no event"


def _topics(topics: Sequence[Topic], events: Sequence[Event]) -> Iterator[str]:
    if not topics:
        return
    if (topics[0].start_ms, topics[0].first_event) != (0, 0):
        yield "the first topic does not begin at 0"
    for before, after in pairwise(topics):
        if (before.end_ms, before.end_event) != (after.start_ms, after.first_event):
            yield f"topic {after.n} does not begin where topic {before.n} ends"
    ends = {event.n: event.end_ms for event in events}
    for topic in topics:
        if ends.get(topic.end_event - 1) != topic.end_ms:
            yield f"topic {topic.n} has other times than its events"


def _objects(tracks: Iterable[tuple[UUID, Sequence[Sequence[float]]]]) -> Iterator[str]:
    boxes_seen: set[tuple[UUID, int]] = set()
    for object_id, boxes in tracks:
        here = {(object_id, int(box[0])) for box in boxes}
        if boxes_seen & here:
            yield f"object {object_id} is in one frame twice"
        boxes_seen |= here


def _graph(video_id: UUID, version: int, events: Sequence[Event]) -> Iterator[str]:
    """Yield the differences between rows and graph; NEXT must be the chain of the events."""
    graph, rows = GraphStore().topology(video_id, version), topology_of_rows(video_id, version, events)
    for name in ("events", "entities", "next", "participations", "relations"):
        of_graph, of_rows = getattr(graph, name), getattr(rows, name)
        if missing := of_rows - of_graph:
            yield f"{missing.total()} {name} of the rows are not in the graph"
        if extra := of_graph - of_rows:
            yield f"{extra.total()} {name} of the graph are not in the rows"


def topology_of_rows(video_id: UUID, version: int, events: Sequence[Event]) -> Topology:
    """Return the graph that the rows describe. events: all events of the version, in time order."""
    rows = {"video_id": video_id, "index_version": version}
    return Topology(
        events=Counter(event.id for event in events),
        entities=Counter(Entity.objects.filter(**rows).values_list("id", flat=True)),
        next=Counter(pairwise(event.id for event in events)),
        participations=Counter(
            Participation(*row) for row in Mention.objects.filter(**rows).values_list("entity_id", "event_id", "role")
        ),
        relations=Counter(
            RelatedTo(*row)
            for row in Relation.objects.filter(**rows).values_list("source_id", "target_id", "predicate", "event_id")
        ),
    )


def rebuild_graph(video_id: UUID, version: int) -> None:
    """Make the graph of an index version again from its rows, in the caller's transaction."""
    events = list(Event.objects.filter(video_id=video_id, index_version=version).order_by("n").defer("embedding"))
    rows = topology_of_rows(video_id, version, events)
    graph = GraphStore()
    graph.lock_video(video_id)
    graph.drop_version(video_id, version)
    graph.add_events(video_id, version, list(rows.events))
    graph.add_entities(video_id, version, list(rows.entities))
    graph.link_next(video_id, version, list(rows.next))
    graph.add_participations(video_id, version, list(rows.participations))
    graph.add_relations(video_id, version, list(rows.relations))

"""Reads of a version that is being built, for the index tasks, inside the open tenant_scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.ekg.models import Chunk, Entity, Event, Frame, Mention, Overview, Relation, Topic, TranscriptLine
from backend.ekg.stored_rows import read_chunk, read_entity, read_topic, stored_vector
from backend.library.models import Segment
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.retrieval.frames import evenly


def chunks_of(segments: Sequence[Segment]) -> list[ekg.Chunk]:
    """Return the chunks of adjacent segments of one version, in order, with the speech in them."""
    first, last = segments[0], segments[-1]
    rows = Chunk.objects.filter(
        video_id=first.video_id, index_version=first.index_version, segment_n__gte=first.n, segment_n__lte=last.n
    ).order_by("n")
    lines = transcript_between(first.video_id, first.index_version, first.start_ms, last.end_ms)
    return [read_chunk(row, lines) for row in rows]


def last_event(video_id: UUID, version: int) -> tuple[int, int] | None:
    """Return number and end (ms) of the version's last event; None before there is one."""
    rows = Event.objects.filter(video_id=video_id, index_version=version)
    last: tuple[int, int] | None = rows.order_by("-n").values_list("n", "end_ms").first()
    return last


def summarised_until_ms(video_id: UUID, version: int) -> int:
    """Return where the stored overview ends, in milliseconds; 0 without an overview."""
    rows = Overview.objects.filter(video_id=video_id, index_version=version)
    return rows.values_list("until_ms", flat=True).first() or 0


def transcript_between(video_id: UUID, version: int, start_ms: int, end_ms: int) -> list[TranscriptLine]:
    """Return the lines that touch start_ms <= t < end_ms, in order."""
    return list(
        TranscriptLine.objects.filter(
            video_id=video_id, index_version=version, start_ms__lt=end_ms, end_ms__gt=start_ms
        ).order_by("start_ms", "track")
    )


def frames_between(video_id: UUID, version: int, span: Span, *, limit: int | None = None) -> list[tuple[int, str]]:
    """Return (ms, thumbnail key) of the frames in span; at most limit of them, spread evenly."""
    rows = list(
        Frame.objects.filter(video_id=video_id, index_version=version, ms__gte=span.start_ms, ms__lt=span.end_ms)
        .order_by("ms")
        .values_list("ms", "thumbnail_key")
    )
    return rows if limit is None else [rows[index] for index in evenly(len(rows), limit)]


def read_topics(video_id: UUID, version: int, *, text_model: str) -> list[ekg.Topic]:
    """Return the topics written so far, in order, with their vectors if text_model made these."""
    return [
        read_topic(row, embedding=stored_vector(row.embedding) if row.embedding_model == text_model else None)
        for row in Topic.objects.filter(video_id=video_id, index_version=version).order_by("n")
    ]


def read_digests(video_id: UUID, version: int, first_event: int, end_event: int) -> list[ekg.EventDigest]:
    """Return the events first_event..end_event in the form of the global summary."""
    here = {"video_id": video_id, "index_version": version}
    events = list(Event.objects.filter(**here, n__gte=first_event, n__lt=end_event).order_by("n"))
    actors: defaultdict[UUID, list[ekg.Actor]] = defaultdict(list)
    mentions = Mention.objects.filter(event_id__in=[event.id for event in events]).order_by("-confidence", "name")
    for event_id, name, kind in mentions.values_list("event_id", "name", "type"):
        actors[event_id].append(ekg.Actor(name, kind))
    lines = transcript_between(video_id, version, events[0].start_ms, events[-1].end_ms) if events else []
    starts = [event.first_chunk for event in events]
    gaps = set(Chunk.objects.filter(**here, n__in=starts, gap__isnull=False).values_list("n", flat=True))
    return [
        ekg.EventDigest(
            event.n,
            Span(event.start_ms, event.end_ms),
            event.summary,
            stored_vector(event.embedding),
            tuple(actors[event.id]),
            described=event.first_chunk not in gaps,
            speech=tuple(line.text for line in lines if event.start_ms <= line.start_ms < event.end_ms),
        )
        for event in events
    ]


def participations_of(video_id: UUID, version: int) -> list[tuple[Span, list[tuple[UUID, ekg.EntityMention]]]]:
    """Return the span of each event that has entities, with these as the event saw them, in order of time."""
    by_event: defaultdict[tuple[int, int], list[tuple[UUID, ekg.EntityMention]]] = defaultdict(list)
    rows = Mention.objects.filter(video_id=video_id, index_version=version).order_by("event__start_ms", "entity_id")
    columns = ("event__start_ms", "event__end_ms", "entity_id", "name", "type", "description", "role")
    for start_ms, end_ms, entity_id, name, kind, description, role in rows.values_list(*columns):
        by_event[start_ms, end_ms].append((entity_id, ekg.EntityMention(name, kind, description, role)))
    return [(Span(*times), mentions) for times, mentions in by_event.items()]


@dataclass(frozen=True, slots=True)
class LinkedIndex:
    """The result of linking in one index version. mentions: in time order."""

    entities: list[ekg.Entity]
    mentions: list[ekg.LinkedMention]
    relations: list[ekg.Relation]


def read_linked(video_id: UUID, version: int) -> LinkedIndex:
    """Return all entities, mentions and relations of one index version."""
    here = {"video_id": video_id, "index_version": version}
    mentions = [
        ekg.LinkedMention(
            row.id,
            row.entity_id,
            row.event_id,
            ekg.EntityMention(
                row.name, row.type, row.description, row.role, confidence=row.confidence, frame_ms=tuple(row.frame_ms)
            ),
            stored_vector(row.embedding),
        )
        for row in Mention.objects.filter(**here).order_by("event__start_ms", "-confidence", "name")
    ]
    relations = [
        ekg.Relation(row.id, row.source_id, row.target_id, row.predicate, row.description, row.event_id, row.confidence)
        for row in Relation.objects.filter(**here).order_by("event__start_ms", "id")
    ]
    return LinkedIndex([read_entity(row) for row in Entity.objects.filter(**here).order_by("id")], mentions, relations)

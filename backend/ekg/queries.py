"""Reads of the Event Knowledge Graph for customers, inside the open tenant_scope.

Questions read the graph through backend.ekg.reader instead.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Case, Count, Exists, F, Func, OuterRef, Q, QuerySet, Sum, TextField, When
from django.db.models.expressions import Window
from django.db.models.functions import Abs, RowNumber

from backend.ekg.graph_store import GraphStore
from backend.ekg.models import (
    Chunk,
    Entity,
    EntityObject,
    Event,
    Frame,
    IndexRow,
    Mention,
    Overview,
    Relation,
    Topic,
    Track,
    TrackedObject,
    TranscriptLine,
)
from backend.jobs.models import Job, JobState
from backend.library.index_contents import Gaps, IndexSize
from backend.library.indexing.failure import CONTENT_GAPS
from backend.library.indexing.follow_ups import summarise_key
from backend.library.models import SEGMENT_WANTED_AGAIN, Segment, Video
from backend.tenancy.context import current_tenant_id


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The listed part of a video: rows that overlap start_ms..end_ms and whose text contains the words q.

    gap: selects chunks without a description, or chunks with one. object_id: selects the tracks of one object.
    """

    start_ms: int | None = None
    end_ms: int | None = None
    q: str = ""
    gap: bool | None = None
    object_id: UUID | None = None


def index_size(video_id: UUID, index_version: int) -> IndexSize:
    def count(model: type[IndexRow]) -> int:
        return int(model.objects.filter(video_id=video_id, index_version=index_version).count())

    return IndexSize(
        chunks=count(Chunk),
        events=count(Event),
        entities=count(Entity),
        mentions=count(Mention),
        relations=count(Relation),
        frames=count(Frame),
        graph=GraphStore().count(video_id, index_version),
    )


def gaps(video_id: UUID, index_version: int) -> Gaps:
    rows = Chunk.objects.filter(video_id=video_id, index_version=index_version, gap__isnull=False)
    by_code = list(rows.values("gap").annotate(n=Count("id"), ms=Sum(F("end_ms") - F("start_ms"))).order_by("gap"))
    return Gaps(
        count=sum(row["n"] for row in by_code),
        ms=sum(row["ms"] for row in by_code),
        codes={row["gap"]: row["n"] for row in by_code},
    )


def failed_segments(video_id: UUID, index_version: int) -> list[int]:
    """Return the numbers of the segments to be indexed again, in order.

    These have a gap that does not lie in the recording itself, or people want them again.
    """
    gaps = Chunk.objects.filter(video_id=video_id, index_version=index_version, gap__isnull=False)
    ours = gaps.exclude(gap__in=CONTENT_GAPS).order_by("segment_n")
    wanted = Segment.objects.filter(
        video_id=video_id, index_version=index_version, error_code=SEGMENT_WANTED_AGAIN
    ).values_list("n", flat=True)
    return sorted({*ours.values_list("segment_n", flat=True).distinct(), *wanted})


def _of(model: type[IndexRow], video: Video) -> QuerySet[Any]:
    """Return the rows that customers read: the rows of the active version."""
    rows: QuerySet[Any] = model.objects.filter(video_id=video.id, index_version=video.active_index_version)
    return rows


def _during(rows: QuerySet[Any], part: Narrowing, *, begin: str = "start_ms", end: str = "end_ms") -> QuerySet[Any]:
    if part.start_ms is not None:
        # A row without length, such as a frame, belongs to the moment it shows.
        rows = rows.filter(**{f"{end}__{'gte' if begin == end else 'gt'}": part.start_ms})
    if part.end_ms is not None:
        rows = rows.filter(**{f"{begin}__lt": part.end_ms})
    return rows


def _containing(rows: QuerySet[Any], words: str, *columns: str) -> QuerySet[Any]:
    if not words:
        return rows
    condition = Q()
    for column in columns:
        condition |= Q(**{f"{column}__icontains": words})
    return rows.filter(condition)


class _Pieces(Func):
    """The texts of a JSON list, a line each."""

    template = "(SELECT string_agg(piece, E'\\n') FROM jsonb_array_elements_text(%(expressions)s) piece)"
    output_field = TextField()


def _described_with(chunks: QuerySet[Any], words: str) -> QuerySet[Any]:
    """Return the chunks whose description, or whose writing on screen, contains the words."""
    return _containing(chunks.annotate(writing=_Pieces(F("on_screen_text"))), words, "description", "writing")


def events(video: Video, part: Narrowing) -> QuerySet[Event]:
    return _containing(_during(_of(Event, video), part), part.q, "summary").defer("embedding")


def chunks(video: Video, part: Narrowing) -> QuerySet[Chunk]:
    rows = _described_with(_during(_of(Chunk, video), part), part.q)
    return rows if part.gap is None else rows.filter(gap__isnull=not part.gap)


def frames(video: Video, part: Narrowing) -> QuerySet[Frame]:
    """Return the frames of this part; those with words q are in a chunk that describes or shows them."""
    rows = _during(_of(Frame, video), part, begin="ms", end="ms")
    if not part.q:
        return rows
    around = _of(Chunk, video).filter(start_ms__lte=OuterRef("ms"), end_ms__gt=OuterRef("ms"))
    return rows.filter(Exists(_described_with(around, part.q)))


def transcript(video: Video, part: Narrowing) -> QuerySet[TranscriptLine]:
    return _containing(_during(_of(TranscriptLine, video), part), part.q, "text")


def tracks(video: Video, part: Narrowing) -> QuerySet[Track]:
    rows = _containing(_during(_of(Track, video), part), part.q, "category", "colour", "motion")
    if part.object_id is not None:
        rows = rows.filter(object_id=part.object_id)
    return rows.defer("appearance")


def objects(video: Video, part: Narrowing) -> QuerySet[TrackedObject]:
    """Return objects with a track in this part; between two visits an object is absent."""
    rows = _containing(_of(TrackedObject, video), part.q, "category", "colour").defer("embedding", "memory")
    if part.start_ms is None and part.end_ms is None:
        return rows
    return rows.filter(id__in=_during(_of(Track, video), part).exclude(object=None).values("object_id"))


_NEAREST_FRAMES = """
SELECT m.key, nearest.thumbnail_key
FROM unnest(%s::uuid[], %s::uuid[], %s::int[], %s::bigint[]) AS m(key, video_id, index_version, ms)
CROSS JOIN LATERAL (
    SELECT either.* FROM (
        (SELECT f.thumbnail_key, f.ms FROM ekg_frame f
         WHERE f.tenant_id = %s AND f.video_id = m.video_id AND f.index_version = m.index_version AND f.ms <= m.ms
         ORDER BY f.ms DESC LIMIT 1)
        UNION ALL
        (SELECT f.thumbnail_key, f.ms FROM ekg_frame f
         WHERE f.tenant_id = %s AND f.video_id = m.video_id AND f.index_version = m.index_version AND f.ms > m.ms
         ORDER BY f.ms LIMIT 1)
    ) either ORDER BY abs(either.ms - m.ms), either.ms LIMIT 1
) nearest
"""


def thumbnails_at(moments: Mapping[UUID, tuple[UUID, int, int]]) -> dict[UUID, str]:
    """Return, by key, the thumbnail of the frame nearest to (video, index version, ms), if there is a frame."""
    if not moments:
        return {}
    parameters = [list(moments), *map(list, zip(*moments.values(), strict=True))]
    tenant_id = current_tenant_id()
    with connection.cursor() as cursor:
        cursor.execute(_NEAREST_FRAMES, [*parameters, tenant_id, tenant_id])
        return dict(cursor.fetchall())


def entities(video: Video, part: Narrowing) -> QuerySet[Entity]:
    """Return entities that take part in an event of this part."""
    rows = _containing(_of(Entity, video), part.q, "name", "description", "aliases").defer("centroid")
    if part.start_ms is None and part.end_ms is None:
        return rows
    met = _during(_of(Mention, video), part, begin="event__start_ms", end="event__end_ms")
    return rows.filter(id__in=met.values("entity_id"))


def stretches_of_entities(video: Video, part: Narrowing) -> QuerySet[Any, tuple[UUID, int, int]]:
    """Return (entity, start, end) of each event of this part that an entity takes part in."""
    met = _during(_of(Mention, video), part, begin="event__start_ms", end="event__end_ms")
    return met.values_list("entity_id", "event__start_ms", "event__end_ms")


def relations(video: Video, part: Narrowing) -> QuerySet[Relation]:
    rows = _during(_of(Relation, video), part, begin="event__start_ms", end="event__end_ms")
    rows = _containing(rows, part.q, "predicate", "description", "source__name", "target__name")
    return rows.select_related("source", "target", "event").defer(
        "source__centroid", "target__centroid", "event__embedding"
    )


def participations(event_ids: Sequence[UUID]) -> dict[UUID, list[Mention]]:
    """Return the mentions of entities by event, the most certain first."""
    by_event: dict[UUID, list[Mention]] = {event_id: [] for event_id in event_ids}
    rows = Mention.objects.filter(event_id__in=event_ids).order_by("-confidence", "id").defer("embedding")
    for mention in rows:
        by_event[mention.event_id].append(mention)
    return by_event


@dataclass(slots=True)
class Appearances:
    """The first mentions of an entity in time order, and the total number of its mentions."""

    total: int
    mentions: list[Mention]


def appearances(entity_ids: Sequence[UUID], *, limit: int) -> dict[UUID, Appearances]:
    """Return the mentions of each entity, at most `limit` mentions per entity."""
    by_entity = {entity_id: Appearances(0, []) for entity_id in entity_ids}
    ranked = Mention.objects.filter(entity_id__in=entity_ids).annotate(
        position=Window(RowNumber(), partition_by=[F("entity_id")], order_by=[F("event__start_ms"), F("id")]),
        total=Window(Count("id"), partition_by=[F("entity_id")]),
    )
    rows = ranked.filter(position__lte=limit).order_by("position").select_related("event")
    for mention in rows.defer("embedding", "event__embedding"):
        of_entity = by_entity[mention.entity_id]
        of_entity.total = mention.total
        of_entity.mentions.append(mention)
    return by_entity


def links_between(*, entity_ids: Sequence[UUID] = (), object_ids: Sequence[UUID] = ()) -> list[EntityObject]:
    """Return the links of these entities, or of these objects, the surest first, each with both ends."""
    rows = EntityObject.objects.filter(Q(entity_id__in=entity_ids) | Q(object_id__in=object_ids))
    rows = rows.select_related("entity", "object").defer("entity__centroid", "object__embedding", "object__memory")
    return list(rows.order_by("-confidence", "id"))


def first_frames(event_ids: Sequence[UUID]) -> dict[UUID, Frame]:
    """Return the earliest frame by event; events without a frame are absent."""
    ranked = Frame.objects.filter(event_id__in=event_ids).annotate(
        position=Window(RowNumber(), partition_by=[F("event_id")], order_by=F("ms").asc())
    )
    return {frame.event_id: frame for frame in ranked.filter(position=1)}


def first_thumbnails(video: Video, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Return the key of the earliest picture of each span of a video, "" where it has none. spans: start and end in ms,
    ordered, without overlap."""
    if not spans:
        return []
    part = Narrowing(start_ms=spans[0][0], end_ms=spans[-1][1])
    taken = list(frames(video, part).order_by("ms").values_list("ms", "thumbnail_key"))
    times = [ms for ms, _ in taken]
    first = [bisect_left(times, start) for start, _ in spans]
    return [taken[n][1] if n < len(taken) and times[n] < end else "" for n, (_, end) in zip(first, spans, strict=True)]


@dataclass(frozen=True, slots=True)
class Summary:
    """The global summary as far as it is written. frames: the frames that the topics show, by ms.

    error: code and message of the job that failed to write the rest, if any.
    """

    overview: Overview | None
    topics: list[Topic]
    frames: dict[int, Frame]
    error: tuple[str, str] | None


def topics(video: Video) -> QuerySet[Topic]:
    return _of(Topic, video).defer("embedding")


def summary(video: Video) -> Summary:
    topics = list(_of(Topic, video).order_by("n"))
    shown = {ms for topic in topics for ms in topic.frame_ms}
    failed = Job.objects.filter(
        dedupe_key=summarise_key(video.id, video.active_index_version), state__in=[JobState.FAILED, JobState.DEAD]
    )
    return Summary(
        overview=_of(Overview, video).first(),
        topics=topics,
        frames={frame.ms: frame for frame in _of(Frame, video).filter(ms__in=shown)},
        error=failed.values_list("error_code", "error_message").first(),
    )


def best_frames(
    event_ids: Sequence[UUID], *, preferred: Sequence[UUID] = (), start_ms: int = 0, end_ms: int = 2**62
) -> dict[UUID, tuple[int, str]]:
    """Return one (ms, thumbnail key) by event, for the events that have a frame at start_ms <= ms < end_ms.

    The frame is a preferred frame if the event has any, or else the frame nearest to the event's middle.
    """
    ranked = Frame.objects.filter(event_id__in=event_ids, ms__gte=start_ms, ms__lt=end_ms).annotate(
        choice=Case(When(id__in=preferred, then=0), default=1),
        off_middle=Abs(F("ms") * 2 - F("event__start_ms") - F("event__end_ms")),
    )
    rows = ranked.order_by("event_id", "choice", "off_middle", "ms").distinct("event_id")
    return {event_id: (ms, key) for event_id, ms, key in rows.values_list("event_id", "ms", "thumbnail_key")}


def frames_with_videos(frame_ids: Sequence[UUID]) -> dict[UUID, Frame]:
    """Return the frames that still exist, each with its video, in one query."""
    return {frame.id: frame for frame in Frame.objects.select_related("video").filter(id__in=frame_ids)}

"""Reads of a question's scope by time, words and topic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.ekg.models import Chunk, Frame, Overview, Topic, TranscriptLine
from backend.ekg.recording_reads import RecordingReads
from backend.ekg.stored_rows import read_chunk, read_topic
from backend.ekg.views import EVENT_IN_SCOPE, EVENT_OF_LINE, INSIDE, SCOPE
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import EventPlace, StoredFrame, StoredLine
from gpu_workers.engine.retrieval.frames import evenly, spread
from gpu_workers.engine.retrieval.in_scope import overview_in, searchable

EVENTS = (
    f"WITH {SCOPE} SELECT {{columns}} FROM ekg_event e JOIN scope USING (video_id, index_version) "
    f"WHERE {EVENT_IN_SCOPE} AND e.id = ANY(%(ids)s::uuid[])"
)
"""Columns of those of the events %(ids)s that the scope admits, with {columns} to be filled in."""
_WITH_INSIDE = f"WITH {SCOPE}, {INSIDE} "
_EXTENTS = _WITH_INSIDE + (
    "SELECT video_id, greatest(min(inside.start_ms), from_ms), least(max(inside.end_ms), to_ms) FROM inside "
    "JOIN scope USING (video_id, index_version) GROUP BY video_id, from_ms, to_ms"
)
_PLACES = (
    f"WITH {SCOPE} SELECT e.id, e.video_id, e.n, e.start_ms, e.end_ms FROM ekg_event e "
    f"JOIN scope USING (video_id, index_version) WHERE {EVENT_IN_SCOPE} "
)
_IN_ORDER = "ORDER BY e.video_id, e.start_ms, e.n, e.id LIMIT %(limit)s"
_TIMELINE = (
    f"{_PLACES} AND (NOT %(paged)s OR (e.video_id, e.start_ms, e.n, e.id) "
    f"> (%(video)s::uuid, %(start_of)s::bigint, %(number)s::bigint, %(event)s::uuid)) {_IN_ORDER}"
)
# From the gaps, which are few and have an index of their own.
_UNDESCRIBED = (
    f"{_PLACES} AND e.id IN (SELECT c.event_id FROM ekg_chunk c JOIN scope USING (video_id, index_version) "
    "WHERE c.tenant_id = %(tenant)s AND c.gap IS NOT NULL) AND NOT EXISTS (SELECT FROM ekg_chunk c "
    "WHERE c.tenant_id = %(tenant)s AND c.event_id = e.id AND c.gap IS NULL) "
    "ORDER BY e.video_id, e.start_ms, e.n, e.id"
)
_PLACES_BETWEEN = f"{_PLACES} AND e.start_ms < %(to)s AND e.end_ms > %(from)s {_IN_ORDER}"
_CHUNKS_BETWEEN = _WITH_INSIDE + (
    "SELECT c.* FROM inside e JOIN ekg_chunk c ON c.event_id = e.id WHERE c.tenant_id = %(tenant)s "
    "AND c.start_ms < %(to)s AND c.end_ms > %(from)s ORDER BY c.start_ms, c.n LIMIT %(limit)s"
)
_FRAME_TIMES = _WITH_INSIDE + (
    "SELECT frame.ms FROM ekg_frame frame JOIN scope USING (video_id, index_version) "
    "JOIN inside e ON e.id = frame.event_id WHERE frame.tenant_id = %(tenant)s "
    "AND frame.ms >= %(from)s AND frame.ms < %(to)s ORDER BY frame.ms"
)
_SPOKEN = (
    "SELECT line.id, line.start_ms, line.end_ms, line.text, e.id AS in_event FROM ekg_event e JOIN ekg_transcriptline "
    f"line ON line.tenant_id = e.tenant_id AND {EVENT_OF_LINE} WHERE e.tenant_id = %(tenant)s "
    "AND e.id = ANY(%(ids)s::uuid[]) ORDER BY line.start_ms, line.end_ms, line.track"
)
# One multirange per video, since a comparison of each line with each event would be slow for common words.
_LINES = _WITH_INSIDE + (
    ", told AS MATERIALIZED (SELECT video_id, index_version, from_ms, to_ms, "
    "range_agg(int8range(start_ms, end_ms)) AS times FROM inside JOIN scope USING (video_id, index_version) "
    "GROUP BY video_id, index_version, from_ms, to_ms) "
    "SELECT line.id, line.video_id, line.start_ms, line.end_ms, line.text, line.words, line.language "
    "FROM ekg_transcriptline line "
    "JOIN told USING (video_id, index_version) WHERE line.tenant_id = %(tenant)s "
    "AND line.start_ms < told.to_ms AND line.end_ms > told.from_ms "
    "AND told.times && int8range(line.start_ms, line.end_ms)"
)
_LINES_IN_ORDER = "ORDER BY line.video_id, line.start_ms, line.end_ms, line.track"
_LINES_BY_ID = f"{_LINES} AND line.id = ANY(%(ids)s::uuid[]) {_LINES_IN_ORDER}"
# engine.retrieval.in_scope.folded() in SQL. strpos has no wildcards.
_LINES_BY_WORDS = (
    f"{_LINES} AND EXISTS (SELECT FROM "
    '(SELECT casefold(normalize(line.text, NFC) COLLATE "pg_unicode_fast") AS text OFFSET 0) folded '
    f"JOIN unnest(%(words)s::text[]) word ON strpos(folded.text, word) > 0) {_LINES_IN_ORDER} LIMIT %(limit)s"
)

# Without the embeddings, which no reader of the words needs.
_TOPICS = (
    f"WITH {SCOPE} SELECT topic.id, topic.video_id, topic.n, topic.start_ms, topic.end_ms, topic.first_event, "
    "topic.end_event, topic.title, topic.summary, topic.people, topic.places, topic.frame_ms FROM ekg_topic topic "
    "JOIN scope USING (video_id, index_version) WHERE topic.tenant_id = %(tenant)s "
    "AND topic.video_id = ANY(%(wanted)s::uuid[]) AND topic.start_ms >= scope.from_ms "
    "AND topic.end_ms <= least(scope.to_ms, scope.until_ms) ORDER BY topic.video_id, topic.n"
)
_OVERVIEWS = (
    f"WITH {SCOPE} SELECT told.* FROM ekg_overview told JOIN scope USING (video_id, index_version) "
    "WHERE told.tenant_id = %(tenant)s AND told.video_id = ANY(%(wanted)s::uuid[])"
)


class MomentReads(RecordingReads):
    """The reads of engine.ports.KnowledgeGraph by time, words and topic."""

    def timeline(self, *, after: EventPlace | None = None, limit: int) -> Sequence[EventPlace]:
        first = after or EventPlace(UUID(int=0), UUID(int=0), 0, Span(0, 1))
        page = {
            "paged": after is not None,
            "video": first.video_id,
            "start_of": first.span.start_ms,
            "number": first.n,
            "event": first.event_id,
        }
        return self._run(lambda: places(self._rows(_TIMELINE, **page, limit=max(0, limit))))

    def undescribed(self) -> Sequence[EventPlace]:
        return self._run(lambda: places(self._rows(_UNDESCRIBED)))

    def extents(self) -> Mapping[UUID, Span]:
        return self._run(self._extents)

    def _extents(self, **narrowed: Any) -> dict[UUID, Span]:
        return {video_id: Span(start_ms, end_ms) for video_id, start_ms, end_ms in self._rows(_EXTENTS, **narrowed)}

    def events_between(self, video_id: UUID, span: Span, *, limit: int) -> Sequence[EventPlace]:
        part = self._part(video_id, span)
        if part is None:
            return []
        return self._run(lambda: places(self._rows(_PLACES_BETWEEN, **part, limit=max(0, limit))))

    # --- chunks and frames -----------------------------------------------------------------------------------------

    def chunks_between(self, video_id: UUID, span: Span, *, limit: int) -> Sequence[ekg.Chunk]:
        part = self._part(video_id, span)

        def read() -> list[ekg.Chunk]:
            parameters = {**self._scope_parameters, **(part or {}), "limit": max(0, limit)}
            return [chunk for _, chunk in self._spoken(list(Chunk.objects.raw(_CHUNKS_BETWEEN, parameters)))]

        return [] if part is None else self._run(read)

    def _spoken(self, rows: Sequence[Chunk]) -> list[tuple[UUID, ekg.Chunk]]:
        """Return the chunks in the order of rows, each with its event and with the lines that are spoken in both."""
        of_event = [(row.event_id, row) for row in rows if row.event_id is not None]
        events = list({event_id for event_id, _ in of_event})
        lines: defaultdict[UUID, list[TranscriptLine]] = defaultdict(list)
        for line in TranscriptLine.objects.raw(_SPOKEN, {"tenant": self._scope.tenant_id, "ids": events}):
            lines[line.in_event].append(line)
        return [(event_id, read_chunk(row, lines[event_id])) for event_id, row in of_event]

    def frames_of(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredFrame]:
        def read() -> list[StoredFrame]:
            columns = "e.id, scope.from_ms, scope.to_ms"
            inside = {
                event_id: (from_ms, to_ms)
                for event_id, from_ms, to_ms in self._rows(EVENTS.format(columns=columns), ids=list(set(event_ids)))
            }
            # Frames of an event that reaches beyond the scope.
            spans = set(inside.values())
            earliest, latest = min((s for s, _ in spans), default=0), max((e for _, e in spans), default=0)
            frames = Frame.objects.filter(event_id__in=inside, ms__gte=earliest, ms__lt=latest)
            rows = [
                row
                for row in stored_frames(frames.order_by("video_id", "ms"))
                if inside[row.event_id][0] <= row.ms < inside[row.event_id][1]
            ]
            return [rows[index] for index in evenly(len(rows), limit)]

        return self._run(read) if event_ids else []

    def frames_between(self, video_id: UUID, span: Span, *, limit: int, ends: bool = False) -> Sequence[StoredFrame]:
        readable, part = self._scope.readable(video_id), self._part(video_id, span)
        if readable is None or part is None:
            return []
        version = readable[0].index_version

        def read() -> list[StoredFrame]:
            extent = self._extents(**part).get(video_id)
            asked = None if extent is None else span.cut_to(extent)
            if asked is None:
                return []
            between = part | {"from": asked.start_ms, "to": asked.end_ms}
            times = [ms for (ms,) in self._rows(_FRAME_TIMES, **between)]
            chosen = [times[index] for index in spread(times, asked, limit, ends=ends)]
            of_video = Frame.objects.filter(video_id=video_id, index_version=version)
            return stored_frames(of_video.filter(ms__in=chosen).order_by("ms"))

        return self._run(read)

    # --- words -----------------------------------------------------------------------------------------------------

    def lines(self, line_ids: Sequence[UUID]) -> Sequence[StoredLine]:
        return self._lines(_LINES_BY_ID, ids=list(set(line_ids))) if line_ids else []

    def lines_containing(self, words: Sequence[str], *, limit: int) -> Sequence[StoredLine]:
        wanted = searchable(words)
        return self._lines(_LINES_BY_WORDS, words=wanted, limit=limit) if wanted and limit > 0 else []

    def _lines(self, sql: str, **parameters: Any) -> list[StoredLine]:
        def read() -> list[StoredLine]:
            return [
                StoredLine(
                    row.id,
                    row.video_id,
                    Span(row.start_ms, row.end_ms),
                    row.text,
                    tuple((start_ms, end_ms, word) for start_ms, end_ms, word in row.words),
                    row.language,
                )
                for row in TranscriptLine.objects.raw(sql, self._scope_parameters | parameters)
            ]

        return self._run(read)

    # --- topics ----------------------------------------------------------------------------------------------------

    def topics(self, video_id: UUID) -> Sequence[ekg.Topic]:
        return self.topics_of([video_id]).get(video_id, [])

    def topics_of(self, video_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[ekg.Topic]]:
        def read() -> dict[UUID, list[ekg.Topic]]:
            found: defaultdict[UUID, list[ekg.Topic]] = defaultdict(list)
            for row in Topic.objects.raw(_TOPICS, self._scope_parameters | {"wanted": list(video_ids)}):
                found[row.video_id].append(read_topic(row))
            return dict(found)

        return self._run(read) if video_ids else {}

    def overview(self, video_id: UUID) -> ekg.Overview | None:
        return self.overviews_of([video_id]).get(video_id)

    def overviews_of(self, video_ids: Sequence[UUID]) -> Mapping[UUID, ekg.Overview]:
        spans = {video_id: found for video_id in video_ids if (found := self._scope.readable(video_id)) is not None}

        def read() -> dict[UUID, ekg.Overview]:
            told = {}
            for row in Overview.objects.raw(_OVERVIEWS, self._scope_parameters | {"wanted": list(spans)}):
                whole = ekg.Overview(row.text, tuple(row.people), tuple(row.places), row.until_ms, row.model)
                told[row.video_id] = overview_in(spans[row.video_id][1], whole)
            return {video_id: overview for video_id, overview in told.items() if overview is not None}

        return self._run(read) if spans else {}


def places(rows: Iterable[tuple[Any, ...]]) -> list[EventPlace]:
    """Return rows of (event id, video id, number, start, end) as places."""
    return [EventPlace(event_id, video_id, n, Span(start, end)) for event_id, video_id, n, start, end in rows]


def stored_frames(rows: QuerySet[Frame]) -> list[StoredFrame]:
    return [
        StoredFrame(row.id, row.video_id, row.event_id, row.ms, row.thumbnail_key)
        for row in rows
        # Without a picture since the tenant's retention removed it.
        if row.event_id is not None and row.thumbnail_key
    ]

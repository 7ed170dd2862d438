"""Writes the words of events: the postings of their terms, and the text in which exact phrases are found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from uuid6 import uuid7

from backend.ekg.index_reads import transcript_between
from backend.ekg.models import Chunk, Event
from backend.tenancy.context import current_tenant_id
from gpu_workers.engine import ekg
from gpu_workers.engine.retrieval.word_terms import EventWords, event_terms
from gpu_workers.engine.retrieval.words import canonical

_APPEND = (
    "INSERT INTO ekg_posting AS p (id, tenant_id, video_id, index_version, term, events, impacts) "
    "SELECT row.id, %(tenant)s, %(video)s, %(version)s, row.term, "
    "string_to_array(row.events, ',')::int[], string_to_array(row.impacts, ',')::smallint[] "
    "FROM unnest(%(ids)s::uuid[], %(terms)s::text[], %(events)s::text[], %(impacts)s::text[]) "
    "AS row(id, term, events, impacts) ORDER BY row.term "
    "ON CONFLICT (tenant_id, term, video_id, index_version) DO UPDATE "
    "SET events = p.events || excluded.events, impacts = p.impacts || excluded.impacts"
)


def index_words(video_id: UUID, version: int, events: Sequence[ekg.Event]) -> None:
    """Index the words of stored events, whose segments are stored. events: in order of time, each once ever."""
    events_of: defaultdict[str, list[int]] = defaultdict(list)
    impacts_of: defaultdict[str, list[int]] = defaultdict(list)
    searched: list[Event] = []
    for event, words in zip(events, _words(video_id, version, events), strict=True):
        searched.append(Event(id=event.id, searched=canonical(words.pieces)))
        for term, impact in event_terms(words).items():
            events_of[term].append(event.n)
            impacts_of[term].append(impact)
    Event.objects.bulk_update(searched, ["searched"])
    parameters: dict[str, Any] = {
        "tenant": current_tenant_id(),
        "video": video_id,
        "version": version,
        "ids": [uuid7() for _ in events_of],
        "terms": list(events_of),
        "events": [",".join(map(str, numbers)) for numbers in events_of.values()],
        "impacts": [",".join(map(str, impacts)) for impacts in impacts_of.values()],
    }
    with connection.cursor() as cursor:
        cursor.execute(_APPEND, parameters)


def _words(video_id: UUID, version: int, events: Sequence[ekg.Event]) -> list[EventWords]:
    """Return the texts of each event, from the rows of its chunks and of what is spoken during it."""
    rows = Chunk.objects.filter(
        video_id=video_id, index_version=version, n__gte=events[0].first_chunk, n__lt=events[-1].end_chunk
    )
    written = dict(rows.order_by("n").values_list("n", "on_screen_text"))
    lines = transcript_between(video_id, version, events[0].span.start_ms, events[-1].span.end_ms)
    return [
        EventWords(
            event.summary,
            [text for n in range(event.first_chunk, event.end_chunk) for text in written.get(n, ())],
            [
                line.text
                for line in sorted(lines, key=lambda line: (line.start_ms, line.end_ms))
                if line.start_ms < event.span.end_ms and line.end_ms > event.span.start_ms
            ],
        )
        for event in events
    ]

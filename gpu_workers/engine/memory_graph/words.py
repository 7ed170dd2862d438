"""The view of words in memory."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph.views import Part
from gpu_workers.engine.ports import Hit, StoredEvent, ViewQuery
from gpu_workers.engine.retrieval.word_ranking import WordIndex
from gpu_workers.engine.retrieval.word_terms import EventWords, asked_words


class WordsView:
    """Events by their words. The terms are made at the first search; events may be added before it."""

    def __init__(self, events: Mapping[UUID, StoredEvent]) -> None:
        self._events = events
        self._index: WordIndex | None = None

    def hits(self, query: ViewQuery, part: Part | None) -> list[Hit]:
        """Return the events that have words of query.text and contain query.exact. part: all of the scope if None."""
        if query.limit <= 0:
            return []
        index = self._index
        if index is None:
            self._index = index = WordIndex({event_id: words_of(event) for event_id, event in self._events.items()})
        found = index.nearest(
            asked_words(query.text, query.exact), limit=query.limit, among=None if part is None else part.event_ids
        )
        return [Hit(event_id, similarity, "words", event_id, piece) for event_id, similarity, piece in found]


def words_of(event: StoredEvent) -> EventWords:
    """Return the texts of an event: its summary, its writing, and the lines that are spoken during it."""
    lines: dict[Span, str] = {}
    for line in (line for chunk in event.chunks for line in chunk.transcript):
        lines.setdefault(line.span, line.text)
    return EventWords(
        event.summary,
        [text for chunk in event.chunks for text in chunk.on_screen_text],
        [lines[span] for span in sorted(lines) if span.overlaps(event.span)],
    )

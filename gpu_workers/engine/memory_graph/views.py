"""The views of the graph in memory: exact cosine over numpy arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Span, Vector
from gpu_workers.engine.ports import CROWD, Hit, StoredEvent, ViewQuery
from gpu_workers.engine.retrieval.word_ranking import WordIndex
from gpu_workers.engine.retrieval.word_terms import EventWords, asked_words


@dataclass(frozen=True, slots=True)
class Item:
    """An item that a view can match. event_ids: the events it belongs to, in order; may grow during construction.

    span: its own time, if it has another one than its events.
    """

    id: UUID
    vector: Vector
    event_ids: Sequence[UUID]
    words: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Part:
    """The part of the scope to which a query is narrowed. event_ids: the events that overlap it."""

    span: Span
    event_ids: Collection[UUID]

    def events_of(self, item: Item) -> list[UUID]:
        """Return those of the item's events that lie in this part; none if the item itself lies elsewhere."""
        if item.span is not None and not item.span.overlaps(self.span):
            return []
        return [event_id for event_id in item.event_ids if event_id in self.event_ids]


@dataclass(slots=True)
class View:
    """Items with unit vectors, searched exactly. The matrix is built at the first search. following: by item, the next
    item in time; None for a view without order in time, which has no context."""

    items: list[Item] = field(default_factory=list)
    following: Mapping[UUID, UUID] | None = None
    matrix: Vector | None = None

    def add(
        self, key: UUID, vector: Vector, event_ids: Sequence[UUID], words: str = "", span: Span | None = None
    ) -> None:
        self.items.append(Item(key, vector, event_ids, words, span))

    def nearest(self, query: ViewQuery, part: Part | None, *, floor: float) -> list[tuple[Item, list[UUID], float]]:
        """Return (item, its events, cosine) above floor, best first; ties by id. part: all of the scope if None."""
        if not self.items or query.limit <= 0:
            return []
        if self.matrix is None:
            # Sorted before the matrix is set: another thread may search in between and must find both in one order.
            items = sorted(self.items, key=lambda item: item.id)
            self.items, self.matrix = items, np.stack([item.vector for item in items])
        cosines: NDArray[np.floating[Any]] = self.matrix @ query.vector
        if query.context and self.following is not None:
            cosines = self._in_context(cosines, self.following, query.context)
        events: dict[int, list[UUID]] = {}
        best: list[int] = []
        for row in np.argsort(-cosines, kind="stable").tolist():
            if len(best) == query.limit or not cosines[row] > floor:
                break
            events[row] = list(self.items[row].event_ids) if part is None else part.events_of(self.items[row])
            if part is None or events[row]:
                best.append(row)
        if query.crowding and self.following is not None and len(best) > 1:
            return self._uncrowded(best, events, np.asarray(cosines[best], dtype=np.float64), query.crowding, floor)
        return [(self.items[row], events[row], float(cosines[row])) for row in best]

    def cosines(self, vector: Vector, events: Collection[UUID]) -> dict[UUID, tuple[Item, float]]:
        """Return the items of these events with their cosines, by id; none for an empty vector."""
        if not len(vector):
            return {}
        items = [item for item in self.items if any(event_id in events for event_id in item.event_ids)]
        return {item.id: (item, float(item.vector @ vector)) for item in items}

    def _uncrowded(
        self,
        best: Sequence[int],
        events: Mapping[int, list[UUID]],
        cosines: NDArray[np.float64],
        weight: float,
        floor: float,
    ) -> list[tuple[Item, list[UUID], float]]:
        """Return the best rows by their cosines, less weight times how much nearer to others each lies than usual."""
        vectors = np.stack([self.items[row].vector for row in best]).astype(np.float64)
        near = vectors @ vectors.T
        np.fill_diagonal(near, -np.inf)
        crowds = np.sort(near, axis=1)[:, ::-1][:, : min(CROWD, len(best) - 1)].mean(axis=1)
        apart = cosines - weight * (crowds - crowds.mean())
        order = sorted(range(len(best)), key=lambda place: (-apart[place], self.items[best[place]].id))
        return [
            (self.items[best[place]], events[best[place]], float(apart[place]))
            for place in order
            if apart[place] > floor
        ]

    def _in_context(
        self, cosines: NDArray[np.floating[Any]], following: Mapping[UUID, UUID], context: float
    ) -> NDArray[np.float64]:
        """Return the cosines in context, in double precision like a database. An item without neighbours is its own."""
        row_of = {item.id: row for row, item in enumerate(self.items)}
        alone = cosines.astype(np.float64)
        around = np.full(len(alone), -np.inf)
        for before, after in following.items():
            left, right = row_of[before], row_of[after]
            around[left] = max(around[left], alone[right])
            around[right] = max(around[right], alone[left])
        around = np.where(np.isneginf(around), alone, around)
        return np.asarray((alone + context * around) / (1 + context))


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

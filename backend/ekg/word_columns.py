"""The view of words in a large scope: postings are read as arrays, and ranked in numpy.

A common word is in tens of thousands of events. SQL would look each of them up, for each of the query's terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from backend.ekg.arrays import EMPTY_ARRAY, number_array, packed_uuid_array, uuid_array
from backend.ekg.scope import Scope
from backend.ekg.sketches import BlockCache, BlockKey
from gpu_workers.engine.ports import ViewQuery
from gpu_workers.engine.retrieval.sketches import Places
from gpu_workers.engine.retrieval.word_ranking import Posted, ranked_by_words
from gpu_workers.engine.retrieval.word_terms import AskedWords, asked_words

MOST_WITH_PHRASES = 4_096
"""Events with all words of the exact phrases in which the phrases are looked for, best first."""

# An array is sent as a head of 20 bytes, then length and value of each element.
_POSTINGS = (
    "SELECT p.term, array_agg(video.place ORDER BY video.place), "
    "array_agg(cardinality(p.events) ORDER BY video.place), "
    "string_agg(substring(array_send(p.events) FROM 21), ''::bytea ORDER BY video.place), "
    "string_agg(substring(array_send(p.impacts) FROM 21), ''::bytea ORDER BY video.place) "
    "FROM unnest(%(word_videos)s::uuid[], %(word_versions)s::int[]) WITH ORDINALITY "
    "AS video(video_id, index_version, place) JOIN ekg_posting p USING (video_id, index_version) "
    "WHERE p.tenant_id = %(tenant)s AND p.term = ANY(%(word_terms)s) GROUP BY p.term"
)
_EVENT = np.dtype([("length", ">i4"), ("value", ">i4")])
_IMPACT = np.dtype([("length", ">i4"), ("value", ">i2")])


class ReadRows(Protocol):
    """Runs a statement with the scope's parameters and others, in the tenant's transaction."""

    def __call__(self, sql: str, **parameters: Any) -> Sequence[tuple[Any, ...]]: ...


@dataclass(frozen=True, slots=True)
class RankedEvents:
    """Events of a large scope, as the text of an array of ids, and their similarities in the view of words, best
    first."""

    ids: str
    similarities: list[float]


def words_search(
    scope: Scope, query: ViewQuery, keys: Sequence[BlockKey], cache: BlockCache, rows: ReadRows
) -> Callable[[], RankedEvents]:
    """Read the postings of the query's words, and return what computes the events in scope with the highest
    similarities to them.

    keys: all blocks of events in scope, in order, whatever their model. With exact phrases, events that have all words
    of these are returned, since the phrases themselves are looked for in SQL.
    """
    asked = asked_words(query.text, query.exact)
    keys, places = cache.together(keys, Places)
    if places is None or not asked.terms:
        return lambda: RankedEvents(EMPTY_ARRAY, [])
    held = _Held(keys)
    posted = _read(held, sorted({term.term for term in asked.terms}), rows)
    return partial(_ranked, scope, query, asked, held, places, posted)


def _ranked(
    scope: Scope, query: ViewQuery, asked: AskedWords, held: _Held, places: Places, posted: Sequence[tuple[Any, ...]]
) -> RankedEvents:
    postings = held.postings(posted)
    ranked = ranked_by_words(asked, postings, held.inside(scope, places))
    among = held.within(query, places)
    for term in asked.required:
        having = np.zeros(len(among), dtype=np.bool_)
        having[postings[term].events if term in postings else []] = True
        among &= having
    best = ranked.best(max(query.limit, MOST_WITH_PHRASES) if asked.exact else query.limit, places.ids, among)
    return RankedEvents(packed_uuid_array(places.ids[best]), ranked.similarities(best))


class _Held:
    """Where the events of each video stand among all events of the blocks: event n of a video at its first + n."""

    def __init__(self, keys: Sequence[BlockKey]) -> None:
        counts: dict[tuple[UUID, int], int] = {}
        for key in keys:
            video = key.video_id, key.index_version
            counts[video] = counts.get(video, 0) + key.items
        self.videos = list(counts)
        self.counts = np.array(list(counts.values()), dtype=np.int64)
        self.firsts = np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.int64)

    def inside(self, scope: Scope, places: Places) -> NDArray[np.bool_]:
        """Return whether each event is in scope, by the rule of views.EVENT_IN_SCOPE."""
        inside = np.zeros(len(places.ids), dtype=np.bool_)
        numbers = {video: number for number, video in enumerate(self.videos)}
        for video in scope.videos:
            number = numbers.get((video.video_id, video.index_version))
            if number is not None:
                part = slice(self.firsts[number], self.firsts[number] + self.counts[number])
                starts, ends = places.start_ms[part], places.end_ms[part]
                inside[part] = (ends <= video.until_ms) & (starts < scope.ends(video)) & (ends > scope.starts(video))
        return inside

    def within(self, query: ViewQuery, places: Places) -> NDArray[np.bool_]:
        """Return whether the view's part admits each event."""
        if query.within is None:
            return np.ones(len(places.ids), dtype=np.bool_)
        span = query.within.span
        of_video = [video_id == query.within.video_id for video_id, _ in self.videos]
        return np.repeat(of_video, self.counts) & (places.start_ms < span.end_ms) & (places.end_ms > span.start_ms)

    def postings(self, rows: Sequence[tuple[Any, ...]]) -> dict[str, Posted]:
        """Return the postings of each term over all events that are held. rows: of _read()."""
        postings = {}
        for term, numbers, sizes, events, impacts in rows:
            video = np.repeat(np.array(numbers, dtype=np.int64) - 1, sizes)
            n = np.frombuffer(events, dtype=_EVENT)["value"].astype(np.int64)
            # An event that was added since the blocks were listed is not among them.
            known = n < self.counts[video]
            impact = np.frombuffer(impacts, dtype=_IMPACT)["value"].astype(np.int64)
            postings[term] = Posted((self.firsts[video] + n)[known], impact[known])
        return postings


def _read(held: _Held, terms: Sequence[str], rows: ReadRows) -> Sequence[tuple[Any, ...]]:
    videos = uuid_array(video_id for video_id, _ in held.videos)
    versions = number_array(version for _, version in held.videos)
    return rows(_POSTINGS, word_videos=videos, word_versions=versions, word_terms=list(terms))

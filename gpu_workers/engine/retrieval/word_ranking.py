"""The ranking of the view of words, in whole numbers, so that every store computes the same.

A term's weight falls with the number of events in scope that have it (BM25's idf, in thousandths). The similarity of an
event is the share of the query's weight that it has, times the impact of the terms on it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.retrieval.word_terms import (
    MAX_IMPACT,
    AskedTerm,
    AskedWords,
    EventWords,
    event_terms,
    word_terms,
)
from gpu_workers.engine.retrieval.words import canonical, phrase_of, tokens

PIECE_CHARACTERS = 300
"""Maximum length of a hit's words."""


@dataclass(frozen=True, slots=True)
class Posted:
    """The events that have a term: their positions, each once, and the term's impacts on them."""

    events: NDArray[np.int64]
    impacts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """scores: of every event by its position, 0 without a match. full: the score of an event that has all of the query.
    Similarities are score / full, in [0, 1]."""

    scores: NDArray[np.int64]
    full: int

    def best(self, limit: int, ids: NDArray[np.void], among: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return the positions of at most limit events with a match, best first, ties by id.

        ids: 16 bytes for each event. among: whether an event may be returned.
        """
        matching = np.flatnonzero(self.scores if among is None else np.where(among, self.scores, 0))
        if 0 < limit < len(matching):
            scores = self.scores[matching]
            matching = matching[scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit]]
        high, low = np.ascontiguousarray(ids[matching]).view(">u8").reshape(-1, 2).T
        return np.asarray(matching[np.lexsort((low, high, -self.scores[matching]))][: max(0, limit)])

    def similarities(self, events: NDArray[np.int64]) -> list[float]:
        return [float(value) for value in self.scores[events] / self.full]


def idf(events: int, having: int) -> int:
    """Return the weight of a term that this many of the events have, in thousandths, at least 1."""
    return max(1, round(1000 * math.log(1 + (events - having + 0.5) / (having + 0.5))))


def ranked_by_words(asked: AskedWords, postings: Mapping[str, Posted], admitted: NDArray[np.bool_]) -> Ranked:
    """Return how much of the query's words and codes each event has; exact phrases aside.

    admitted: by the position of an event, whether it is in scope. How rare a word is counts over these alone.
    backend.ekg.word_search has the same in SQL, for small scopes.
    """
    events = int(np.count_nonzero(admitted))
    having = {term: _among(posted, admitted) for term, posted in postings.items()}
    found = {term.group for term in asked.terms if term.term in having and len(having[term.term].events)}
    groups: defaultdict[int, list[tuple[AskedTerm, Posted, int]]] = defaultdict(list)
    for term in asked.terms:
        if term.unless < 0 or term.unless not in found:
            posted = having.get(term.term, _NOWHERE)
            groups[term.group].append((term, posted, term.weight * idf(events, len(posted.events))))
    full = 0
    scores = np.zeros(len(admitted), dtype=np.int64)
    for of_group in groups.values():
        parts = of_group[0][0].parts
        present = [value for _, posted, value in of_group if len(posted.events)]
        values = [value for *_, value in of_group]
        full += sum(values) if parts else max(present or values)
        if not present:
            continue
        share, matched = np.zeros_like(scores), np.zeros(len(scores), dtype=np.uint8)
        for _, posted, value in of_group:
            if parts:
                share[posted.events] += value * posted.impacts
                matched[posted.events] += 1
            else:
                share[posted.events] = np.maximum(share[posted.events], value * posted.impacts)
        if parts:
            share[5 * matched.astype(np.int64) < 2 * parts] = 0
        scores += share
    return Ranked(scores, full * MAX_IMPACT)


_NOWHERE = Posted(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _among(posted: Posted, admitted: NDArray[np.bool_]) -> Posted:
    here = admitted[posted.events]
    return posted if here.all() else Posted(posted.events[here], posted.impacts[here])


def contains(searched: str, exact: Collection[str]) -> bool:
    """Whether the canonical text contains every one of the canonical phrases."""
    return all(phrase in searched for phrase in exact)


def matched_piece(words: EventWords, asked: AskedWords) -> str:
    """Return the text of the event that has most of the query, the first of equals, cut around what matches."""
    wanted = {term.term: term.group for term in asked.terms}

    def ranked(terms_of: Callable[[str], Iterable[str]]) -> list[tuple[int, int]]:
        groups = [len({wanted[term] for term in terms_of(piece) if term in wanted}) for piece in words.pieces]
        exact = [sum(phrase in phrase_of(piece) for phrase in asked.exact) for piece in words.pieces]
        return list(zip(exact, groups, strict=True))

    ranks: list[tuple[int, int]] = []
    if not asked.literal:
        # Nearly always a word matches by the rules of the query's languages; those of each text take time to detect.
        ranks = ranked(lambda piece: word_terms(piece, asked.languages))
    if not any(groups for _, groups in ranks):
        ranks = ranked(lambda piece: event_terms(EventWords("", (piece,))))
    best = max(zip(ranks, words.pieces, strict=True), key=lambda pair: pair[0], default=((0, 0), ""))[1]
    return best if len(best) <= PIECE_CHARACTERS else _cut(best, wanted)


def _cut(piece: str, wanted: Collection[str]) -> str:
    """Return PIECE_CHARACTERS of the piece from shortly before the first word that matches."""
    first = next((token.start for token in tokens(piece) if event_terms(EventWords(token.written)).keys() & wanted), 0)
    start = max(0, min(first - PIECE_CHARACTERS // 4, len(piece) - PIECE_CHARACTERS))
    return piece[start : start + PIECE_CHARACTERS].strip()


class WordIndex:
    """The words of events in scope, held in memory."""

    def __init__(self, events: Mapping[UUID, EventWords]) -> None:
        self._ids = list(events)
        self._events = events
        self._searched = {event_id: canonical(words.pieces) for event_id, words in events.items()}
        postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for position, words in enumerate(events.values()):
            for term, impact in event_terms(words).items():
                postings[term].append((position, impact))
        self._postings = {term: Posted(*np.array(pairs, dtype=np.int64).T) for term, pairs in postings.items()}

    def nearest(
        self, asked: AskedWords, *, limit: int, among: Collection[UUID] | None = None
    ) -> Sequence[tuple[UUID, float, str]]:
        """Return at most limit (event, similarity, matched piece), best first, ties by id. among: only these events;
        how rare a word is counts over all."""
        wanted = {term.term: self._postings[term.term] for term in asked.terms if term.term in self._postings}
        ranked = ranked_by_words(asked, wanted, np.ones(len(self._ids), dtype=np.bool_))
        admitted = np.array(
            [
                (among is None or event_id in among) and contains(self._searched[event_id], asked.exact)
                for event_id in self._ids
            ],
            dtype=np.bool_,
        )
        ids = np.frombuffer(b"".join(event_id.bytes for event_id in self._ids), dtype="V16")
        best = ranked.best(limit, ids, admitted)
        return [
            (self._ids[position], similarity, matched_piece(self._events[self._ids[position]], asked))
            for position, similarity in zip(best.tolist(), ranked.similarities(best), strict=True)
        ]

"""The ranking of the view of words, in whole numbers, so that every store computes the same.

A term's weight falls with the number of events in scope that have it (BM25's idf, in thousandths). The similarity of an
event is the share of the query's weight that it has, times the impact of the terms on it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from gpu_workers.engine.retrieval.word_terms import MAX_IMPACT, AskedTerm, AskedWords, EventWords, event_terms
from gpu_workers.engine.retrieval.words import canonical, phrase_of, tokens

PIECE_CHARACTERS = 300
"""Maximum length of a hit's words."""

Postings = Mapping[str, Mapping[UUID, int]]
"""term -> event -> impact, over the events in scope."""


def idf(events: int, having: int) -> int:
    """Return the weight of a term that this many of the events have, in thousandths, at least 1."""
    return max(1, round(1000 * math.log(1 + (events - having + 0.5) / (having + 0.5))))


def ranked_by_words(asked: AskedWords, postings: Postings, *, events: int) -> dict[UUID, float]:
    """Return the similarity, in (0, 1], of every event that has a word or code of the query; exact phrases aside.

    backend.ekg.word_search has the same in SQL.
    """
    having: dict[tuple[str, int], int] = {
        (term.term, term.group): len(postings.get(term.term, ())) for term in asked.terms
    }
    found = {term.group for term in asked.terms if having[term.term, term.group]}
    groups: defaultdict[int, list[tuple[AskedTerm, int]]] = defaultdict(list)
    for term in asked.terms:
        if term.unless < 0 or term.unless not in found:
            groups[term.group].append((term, term.weight * idf(events, having[term.term, term.group])))
    full = 0
    scores: defaultdict[UUID, int] = defaultdict(int)
    for of_group in groups.values():
        parts = of_group[0][0].parts
        present = [value for term, value in of_group if having[term.term, term.group]]
        values = [value for _, value in of_group]
        full += sum(values) if parts else max(present or values)
        shares: defaultdict[UUID, list[int]] = defaultdict(list)
        for term, value in of_group:
            for event_id, impact in postings.get(term.term, {}).items():
                shares[event_id].append(value * impact)
        for event_id, share in shares.items():
            if not parts:
                scores[event_id] += max(share)
            elif 5 * len(share) >= 2 * parts:
                scores[event_id] += sum(share)
    return {event_id: score / (full * MAX_IMPACT) for event_id, score in scores.items() if score}


def contains(searched: str, exact: Collection[str]) -> bool:
    """Whether the canonical text contains every one of the canonical phrases."""
    return all(phrase in searched for phrase in exact)


def matched_piece(words: EventWords, asked: AskedWords) -> str:
    """Return the text of the event that has most of the query, the first of equals, cut around what matches."""
    wanted = {term.term: term.group for term in asked.terms}

    def rank(piece: str) -> tuple[int, int]:
        searched = phrase_of(piece)
        groups = {wanted[term] for term in event_terms(EventWords("", (piece,))) if term in wanted}
        return sum(phrase in searched for phrase in asked.exact), len(groups)

    best = max(words.pieces, key=rank, default="")
    return best if len(best) <= PIECE_CHARACTERS else _cut(best, wanted)


def _cut(piece: str, wanted: Collection[str]) -> str:
    """Return PIECE_CHARACTERS of the piece from shortly before the first word that matches."""
    first = next((token.start for token in tokens(piece) if event_terms(EventWords(token.written)).keys() & wanted), 0)
    start = max(0, min(first - PIECE_CHARACTERS // 4, len(piece) - PIECE_CHARACTERS))
    return piece[start : start + PIECE_CHARACTERS].strip()


class WordIndex:
    """The words of events in scope, held in memory."""

    def __init__(self, events: Mapping[UUID, EventWords]) -> None:
        self._events = events
        self._searched = {event_id: canonical(words.pieces) for event_id, words in events.items()}
        self._postings: defaultdict[str, dict[UUID, int]] = defaultdict(dict)
        for event_id, words in events.items():
            for term, impact in event_terms(words).items():
                self._postings[term][event_id] = impact

    def nearest(
        self, asked: AskedWords, *, limit: int, among: Collection[UUID] | None = None
    ) -> Sequence[tuple[UUID, float, str]]:
        """Return at most limit (event, similarity, matched piece), best first, ties by id. among: only these events;
        how rare a word is counts over all."""
        scores = ranked_by_words(asked, self._postings, events=len(self._events))
        admitted = (
            (event_id, score)
            for event_id, score in scores.items()
            if (among is None or event_id in among) and contains(self._searched[event_id], asked.exact)
        )
        best = sorted(admitted, key=lambda pair: (-pair[1], pair[0]))[: max(0, limit)]
        return [(event_id, score, matched_piece(self._events[event_id], asked)) for event_id, score in best]

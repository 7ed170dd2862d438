"""The view of words in SQL: postings of the query's terms, weighed as engine.retrieval.word_ranking does in memory.

Terms come from the engine, and all weights are whole numbers, so both stores find the same events with the same
similarity. The postings are read by tenant, term and video: what another tenant has changes neither rank nor cost. In a
large scope word_columns ranks, and the statement applies the scope and looks for exact phrases.
"""

from __future__ import annotations

import json
from typing import Any

from gpu_workers.engine.ports import ViewQuery
from gpu_workers.engine.retrieval.word_ranking import matched_piece
from gpu_workers.engine.retrieval.word_terms import MAX_IMPACT, AskedWords, EventWords, asked_words

_POSTED = (
    "words_asked AS MATERIALIZED (SELECT * FROM unnest(%(words_terms)s::text[], %(words_groups)s::int[], "
    "%(words_weights)s::bigint[], %(words_parts)s::int[], %(words_unless)s::int[]) "
    "AS q(term, grp, weight, parts, unless)), "
    "words_posted AS MATERIALIZED (SELECT q.term, q.grp, e.id, posted.impact FROM words_asked q "
    "JOIN ekg_posting p ON p.tenant_id = %(tenant)s AND p.term = q.term JOIN scope USING (video_id, index_version) "
    "CROSS JOIN LATERAL unnest(p.events, p.impacts) AS posted(n, impact) "
    "JOIN inside e ON e.video_id = p.video_id AND e.index_version = p.index_version AND e.n = posted.n)"
)
# word_ranking.ranked_by_words() in SQL: how many events have a term, then the terms that count, with their weights.
_WEIGHED = (
    "words_frequency AS MATERIALIZED (SELECT q.*, (SELECT count(*) FROM words_posted p WHERE p.term = q.term "
    "AND p.grp = q.grp) AS df FROM words_asked q), "
    "words_weighed AS MATERIALIZED (SELECT h.*, h.weight * greatest(1, round(1000 * ln(1 + "
    "(total.events - df + 0.5)::float8 / (df + 0.5)::float8))::bigint) AS value "
    "FROM words_frequency h CROSS JOIN (SELECT count(*) AS events FROM inside) total "
    "WHERE unless < 0 OR NOT EXISTS (SELECT FROM words_frequency other WHERE other.grp = h.unless AND other.df > 0))"
)
_FULL = (
    "(SELECT sum(most) FROM (SELECT CASE WHEN max(parts) > 0 THEN sum(value) "
    "ELSE coalesce(max(value) FILTER (WHERE df > 0), max(value)) END AS most FROM words_weighed GROUP BY grp) g)"
)
_SCORED = (
    "SELECT id, sum(share) AS score FROM (SELECT p.id, CASE WHEN max(w.parts) = 0 THEN max(w.value * p.impact) "
    "WHEN 5 * count(*) >= 2 * max(w.parts) THEN sum(w.value * p.impact) ELSE 0 END AS share "
    "FROM words_posted p JOIN words_weighed w USING (term, grp) GROUP BY p.id, p.grp) shares "
    "GROUP BY id HAVING sum(share) > 0"
)


_CHOSEN = (
    "words_nearest AS MATERIALIZED (SELECT s.id, s.similarity "
    "FROM unnest(%(words_ids)s::uuid[], %(words_similarities)s::float8[]) AS s(id, similarity) CROSS JOIN LATERAL "
    "(SELECT e.video_id, e.index_version, e.searched FROM ekg_event e WHERE e.tenant_id = %(tenant)s AND e.id = s.id "
    "OFFSET 0) event JOIN inside e ON e.id = s.id "
    "WHERE true {part}{contains}ORDER BY s.similarity DESC, s.id LIMIT %(words_limit)s)"
)


def words_parameters(query: ViewQuery, *, large: bool) -> dict[str, Any]:
    asked = asked_words(query.text, query.exact)
    chosen = {"words_exact": list(asked.exact), "words_limit": query.limit}
    if large:
        return chosen
    columns = {
        "words_terms": [term.term for term in asked.terms],
        "words_groups": [term.group for term in asked.terms],
        "words_weights": [term.weight for term in asked.terms],
        "words_parts": [term.parts for term in asked.terms],
        "words_unless": [term.unless for term in asked.terms],
    }
    return columns | chosen


def words_ctes(query: ViewQuery, *, large: bool) -> list[str]:
    """Return the CTEs of the view, of which words_nearest has id and similarity of the best events. They stand on the
    CTEs scope and inside; if query.within is given, on words_inside, too.

    large: with the parameters of word_columns.RankedEvents.
    """
    part = "AND s.id IN (SELECT id FROM words_inside) " if query.within is not None else ""
    contains = (
        "AND NOT EXISTS (SELECT FROM unnest(%(words_exact)s::text[]) phrase WHERE strpos(event.searched, phrase) = 0) "
        if query.exact
        else ""
    )
    if large:
        return [_CHOSEN.format(part=part, contains=contains)]
    nearest = (
        f"words_nearest AS MATERIALIZED (SELECT s.id, s.score::float8 / full_score.score::float8 AS similarity "
        f"FROM ({_SCORED}) s JOIN ekg_event event ON event.tenant_id = %(tenant)s AND event.id = s.id "
        f"CROSS JOIN (SELECT {MAX_IMPACT} * {_FULL} AS score) full_score WHERE true {part}{contains}"
        "ORDER BY similarity DESC, s.id LIMIT %(words_limit)s)"
    )
    return [_POSTED, _WEIGHED, nearest]


def words_found(event_of_line: str) -> str:
    """Return the SELECT of the hits, with the texts of each event as JSON: summary, writing, speech.

    event_of_line: condition that joins a line of the transcript with an event e.
    """
    return (
        "SELECT 'words' AS view, e.id AS event_id, near.id AS item, near.similarity, jsonb_build_array(event.summary, "
        "(SELECT coalesce(jsonb_agg(writing.text ORDER BY c.n, writing.place), '[]') FROM ekg_chunk c CROSS JOIN "
        "LATERAL jsonb_array_elements_text(c.on_screen_text) WITH ORDINALITY AS writing(text, place) "
        "WHERE c.tenant_id = %(tenant)s AND c.event_id = e.id), "
        "(SELECT coalesce(jsonb_agg(line.text ORDER BY line.start_ms, line.end_ms), '[]') FROM ekg_transcriptline line "
        f"WHERE line.tenant_id = %(tenant)s AND {event_of_line}))::text AS words, e.video_id, e.n "
        "FROM words_nearest near JOIN inside e ON e.id = near.id "
        "JOIN ekg_event event ON event.tenant_id = %(tenant)s AND event.id = near.id"
    )


def read_piece(texts: str, asked: AskedWords) -> str:
    """Return the matched piece of a row of words_found()."""
    summary, written, spoken = json.loads(texts)
    return matched_piece(EventWords(summary, written, spoken), asked)

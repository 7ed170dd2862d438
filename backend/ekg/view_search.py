"""The one statement that searches all views of a question: the nearest items inside the scope, and their events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal
from uuid import UUID

import numpy as np

from backend.ekg.word_search import read_piece, words_ctes, words_found, words_parameters
from gpu_workers.engine.ekg import CHUNK_MS, Vector
from gpu_workers.engine.ports import Hit, ViewName, ViewQuery
from gpu_workers.engine.retrieval.word_terms import asked_words

# from_ms, to_ms: the span of each video that may be read.
SCOPE = (
    "scope AS MATERIALIZED (SELECT * FROM unnest(%(videos)s::uuid[], %(versions)s::int[], %(untils)s::bigint[], "
    "%(starts)s::bigint[], %(ends)s::bigint[]) AS s(video_id, index_version, until_ms, from_ms, to_ms))"
)
EVENT_IN_SCOPE = (
    "e.tenant_id = %(tenant)s AND e.end_ms <= scope.until_ms AND e.start_ms < scope.to_ms AND e.end_ms > scope.from_ms"
)
EVENT_OF_LINE = (
    "e.video_id = line.video_id AND e.index_version = line.index_version "
    "AND e.start_ms < line.end_ms AND e.end_ms > line.start_ms"
)
EVENT_OF_TOPIC = (
    "e.video_id = topic.video_id AND e.index_version = topic.index_version "
    "AND e.n >= topic.first_event AND e.n < topic.end_event"
)
# The chunks of a line lead to its events by an index; a chunk is 3 s long, and its number is its time (invariants).
EVENT_NEAR_LINE = (
    "e.id IN (SELECT c.event_id FROM ekg_chunk c WHERE c.tenant_id = %(tenant)s AND c.video_id = line.video_id "
    f"AND c.index_version = line.index_version AND c.n BETWEEN line.start_ms / {CHUNK_MS} - 1 "
    f"AND line.end_ms / {CHUNK_MS})"
)
# Few columns, because it is joined with every view. The scope is applied only here.
INSIDE = (
    "inside AS MATERIALIZED (SELECT e.id, e.video_id, e.index_version, e.n, e.start_ms, e.end_ms FROM ekg_event e "
    f"JOIN scope USING (video_id, index_version) WHERE {EVENT_IN_SCOPE})"
)
# Events do not overlap, and a scope admits one run of a video's events. So times alone show whether an item is inside,
# without a look-up for each of 36,000 frames. All hits are joined with inside nevertheless.
# The join with scope shows the planner that these are few rows; otherwise it reads all rows of the tenant.
REACH = (
    "reach AS MATERIALIZED (SELECT video_id, index_version, start_ms, end_ms, from_ms, to_ms FROM scope JOIN "
    "(SELECT video_id, index_version, min(start_ms) AS start_ms, max(end_ms) AS end_ms FROM inside "
    "GROUP BY video_id, index_version) span USING (video_id, index_version))"
)
# In a large scope the events are too many to be listed: each use of inside looks its events up.
INSIDE_LARGE = INSIDE.replace("AS MATERIALIZED", "AS NOT MATERIALIZED", 1)
REACH_LARGE = (
    "reach AS MATERIALIZED (SELECT video_id, index_version, from_ms AS start_ms, least(to_ms, until_ms) AS end_ms, "
    "from_ms, to_ms FROM scope)"
)


@dataclass(frozen=True, slots=True)
class Nearby:
    """Items of a view whose vectors are compared in a large scope, as columns of equal length: their ids (events,
    entities), or the stretches of video that hold them (pictures, spoken lines), in ms."""

    ids: list[UUID]
    videos: list[UUID]
    versions: list[int]
    starts: list[int]
    ends: list[int]


@dataclass(frozen=True, slots=True)
class _View:
    """The items of a view. item: alias of the rows of table that are matched by the column vector, made by model.

    rows: FROM and WHERE that admit items, using inside (the events in scope) and reach (their time). events: joins from
    an item to its events in inside, as e. words: text for the reader after the item's id. tried: a join that costs too
    much for every item, so the best items are tried first until there are enough. carried: columns that tried needs.
    times: start and end of an item whose time is not that of its events.
    ordered: (partition columns, order column) of the items' neighbours, for queries with context.
    nearby: rows in a large scope, from the columns of Nearby. nearby_tried: tried in a large scope.
    """

    table: str
    item: str
    vector: str
    model: Literal["text", "frame"]
    rows: str
    events: str
    words: str
    carried: tuple[str, ...] = ()
    tried: str = ""
    times: tuple[str, str] | None = None
    ordered: tuple[str, str] | None = None
    nearby: str = ""
    nearby_tried: str = ""


_STRETCHES = (
    "unnest(%({0}_videos)s::uuid[], %({0}_versions)s::int[], %({0}_starts)s::bigint[], %({0}_ends)s::bigint[]) "
    "AS c(video_id, index_version, first_ms, last_ms) JOIN scope USING (video_id, index_version)"
)
_VIEWS: Mapping[ViewName, _View] = {
    "event": _View(
        item="event",
        vector="embedding",
        model="text",
        table="ekg_event",
        rows="ekg_event event JOIN reach USING (video_id, index_version) "
        "WHERE event.start_ms >= reach.start_ms AND event.end_ms <= reach.end_ms",
        events="JOIN inside e ON e.id = event.id",
        words="''",
        ordered=("video_id, index_version", "n"),
        # With two neighbours on each side, so that all events up to one step away have both of theirs.
        nearby="(SELECT e.video_id, e.index_version, e.n + step AS n, min(abs(step)) AS away "
        "FROM unnest(%(event_ids)s::uuid[]) AS c(id) JOIN ekg_event e ON e.tenant_id = %(tenant)s AND e.id = c.id "
        "CROSS JOIN generate_series(-2, 2) step GROUP BY 1, 2, 3) c JOIN scope USING (video_id, index_version) "
        "CROSS JOIN LATERAL (SELECT e.id, e.n, e.tenant_id, e.embedding, e.embedding_model "
        "FROM ekg_event e WHERE e.video_id = c.video_id "
        f"AND e.index_version = c.index_version AND e.n = c.n AND {EVENT_IN_SCOPE} OFFSET 0) event WHERE true",
    ),
    "entity": _View(
        item="entity",
        vector="centroid",
        model="text",
        table="ekg_entity",
        rows="ekg_entity entity JOIN reach USING (video_id, index_version) WHERE true",
        # IS TRUE turns this into a look-up in a hash table; the planner cannot know how many events are inside.
        tried="CROSS JOIN LATERAL (SELECT FROM ekg_mention m WHERE m.tenant_id = %(tenant)s "
        "AND m.entity_id = entity.id AND (m.event_id IN (SELECT id FROM inside)) IS TRUE LIMIT 1) seen",
        # ekg_mention is the relational twin of PARTICIPATES_IN, written together with it. From here the graph would
        # cost a second round trip, because Cypher takes its ids only as a parameter.
        events="JOIN ekg_mention m ON m.tenant_id = entity.tenant_id AND m.entity_id = entity.id "
        "JOIN inside e ON e.id = m.event_id",
        words="entity.name",
        nearby="(SELECT DISTINCT unnest(%(entity_ids)s::uuid[]) AS id) c CROSS JOIN LATERAL (SELECT u.* "
        "FROM ekg_entity u WHERE u.tenant_id = %(tenant)s AND u.id = c.id OFFSET 0) entity "
        "JOIN scope USING (video_id, index_version) WHERE true",
        nearby_tried="CROSS JOIN LATERAL (SELECT FROM ekg_mention m JOIN inside e ON e.id = m.event_id "
        "WHERE m.tenant_id = %(tenant)s AND m.entity_id = entity.id LIMIT 1) seen",
    ),
    "frame": _View(
        item="frame",
        vector="embedding",
        model="frame",
        table="ekg_frame",
        rows="ekg_frame frame JOIN reach USING (video_id, index_version) WHERE frame.event_id IS NOT NULL "
        "AND frame.ms >= greatest(reach.start_ms, reach.from_ms) AND frame.ms < least(reach.end_ms, reach.to_ms)",
        events="JOIN inside e ON e.id = frame.event_id",
        words="'at ' || frame.ms || ' ms'",
        times=("frame.ms", "frame.ms + 1"),
        nearby=f"{_STRETCHES.format('frame')} CROSS JOIN LATERAL (SELECT f.id, f.ms, f.tenant_id, f.embedding, "
        "f.embedding_model FROM ekg_frame f "
        "WHERE f.tenant_id = %(tenant)s AND f.video_id = c.video_id AND f.index_version = c.index_version "
        "AND f.event_id IS NOT NULL AND f.ms >= greatest(c.first_ms, scope.from_ms) "
        "AND f.ms < least(c.last_ms, scope.to_ms, scope.until_ms) OFFSET 0) frame WHERE true",
        nearby_tried="CROSS JOIN LATERAL (SELECT FROM ekg_frame f JOIN inside e ON e.id = f.event_id "
        "WHERE f.tenant_id = %(tenant)s AND f.id = frame.id LIMIT 1) frame_event",
    ),
    "transcript": _View(
        item="line",
        vector="embedding",
        model="text",
        table="ekg_transcriptline",
        rows="ekg_transcriptline line JOIN reach USING (video_id, index_version) "
        "WHERE line.start_ms < reach.end_ms AND line.end_ms > reach.start_ms",
        # No index finds the events of a time.
        carried=("video_id", "index_version", "line.start_ms", "line.end_ms"),
        tried=f"CROSS JOIN LATERAL (SELECT FROM inside e WHERE {EVENT_OF_LINE} LIMIT 1) line_event",
        events=f"JOIN inside e ON {EVENT_OF_LINE}",
        words="line.text",
        times=("line.start_ms", "line.end_ms"),
        # Stretches may overlap, so a line may be in two.
        nearby=f"(SELECT DISTINCT l.id FROM {_STRETCHES.format('transcript')} CROSS JOIN LATERAL (SELECT l.id "
        "FROM ekg_transcriptline l WHERE l.tenant_id = %(tenant)s AND l.video_id = c.video_id "
        "AND l.index_version = c.index_version AND l.start_ms >= c.first_ms AND l.start_ms < c.last_ms "
        "AND l.end_ms <= c.last_ms OFFSET 0) l) c CROSS JOIN LATERAL (SELECT l.* FROM ekg_transcriptline l "
        "WHERE l.tenant_id = %(tenant)s AND l.id = c.id OFFSET 0) line WHERE true",
        nearby_tried=f"CROSS JOIN LATERAL (SELECT FROM inside e WHERE {EVENT_OF_LINE} AND {EVENT_NEAR_LINE} LIMIT 1) "
        "line_event",
    ),
    "topic": _View(
        item="topic",
        vector="embedding",
        model="text",
        table="ekg_topic",
        # The scope holds the whole topic, since its words cannot be cut.
        rows="ekg_topic topic JOIN scope USING (video_id, index_version) "
        "WHERE topic.start_ms >= scope.from_ms AND topic.end_ms <= least(scope.to_ms, scope.until_ms)",
        carried=("video_id", "index_version", "topic.first_event", "topic.end_event"),
        tried=f"CROSS JOIN LATERAL (SELECT FROM inside e WHERE {EVENT_OF_TOPIC} LIMIT 1) topic_event",
        events=f"JOIN inside e ON {EVENT_OF_TOPIC}",
        words="topic.title",
        times=("topic.start_ms", "topic.end_ms"),
    ),
}
"""Every view that finds events by similarity. A new view is a row here. The view words has a module of its own."""


def half(vector: Vector) -> str:
    """Return vector as halfvec text: five digits distinguish all half-precision numbers."""
    return f"[{','.join([f'{x:.5g}' for x in vector.astype(np.float16).tolist()])}]"


def view_statement(
    queries: Mapping[ViewName, ViewQuery], *, floor: float, nearby: Mapping[ViewName, Nearby] | None = None
) -> tuple[str, dict[str, Any]]:
    """Return the SQL and its parameters; "" if no view is searched.

    nearby: in a large scope, the items of each sketched view that are compared; None compares all items.

    The parameters leave out those of the scope, %(text_model)s and %(frame_model)s. queries: within lies in the scope.

    Rows: view, event id, item id, similarity, words. Exact: the rows are ordered by an expression that no index has,
    and each view is a CTE of its own, so an approximate index can never be chosen.
    """
    searched = {name: query for name, query in queries.items() if query.limit > 0}
    if not searched:
        return "", {}
    parameters: dict[str, Any] = {"floor": floor}
    for name, query in searched.items():
        if name == "words":
            parameters |= words_parameters(query)
        else:
            parameters |= {f"{name}_query": half(query.vector), f"{name}_limit": query.limit}
            if _in_context(_VIEWS[name], query):
                parameters[f"{name}_context"] = query.context
        if query.within is not None:
            video_id, span = query.within.video_id, query.within.span
            parameters |= {f"{name}_video": video_id, f"{name}_from": span.start_ms, f"{name}_to": span.end_ms}
        if nearby is not None and name in nearby:
            parameters |= {f"{name}_{column}": values for column, values in asdict(nearby[name]).items()}
    large = nearby is not None
    narrowed = [_narrowed(name) for name, query in searched.items() if query.within is not None]
    nearest = [cte for name, query in searched.items() for cte in _ctes(name, query, large)]
    inside, reach = (INSIDE_LARGE, REACH_LARGE) if large else (INSIDE, REACH)
    hits = " UNION ALL ".join(_found(name, query) for name, query in searched.items())
    return (
        f"WITH {', '.join([SCOPE, inside, reach, *narrowed, *nearest])} SELECT view, event_id, item, similarity, words "
        f"FROM ({hits}) hits ORDER BY view, similarity DESC, item, video_id, n",
        parameters,
    )


def _ctes(name: ViewName, query: ViewQuery, large: bool) -> list[str]:
    if name == "words":
        return words_ctes(query)
    return [f"{name}_nearest AS MATERIALIZED ({_nearest(name, query, large)})"]


def _in_context(view: _View, query: ViewQuery) -> bool:
    return view.ordered is not None and query.context != 0.0


def _narrowed(name: ViewName) -> str:
    """Return the CTE of the events in scope that overlap the part to which a view is narrowed."""
    return (
        f"{name}_inside AS MATERIALIZED (SELECT * FROM inside WHERE video_id = %({name}_video)s::uuid "
        f"AND start_ms < %({name}_to)s AND end_ms > %({name}_from)s)"
    )


def _nearest(name: ViewName, query: ViewQuery, large: bool) -> str:
    """Return the SELECT of a view's nearest items, with id and similarity."""
    view = _VIEWS[name]
    if large and view.nearby:
        view = replace(view, rows=view.nearby, tried=view.nearby_tried)
    # Vectors have length 1, so the inner product is the cosine, and it is the cheaper of the two.
    cosine = f"-({view.item}.{view.vector} <#> %({name}_query)s::halfvec)"
    admitted = (
        f"FROM {view.rows} "
        f"AND {view.item}.tenant_id = %(tenant)s AND {view.item}.embedding_model = %({view.model}_model)s"
    )
    narrow = query.within is not None
    if narrow and view.times is not None:
        admitted += f" AND {view.times[0]} < %({name}_to)s AND {view.times[1]} > %({name}_from)s"
    best = f"ORDER BY similarity DESC, {view.item}.id"
    limit = f"LIMIT %({name}_limit)s"
    if view.ordered is not None and _in_context(view, query):
        partition, position = view.ordered
        # The neighbours count wherever in scope they are, so the view is narrowed after them.
        part = f"WHERE {view.item}.id IN (SELECT id FROM {name}_inside) " if narrow else ""
        if large:
            part = f"{part} AND away < 2 " if part else "WHERE away < 2 "
        away = ", away" if large else ""
        # Materialised, so that each product is computed once and no vector passes through the sort.
        return (
            f"WITH own AS MATERIALIZED (SELECT {view.item}.id, {partition}, {view.item}.{position}{away}, "
            f"{cosine} AS cosine "
            f"{admitted}), around AS (SELECT id, cosine{away}, "
            f"CASE WHEN lag({position}) OVER near = {position} - 1 THEN lag(cosine) OVER near END AS before, "
            f"CASE WHEN lead({position}) OVER near = {position} + 1 THEN lead(cosine) OVER near END AS after "
            f"FROM own WINDOW near AS (PARTITION BY {partition} ORDER BY {position})) "
            f"SELECT {view.item}.id, (cosine + %({name}_context)s::float8 * coalesce(greatest(before, after), cosine)) "
            f"/ (1 + %({name}_context)s::float8) AS similarity FROM around {view.item} {part}{best} {limit}"
        )
    columns = ", ".join([f"{view.item}.id", *view.carried])
    ranked = f"SELECT {columns}, {cosine} AS similarity {admitted} {best}"
    if view.tried:
        ranked = f"SELECT {view.item}.id, similarity FROM ({ranked}) {view.item} {view.tried} {best}"
    reach = REACH_LARGE if large else REACH
    return f"{_instead(name, reach)}{ranked} {limit}" if narrow else f"{ranked} {limit}"


def _instead(name: ViewName, *more: str) -> str:
    """Return a WITH that puts the events of a narrowed view in the place of inside, followed by more CTEs."""
    return f"WITH {', '.join([f'inside AS (SELECT * FROM {name}_inside)', *more])} "


def _found(name: ViewName, query: ViewQuery) -> str:
    """Return the SELECT of one row per event of each item above the floor."""
    if name == "words":
        return words_found(EVENT_OF_LINE)
    view = _VIEWS[name]
    found = (
        f"SELECT '{name}' AS view, e.id AS event_id, near.id AS item, near.similarity, {view.words} AS words, "
        f"e.video_id, e.n FROM {name}_nearest near JOIN {view.table} {view.item} "
        f"ON {view.item}.tenant_id = %(tenant)s AND {view.item}.id = near.id {view.events} "
        "WHERE near.similarity > %(floor)s"
    )
    return found if query.within is None else f"({_instead(name)}{found})"


def read_hits(queries: Mapping[ViewName, ViewQuery], rows: Iterable[tuple[Any, ...]]) -> dict[ViewName, list[Hit]]:
    """Return the rows of view_statement() by view; a view without rows has an empty list."""
    hits: dict[ViewName, list[Hit]] = {name: [] for name in queries}
    asked = asked_words(queries["words"].text, queries["words"].exact) if "words" in queries else None
    for view, event_id, item, similarity, words in rows:
        told = words.strip() if view != "words" or asked is None else read_piece(words, asked)
        hits[view].append(Hit(event_id, float(similarity), view, item, told))
    return hits

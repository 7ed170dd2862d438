"""The one statement that searches all views of a question: the nearest items inside the scope, and their events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from backend.ekg.views import (
    EVENT_OF_LINE,
    INSIDE,
    INSIDE_LARGE,
    REACH,
    REACH_LARGE,
    SCOPE,
    VIEWS,
    Nearby,
    View,
)
from backend.ekg.word_columns import RankedEvents
from backend.ekg.word_search import read_piece, words_ctes, words_found, words_parameters
from gpu_workers.engine.ekg import Vector
from gpu_workers.engine.ports import CROWD, Hit, ViewName, ViewQuery
from gpu_workers.engine.retrieval.word_terms import asked_words


def half(vector: Vector) -> str:
    """Return vector as halfvec text: five digits distinguish all half-precision numbers."""
    return f"[{','.join([f'{x:.5g}' for x in vector.astype(np.float16).tolist()])}]"


def view_statement(
    queries: Mapping[ViewName, ViewQuery],
    *,
    floor: float,
    nearby: Mapping[ViewName, Nearby | RankedEvents] | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return the SQL and its parameters; "" if no view is searched.

    nearby: in a large scope, the items of each sketched view that are compared, and the events of the view of words;
    None compares all items.

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
            parameters |= words_parameters(query, large=nearby is not None)
        else:
            parameters |= {f"{name}_query": half(query.vector), f"{name}_limit": query.limit}
            if _in_context(VIEWS[name], query):
                parameters[f"{name}_context"] = query.context
            if query.crowding:
                parameters[f"{name}_crowding"] = query.crowding
        if query.within is not None:
            video_id, span = query.within.video_id, query.within.span
            parameters |= {f"{name}_video": video_id, f"{name}_from": span.start_ms, f"{name}_to": span.end_ms}
        if nearby is not None and name in nearby:
            parameters |= {
                f"{name}_{column.name}": getattr(nearby[name], column.name) for column in fields(nearby[name])
            }
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
        return words_ctes(query, large=large)
    nearest = _nearest(name, query, large)
    view = VIEWS[name]
    if not query.crowding or view.ordered is None:
        return [f"{name}_nearest AS MATERIALIZED ({nearest})"]
    # Materialised vectors, so that none is read twice. The inner products are of the items found alone.
    return [
        f"{name}_found AS MATERIALIZED ({nearest})",
        f"{name}_vectors AS MATERIALIZED (SELECT found.id, found.similarity, {view.item}.{view.vector} AS vector "
        f"FROM {name}_found found JOIN {view.table} {view.item} "
        f"ON {view.item}.tenant_id = %(tenant)s AND {view.item}.id = found.id "
        "WHERE found.similarity > %(floor)s)",
        f"{name}_crowds AS (SELECT one.id, one.similarity, (SELECT avg(cosine) FROM (SELECT "
        f"-(one.vector <#> other.vector) AS cosine FROM {name}_vectors other WHERE other.id <> one.id "
        f"ORDER BY cosine DESC LIMIT {CROWD}) nearest) AS crowd FROM {name}_vectors one)",
        f"{name}_nearest AS MATERIALIZED (SELECT id, similarity - %({name}_crowding)s::float8 "
        f"* coalesce(crowd - avg(crowd) OVER (), 0) AS similarity FROM {name}_crowds)",
    ]


def _in_context(view: View, query: ViewQuery) -> bool:
    return view.ordered is not None and query.context != 0.0


def _narrowed(name: ViewName) -> str:
    """Return the CTE of the events in scope that overlap the part to which a view is narrowed."""
    return (
        f"{name}_inside AS MATERIALIZED (SELECT * FROM inside WHERE video_id = %({name}_video)s::uuid "
        f"AND start_ms < %({name}_to)s AND end_ms > %({name}_from)s)"
    )


def _nearest(name: ViewName, query: ViewQuery, large: bool) -> str:
    """Return the SELECT of a view's nearest items, with id and similarity."""
    view = VIEWS[name]
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
            part = f"{part} AND own " if part else "WHERE own "
        own = ", own" if large else ""
        # Materialised, so that each product is computed once and no vector passes through the sort.
        return (
            f"WITH own AS MATERIALIZED (SELECT {view.item}.id, {partition}, {view.item}.{position}{own}, "
            f"{cosine} AS cosine "
            f"{admitted}), around AS (SELECT id, cosine{own}, "
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
    view = VIEWS[name]
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

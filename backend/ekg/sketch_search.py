"""Finds the items of a large scope that may be nearest to a query, by their sketches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from backend.ekg.arrays import number_array, packed_uuid_array, uuid_array
from backend.ekg.scope import Scope
from backend.ekg.sketches import BlockCache, BlockKey
from backend.ekg.views import SCOPE, Nearby
from backend.ekg.word_columns import RankedEvents, ReadRows, words_search
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import ViewName, ViewQuery
from gpu_workers.engine.retrieval.sketches import Context, Sketches, with_neighbours

SKETCHED: Sequence[ViewName] = ("event", "entity", "frame", "transcript")
"""Views with sketches."""
EXACT_MS = 2 * 3_600_000
"""Up to this readable time a search compares all vectors of the scope, above it those that the sketches choose. Two
hours cost what the sketches cost (docs/lab/benchmarks.md, tri_view_vs_numpy)."""

_BLOCKS = (
    f"WITH {SCOPE} SELECT b.view, b.embedding_model, b.id, b.items, b.video_id, b.index_version FROM scope "
    "JOIN ekg_sketchblock b USING (video_id, index_version) WHERE b.tenant_id = %(tenant)s "
    "AND b.view = ANY(%(views)s) ORDER BY b.video_id, b.index_version, b.n"
)
CACHE = BlockCache()
Spans = Mapping[tuple[UUID, int], Span]
"""What may be read, by video and index version."""


def is_large(scope: Scope) -> bool:
    """Whether the scope is searched by sketches."""
    return scope.readable_ms > EXACT_MS


def compared(name: ViewName, limit: int, sketched: int) -> int:
    """Return how many of the sketched items of a view are compared by their vectors for a query with this limit.

    The share keeps the right item among them where it stands little above chance (bench, search_1000h_recall_at_16). A
    sketch of pictures stands for many of them.
    """
    return (limit + 48 if name == "frame" else 8 * limit + 96) + sketched // 1_200


def candidates(
    scope: Scope, queries: Mapping[ViewName, ViewQuery], rows: ReadRows, *, text_model: str, frame_model: str
) -> Iterator[tuple[ViewName, Callable[[], Nearby | RankedEvents]]]:
    """Yield for each sketched view what computes its items that are nearest to its query, then the events of the view
    of words. What is yielded reads nothing, so that another thread may run it while the next view is read.

    rows: runs a statement with the scope's parameters, in the tenant's transaction.
    """
    searched = [name for name, query in queries.items() if query.limit > 0]
    views = {name for name in SKETCHED if name in searched}
    # The sketches of events say which events there are, and when.
    listed = views | {"event"} if "words" in searched else views
    blocks: defaultdict[ViewName, list[tuple[str, BlockKey]]] = defaultdict(list)
    if listed:
        for view, model, *key in rows(_BLOCKS, views=list(listed)):
            blocks[view].append((model, BlockKey(*key)))
    spans = _readable(scope)
    # The view with the fewest items first, so that the database soon has one to compare.
    for name in sorted(views, key=lambda view: sum(key.items for _, key in blocks[view])):
        model = frame_model if name == "frame" else text_model
        keys, sketches = CACHE.together([key for made_by, key in blocks[name] if made_by == model], Sketches)
        yield name, partial(_nearest, spans, name, queries[name], keys, sketches)
    if "words" in searched:
        yield "words", words_search(scope, queries["words"], [key for _, key in blocks["event"]], CACHE, rows)


def _nearest(
    spans: Spans, name: ViewName, query: ViewQuery, keys: Sequence[BlockKey], sketches: Sketches | None
) -> Nearby:
    if sketches is None:
        return Nearby()
    count = compared(name, query.limit, len(sketches.owner))
    context = Context(query.context, _starts(keys, sketches)) if name == "event" and query.context else None
    chosen = sketches.nearest(query.vector, count, _admitted(spans, query, keys, sketches), context)
    if name != "frame":
        around = chosen if context is None else with_neighbours(chosen, len(sketches.owner))
        neighbours = sketches.ids[np.setdiff1d(around, chosen)]
        return Nearby(ids=packed_uuid_array(sketches.ids[chosen]), neighbours=packed_uuid_array(neighbours))
    owners = [keys[owner] for owner in sketches.owner[chosen].tolist()]
    return Nearby(
        videos=uuid_array(key.video_id for key in owners),
        versions=number_array(key.index_version for key in owners),
        starts=number_array(sketches.start_ms[chosen].tolist()),
        ends=number_array(sketches.end_ms[chosen].tolist()),
    )


def _starts(keys: Sequence[BlockKey], sketches: Sketches) -> NDArray[np.int64]:
    """Return the positions of the first items of each video."""
    sizes = [len(block.items) for block in sketches.blocks]
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    begins = [True, *(one.video_id != next_.video_id for one, next_ in pairwise(keys))]
    return np.asarray(firsts[begins], dtype=np.int64)


def _admitted(spans: Spans, query: ViewQuery, keys: Sequence[BlockKey], sketches: Sketches) -> NDArray[np.bool_] | None:
    """Return which items touch the time that may be read; None if all do. The statement applies the scope itself."""
    if query.within is not None:
        spans = {video: query.within.span for video in spans if video[0] == query.within.video_id}
    parts = []
    whole = True
    for key, block in zip(keys, sketches.blocks, strict=True):
        span = spans.get((key.video_id, key.index_version))
        if span is None:
            parts.append(np.zeros(len(block.items), dtype=np.bool_))
            whole = False
        elif span.start_ms == 0 and span.end_ms > block.items["start_ms"][-1]:
            parts.append(np.ones(len(block.items), dtype=np.bool_))
        else:
            parts.append((block.items["start_ms"] < span.end_ms) & (block.items["end_ms"] > span.start_ms))
            whole = False
    return None if whole else np.concatenate(parts)


def _readable(scope: Scope) -> Spans:
    """Return what may be read of each video of the scope, without videos of which nothing may be read."""
    spans = {}
    for video in scope.videos:
        start_ms, end_ms = scope.starts(video), min(scope.ends(video), video.until_ms)
        if start_ms < end_ms:
            spans[video.video_id, video.index_version] = Span(start_ms, end_ms)
    return spans

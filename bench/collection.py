"""Search in a collection: 1,000 hours of one tenant among 10,000 hours of others, on PostgreSQL.

A hybrid search asks what `POST /v1/search` asks in mode hybrid, a question what it asks in its first step.

python -m bench.collection [--hours N] [--others N]: the figures of collections of other sizes.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
import psycopg

from bench.archive import FRAME_MODEL, FRAMES, HOURS_MS, TEXT_MODEL, Recording, near, vectors_of, word, write_rows
from bench.figures import Figure, Figures, at_least, at_most, print_lines, show_progress
from bench.stack import IndexedVideo, database
from gpu_workers.engine.ports import Hit, KnowledgeGraph, ViewName, ViewQuery
from gpu_workers.engine.retrieval.tri_view import HYBRID, NO_VECTOR, RetrievalSettings

HOURS, OTHERS, VIDEO_HOURS = 1_000, 10_000, 10
QUERIES, WARM_UP, RECALL_AT = 60, 5, 16
SEED = 17
QUESTION = replace(RetrievalSettings(), words=0)
"""A question that names nothing literally does not search words."""
FOREIGN_PARTS = ("event",)
"""Tables that hold the videos of others: every statement finds frames, lines, entities and chunks by the tenant and the
video, so that others only make the trees of these indexes higher. Their events are written."""


@dataclass(frozen=True, slots=True)
class Collection:
    """videos: of the tenant. searches, questions: each near one item per view. ids: of the frames of each video, in
    order."""

    tenant_id: UUID
    videos: Sequence[UUID]
    searches: Sequence[Mapping[ViewName, ViewQuery]]
    questions: Sequence[Mapping[ViewName, ViewQuery]]
    ids: Sequence[Sequence[UUID]]


def thousand_hours(hours: int = HOURS, others: int = OTHERS) -> Figures:
    with database() as first:
        from django.db import connections

        from backend.ekg.reader import PostgresGraph, Scope, ScopedVideo
        from backend.library.storage import ObjectStorage

        began = time.perf_counter()
        collection = fill(first, hours // VIDEO_HOURS, others // VIDEO_HOURS)
        filled_s = time.perf_counter() - began

        def graph(videos: Sequence[UUID]) -> PostgresGraph:
            scope = Scope(collection.tenant_id, tuple(ScopedVideo(video_id, 1, HOURS_MS) for video_id in videos))
            return PostgresGraph(scope, text_model=TEXT_MODEL, frame_model=FRAME_MODEL, storage=ObjectStorage())

        middle = len(collection.videos) // 2
        with graph(collection.videos) as whole, graph(collection.videos[middle : middle + 1]) as one:
            large, small = _times(whole, collection.searches), _times(one, collection.searches)
            first_s = large.pop(0)
            where = (
                f"{hours} hours of one tenant among {others} hours of others, {FRAMES * len(collection.videos)} "
                f"frames; median {np.median(large) * 1e3:.1f} ms; the first search, which reads the sketches: "
                f"{first_s * 1e3:.0f} ms; {VIDEO_HOURS} hours: p95 {_p95(small[1:]) * 1e3:.1f} ms"
            )
            yield at_most("search_1000h_p95_ms", _p95(large) * 1e3, 150, f"hybrid search; {where}")
            yield at_most(
                "search_1000h_growth", _p95(large) / _p95(small[1:]), 3, f"hybrid search, p95 over p95; {where}"
            )
            asked, asked_one = (_times(graph, collection.questions)[1:] for graph in (whole, one))
            yield at_most(
                "search_1000h_question_p95_ms",
                _p95(asked) * 1e3,
                150,
                f"the views of a question; {VIDEO_HOURS} hours: p95 {_p95(asked_one) * 1e3:.1f} ms",
            )
            yield at_least("search_1000h_recall_at_16", _recall(whole, collection), 0.95, _RECALL)
            for name, queries in (("", collection.searches), ("_of_question", collection.questions)):
                shares = _shares(whole, queries)
                each = ", ".join(f"{view} {share:.3f}" for view, share in shares.items())
                yield at_least(f"search_1000h_recall_of_views{name}", min(shares.values()), 0.95, f"{_SHARE}: {each}")
        yield _cost(filled_s, where)
        connections.close_all()


_RECALL = "frames, against the exact float32 cosine of numpy over all frames of the collection"
_SHARE = "the lowest share of the hits of the exact statement over the whole scope, with the limits of the service"


def fill(first: IndexedVideo, videos: int, others: int) -> Collection:
    from backend.library.indexing.begin import create_video
    from backend.tenancy.context import tenant_scope
    from backend.tenancy.creation import create_tenant

    def video(tenant_id: UUID, number: int) -> UUID:
        with tenant_scope(tenant_id):
            made = create_video(object_key=f"t/{tenant_id}/{number}", size_bytes=1, duration_ms=HOURS_MS)
        return UUID(str(made.id))

    foreign = create_tenant(name="Others", slug="others").id
    ids: list[Sequence[UUID]] = []
    searches: list[Mapping[ViewName, ViewQuery]] = []
    questions: list[Mapping[ViewName, ViewQuery]] = []
    asked_of = np.random.default_rng(SEED).integers(videos, size=QUERIES)
    own = []
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        server.execute("SET session_replication_role = replica")
        for number in range(videos):
            own.append(video(first.tenant_id, number))
            random = np.random.default_rng([SEED, number])
            recording, _ = write_rows(server, random, first.tenant_id, own[-1])
            ids.append(recording.frame_ids)
            for n in np.flatnonzero(asked_of == number).tolist():
                searches.append(_query(np.random.default_rng([SEED, n]), recording, HYBRID))
                questions.append(_query(np.random.default_rng([SEED, 1, n]), recording, QUESTION))
            show_progress(f"  video {number + 1} of {videos}")
        shared = vectors_of(np.random.default_rng(SEED))
        for number in range(others):
            random = np.random.default_rng([SEED, 1, number])
            write_rows(server, random, foreign, video(foreign, number), parts=FOREIGN_PARTS, vectors=shared)
            if number % 50 == 0:
                show_progress(f"  video {number + 1} of {others} of others")
        server.execute("VACUUM (ANALYZE)")
    return Collection(first.tenant_id, own, searches, questions, ids)


def _query(
    random: np.random.Generator, recording: Recording, limits: RetrievalSettings
) -> Mapping[ViewName, ViewQuery]:
    """Return a query to each view that the settings ask, near an item of the recording; words are four of one event."""
    rows = (recording.frames, recording.events, recording.entities, recording.lines)
    frames, events, entities, lines = (
        near(random, items[random.integers(len(items))], share=share)
        for items, share in zip(rows, (0.3, 0.6, 0.6, 0.6), strict=True)
    )
    words = " ".join(word(number) for number in recording.words[random.integers(len(recording.words))][:4].tolist())
    queries: dict[ViewName, ViewQuery] = {
        "event": ViewQuery(events, limits.events, limits.context, crowding=limits.crowding),
        "entity": ViewQuery(entities, limits.entities),
        "frame": ViewQuery(frames, limits.frames),
        "transcript": ViewQuery(lines, limits.transcript),
        "words": ViewQuery(NO_VECTOR, limits.words, text=words),
    }
    return {name: query for name, query in queries.items() if query.limit > 0}


def _times(graph: KnowledgeGraph, queries: Sequence[Mapping[ViewName, ViewQuery]]) -> list[float]:
    """Return the seconds of the first search, and of those after the warm-up."""
    taken = []
    for views in queries:
        began = time.perf_counter()
        graph.search_views(views)
        taken.append(time.perf_counter() - began)
    return taken[:1] + taken[WARM_UP:]


def _p95(seconds: Sequence[float]) -> float:
    return float(np.percentile(seconds, 95))


def _recall(graph: KnowledgeGraph, collection: Collection) -> float:
    wanted = np.stack([views["frame"].vector for views in collection.searches])
    best: list[list[tuple[float, UUID]]] = [[] for _ in collection.searches]
    for number, ids in enumerate(collection.ids):
        # Made again from the seed, because all of them would fill the memory.
        cosines = vectors_of(np.random.default_rng([SEED, number]))[0] @ wanted.T
        for of_query, column in zip(best, cosines.T, strict=True):
            of_query += [(float(column[i]), ids[i]) for i in np.argpartition(-column, RECALL_AT)[:RECALL_AT]]
    found = 0
    for views, all_best in zip(collection.searches, best, strict=True):
        hits = graph.search_views({"frame": ViewQuery(views["frame"].vector, RECALL_AT)}, floor=-2.0)["frame"]
        nearest = {frame_id for _, frame_id in sorted(all_best, reverse=True)[:RECALL_AT]}
        found += len(nearest & {hit.item for hit in hits})
    return found / (RECALL_AT * len(best))


def _shares(
    graph: KnowledgeGraph, queries: Sequence[Mapping[ViewName, ViewQuery]], compared: int = 10
) -> dict[ViewName, float]:
    """Return for each view the share of the exact statement's hits that the search finds."""
    from unittest.mock import patch

    def items(views: Mapping[ViewName, Sequence[Hit]]) -> dict[ViewName, set[UUID | None]]:
        return {name: {hit.item for hit in hits} for name, hits in views.items()}

    shares: dict[ViewName, list[float]] = {}
    for views in queries[:compared]:
        found = items(graph.search_views(views))
        with patch("backend.ekg.sketch_search.EXACT_MS", 2**62):
            exact = items(graph.search_views(views))
        for name, wanted in exact.items():
            shares.setdefault(name, []).append(len(wanted & found[name]) / max(1, len(wanted)))
    return {name: float(np.mean(each)) for name, each in shares.items()}


def _cost(filled_s: float, where: str) -> Figure:
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        row = server.execute(
            "SELECT sum(items), sum(length(packed)) / 1e6, (SELECT count(*) FROM ekg_event), "
            "pg_database_size(current_database()) / 1e9 FROM ekg_sketchblock"
        ).fetchone()
    assert row is not None
    items, sketched_mb, events, database_gb = map(float, row)
    reference = (
        f"{items:.0f} sketches of {events:.0f} events; no index is built; all rows of this archive were made and "
        f"written in {filled_s:.0f} s, {database_gb:.1f} GB; {where.split(',')[0]}"
    )
    return Figure("search_1000h_sketches_mb", float(f"{sketched_mb:.4g}"), "none", True, reference)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=int, default=HOURS)
    parser.add_argument("--others", type=int, default=OTHERS)
    given = parser.parse_args()
    raise SystemExit(0 if print_lines(thousand_hours(given.hours, given.others)) else 1)

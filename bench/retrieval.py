"""Retrieval from one video of 10 hours among a million frames of many tenants, on PostgreSQL with row-level security.

python -m bench.retrieval [--videos N] [--explain]: the figures of a library of another size, and what the server does.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from bench.archive import FRAME_MODEL, HOURS_MS, TENANTS, TEXT_MODEL, Recording, fill, near
from bench.figures import Figure, Figures, Timing, at_least, at_most, print_lines, show_progress, side_by_side
from bench.stack import database
from gpu_workers.engine.ekg import Vector
from gpu_workers.engine.ports import KnowledgeGraph, ViewName, ViewQuery
from gpu_workers.engine.retrieval.tri_view import GRAPH_SEEDS, RetrievalSettings

if TYPE_CHECKING:
    # Django is set up by database().
    from backend.ekg.reader import PostgresGraph

VIDEOS = 28
QUERIES = 200
WARM_UP = 10
HOP_EVENTS = 16
RECALL_AT = 16
REACHED = 5
_ROWS_BY_KEY = (
    "SELECT id, video_id, n, start_ms, end_ms, summary FROM ekg_event "
    "WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::uuid[])"
)


def million_frames(videos: int = VIDEOS, *, explain: bool = False) -> Figures:
    with database() as first:
        from django.db import connections

        from backend.ekg.reader import PostgresGraph, Scope, ScopedVideo
        from backend.library.storage import ObjectStorage

        recording = fill(first, videos=videos)
        scope = Scope(recording.tenant_id, (ScopedVideo(recording.video_id, 1, HOURS_MS),))
        with PostgresGraph(scope, text_model=TEXT_MODEL, frame_model=FRAME_MODEL, storage=ObjectStorage()) as graph:
            where = f"{videos} videos of 10 hours of {TENANTS} tenants, {videos * len(recording.frames)} frames"
            yield from _views(graph, recording, where)
            yield from _hops(graph, recording, where)
            if explain:
                _explain(graph, recording)
        connections.close_all()


def _views(graph: KnowledgeGraph, recording: Recording, where: str) -> Figures:
    random = np.random.default_rng(1)
    asked = [_question(random, recording) for _ in range(QUERIES)]
    together: list[float] = []
    apart: list[float] = []
    scan: list[float] = []
    for number, queries in enumerate(asked):
        times = side_by_side(1, partial(graph.search_views, queries), partial(_one_by_one, graph, queries))
        if number >= WARM_UP:
            for taken, timing in zip((together, apart), times, strict=True):
                taken += timing.seconds
    # By itself: numpy's threads go on spinning after a product, which took 30 ms from the server's next statement.
    for number, queries in enumerate(asked):
        (timing,) = side_by_side(1, partial(_exact, recording.frames, queries["frame"].vector))
        if number >= WARM_UP:
            scan += timing.seconds
    yield at_most(
        "tri_view_vs_numpy",
        statistics.median(together) / statistics.median(scan),
        8,
        f"median over median; {where}; {_told(together)}. One search per view: {_told(apart)}; numpy over the video's "
        f"frames alone, float32 in memory: {_told(scan)}",
    )
    found = 0
    for queries in asked:
        hits = graph.search_views({"frame": ViewQuery(queries["frame"].vector, RECALL_AT)}, floor=-2.0)["frame"]
        nearest = {recording.frame_ids[i] for i in _exact(recording.frames, queries["frame"].vector)}
        found += len(nearest & {hit.item for hit in hits})
    recall = found / (RECALL_AT * len(asked))
    yield at_least(
        "tri_view_recall_at_16", recall, 0.99, f"exact float32 cosine of numpy, {len(asked)} queries; {where}"
    )


def _question(random: np.random.Generator, recording: Recording) -> Mapping[ViewName, ViewQuery]:
    """One query per view, each near one of the view's items, with the limits of the service."""
    limits = RetrievalSettings()

    def like(rows: NDArray[np.float32], share: float) -> Vector:
        return near(random, rows[random.integers(len(rows))], share=share)

    return {
        "event": ViewQuery(like(recording.events, 0.6), limits.events, limits.context),
        "entity": ViewQuery(like(recording.entities, 0.6), limits.entities),
        "frame": ViewQuery(like(recording.frames, 0.3), limits.frames),
        "transcript": ViewQuery(like(recording.lines, 0.6), limits.transcript),
    }


def _exact(rows: NDArray[np.float32], query: Vector) -> NDArray[np.int64]:
    cosines = rows @ query
    return np.argpartition(-cosines, RECALL_AT)[:RECALL_AT]


def _hops(graph: PostgresGraph, recording: Recording, where: str) -> Figures:
    random = np.random.default_rng(2)
    hops: list[float] = []
    rows: list[float] = []
    expansions: list[float] = []
    reached = 0
    for number in range(QUERIES):
        events = [recording.event_ids[i] for i in random.choice(len(recording.event_ids), HOP_EVENTS, replace=False)]
        seeds = events[:GRAPH_SEEDS]
        hop, row = graph._run(partial(_hop_and_rows, graph, events))
        (expansion,) = side_by_side(1, partial(graph.events_sharing_entities, seeds, limit=REACHED))
        reached += len(graph.events_sharing_entities(seeds, limit=REACHED))
        if number >= WARM_UP:
            hops += hop.seconds
            rows += row.seconds
            expansions += expansion.seconds
    assert reached == REACHED * QUERIES, "an expansion that reaches nothing is quick"
    size = f"AGE graph of {where.split(',')[0]}"
    yield at_most(
        "graph_hop_vs_row",
        statistics.median(hops) / statistics.median(rows),
        3,
        f"median over median; NEXT of {HOP_EVENTS} events with the scope's filter ({_told(hops)}) over {HOP_EVENTS} "
        f"rows of events by key in the same transaction ({_told(rows)}), {size}",
    )
    reference = f"{REACHED} events that share entities with {GRAPH_SEEDS}, {size}; {_told(expansions)}"
    yield Figure("graph_expansion_p95_ms", float(f"{_p95_ms(expansions):.4g}"), "none", True, reference)


def _hop_and_rows(graph: PostgresGraph, events: Sequence[UUID]) -> tuple[Timing, ...]:
    from backend.ekg.graph_store import NEXT_EVENTS

    # Every other time in reverse, so that neither side always finds the other's pages warm.
    return side_by_side(2, partial(graph._step, NEXT_EVENTS, events), partial(graph._rows, _ROWS_BY_KEY, ids=events))


def _one_by_one(graph: KnowledgeGraph, queries: Mapping[ViewName, ViewQuery]) -> None:
    for name, query in queries.items():
        graph.search_views({name: query})


def _told(seconds: list[float]) -> str:
    return f"p95 {_p95_ms(seconds):.1f}, median {statistics.median(seconds) * 1_000:.1f} ms"


def _p95_ms(seconds: list[float]) -> float:
    return float(np.percentile(seconds, 95)) * 1_000


def _explain(graph: KnowledgeGraph, recording: Recording) -> None:
    from bench.plans import plans_of

    questions = _question(np.random.default_rng(3), recording)
    events = recording.event_ids[100:1300:75][:HOP_EVENTS]
    calls: Mapping[str, Callable[[], object]] = {
        "search_views": lambda: graph.search_views(questions),
        "next_events": lambda: graph.next_events(events),
        "previous_events": lambda: graph.previous_events(events),
        "events_sharing_entities": lambda: graph.events_sharing_entities(events[:GRAPH_SEEDS], limit=REACHED),
        "load_events": lambda: graph.load_events(events),
    }
    for name, call in calls.items():
        for plan in plans_of(recording.tenant_id, call):
            show_progress(f"--- {name}\n{plan}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--videos", type=int, default=VIDEOS, help="of 36,000 frames each")
    parser.add_argument("--explain", action="store_true", help="print the plan of every statement on stderr")
    given = parser.parse_args()
    raise SystemExit(0 if print_lines(million_frames(given.videos, explain=given.explain)) else 1)

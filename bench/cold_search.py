"""Search of one tenant's hours right after PostgreSQL has started, with none of its files in memory; and disk an hour.

python -m bench.cold_search [--hours N] [--others N]: the figures of an archive of another size.

The server is stopped and started, and its files leave the page cache (posix_fadvise), before each cold search. The same
search runs again at once, and once more: the last is the warm one.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np
import psycopg

from bench.archive import FRAME_MODEL, HOURS_MS, TEXT_MODEL, vectors_of, write_graph, write_rows
from bench.collection import VIDEO_HOURS, Collection, fill
from bench.figures import Figure, Figures, print_lines, show_progress
from bench.stack import restartable_database

HOURS, OTHERS = 1_000, 1_000
REPEATS = 5
GROUPS: Mapping[str, tuple[str, ...]] = {
    "frame vectors": ("ekg_framevector",),
    "frames": ("ekg_frame",),
    "chunks": ("ekg_chunk",),
    "events": ("ekg_event",),
    "entities and mentions": ("ekg_entity", "ekg_mention"),
    "spoken lines": ("ekg_transcriptline",),
    "postings": ("ekg_posting",),
    "sketches": ("ekg_sketchblock",),
}
"""Tables of an index by what they hold; a partition belongs to its table."""
_SIZES = """
SELECT coalesce(sum(pg_table_size(c.oid)), 0), coalesce(sum(pg_indexes_size(c.oid)), 0)
FROM pg_class c WHERE c.relkind = 'r' AND c.relname ~ %s
"""
_GRAPH = """
SELECT coalesce(sum(pg_table_size(c.oid)), 0), coalesce(sum(pg_indexes_size(c.oid)), 0)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = 'ekg'
"""


def cold_search(hours: int = HOURS, others: int = OTHERS) -> Figures:
    with restartable_database() as (first, server):
        from django.db import connections

        from backend.ekg.reader import PostgresGraph, Scope, ScopedVideo
        from backend.ekg.sketches import BlockCache
        from backend.library.storage import ObjectStorage

        before = _sizes()
        collection = fill(first, hours // VIDEO_HOURS, 0)
        own = _sizes()
        graph_bytes = _one_graph(collection)
        if others:
            _foreign(others // VIDEO_HOURS)
        scope = Scope(collection.tenant_id, tuple(ScopedVideo(one, 1, HOURS_MS) for one in collection.videos))

        def restart() -> None:
            connections.close_all()
            files = _data_folder()
            server.stop()
            _leave_memory(files)
            server.start()

        def searched(number: int) -> float:
            opened = PostgresGraph(scope, text_model=TEXT_MODEL, frame_model=FRAME_MODEL, storage=ObjectStorage())
            with opened as graph:
                began = time.perf_counter()
                graph.search_views(collection.searches[number])
                return time.perf_counter() - began

        where = f"hybrid search in {hours} hours of one tenant among {others} hours of others, {REPEATS} restarts"
        for name, words, fresh in (
            ("cold_search_vs_warm", "the worker keeps its sketches", nullcontext),
            (
                "cold_search_new_worker_vs_warm",
                "the worker reads its sketches again",
                lambda: patch("backend.ekg.sketch_search.CACHE", BlockCache()),
            ),
        ):
            searched(0)  # the worker's own imports, and the sketches
            cold, warm = _in_turns(searched, restart, fresh)
            ratios = [a / b for a, b in zip(cold, warm, strict=True)]
            told = (
                f"{where}; {words}; cold median {median(cold) * 1e3:.0f}, most {max(cold) * 1e3:.0f} ms; warm median "
                f"{median(warm) * 1e3:.0f} ms; ratios {min(ratios):.1f} to {max(ratios):.1f}"
            )
            yield Figure(name, float(f"{median(ratios):.3g}"), "none", True, told)
        yield _disk(before, own, graph_bytes, hours)
        connections.close_all()


def _in_turns(
    searched: Callable[[int], float], restart: Callable[[], None], fresh: Callable[[], object]
) -> tuple[list[float], list[float]]:
    """Return the seconds of each search right after a restart, and of the same search when all is in memory."""
    cold, warm = [], []
    for number in range(REPEATS):
        show_progress(f"  restart {number + 1} of {REPEATS}")
        restart()
        with fresh():  # type: ignore[attr-defined]
            cold.append(searched(number))
            searched(number)
            warm.append(searched(number))
    return cold, warm


def _data_folder() -> Path:
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"]) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    return Path(row[0])


def _leave_memory(folder: Path) -> None:
    """Write a stopped server's files to disk and let the page cache forget them."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(handle)


def _sizes() -> dict[str, tuple[float, float]]:
    """Return the bytes of the rows and of the indexes of each group."""
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        found = {}
        for name, tables in GROUPS.items():
            row = server.execute(_SIZES, [f"^({'|'.join(tables)})(_p?[0-9]+)?$"]).fetchone()
            assert row is not None
            found[name] = (float(row[0]), float(row[1]))
    return found


def _one_graph(collection: Collection) -> float:
    """Write the graph of one video more, and return its bytes with its indexes."""
    from backend.ekg.graph_store import GraphStore
    from backend.library.indexing.begin import create_video
    from backend.tenancy.context import tenant_scope

    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        server.execute("SET session_replication_role = replica")
        before = sum(map(float, server.execute(_GRAPH).fetchone() or ()))
        with tenant_scope(collection.tenant_id):
            made = create_video(object_key="t/graph", size_bytes=1, duration_ms=HOURS_MS)
        random = np.random.default_rng(3)
        recording, edges = write_rows(server, random, collection.tenant_id, made.id, parts=("event", "entity"))
        with tenant_scope(collection.tenant_id):
            write_graph(GraphStore(), made.id, recording, edges)
        return sum(map(float, server.execute(_GRAPH).fetchone() or ())) - before


def _foreign(videos: int) -> None:
    """Write the events of others, which make the trees of the indexes higher."""
    from backend.library.indexing.begin import create_video
    from backend.tenancy.context import tenant_scope
    from backend.tenancy.creation import create_tenant

    foreign = create_tenant(name="Others", slug="others-too").id
    shared = vectors_of(np.random.default_rng(5))
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        server.execute("SET session_replication_role = replica")
        for number in range(videos):
            with tenant_scope(foreign):
                made = create_video(object_key=f"t/{foreign}/{number}", size_bytes=1, duration_ms=HOURS_MS)
            random = np.random.default_rng([5, number])
            write_rows(server, random, foreign, made.id, parts=("event",), vectors=shared)
        server.execute("VACUUM (ANALYZE)")


def _disk(
    before: Mapping[str, tuple[float, float]], own: Mapping[str, tuple[float, float]], graph_bytes: float, hours: int
) -> Figure:
    each = {
        name: ((rows - before[name][0]) / hours / 1e6, (indexes - before[name][1]) / hours / 1e6)
        for name, (rows, indexes) in own.items()
    }
    graph = graph_bytes / VIDEO_HOURS / 1e6
    told = ", ".join(f"{name} {rows:.2f} + {indexes:.2f}" for name, (rows, indexes) in each.items())
    total = sum(map(sum, each.values())) + graph
    reference = f"MB an hour of video, rows + indexes: {told}, graph {graph:.2f} with indexes; {hours} hours"
    return Figure("disk_mb_an_hour", float(f"{total:.3g}"), "none", True, reference)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=int, default=HOURS)
    parser.add_argument("--others", type=int, default=OTHERS)
    given = parser.parse_args()
    raise SystemExit(0 if print_lines(cold_search(given.hours, given.others)) else 1)

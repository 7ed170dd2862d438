"""List, get and search under the policies of row-level security, and the same by a role that passes them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import numpy as np
import psycopg

from bench.archive import FRAME_MODEL, HOURS_MS, TENANTS, TEXT_MODEL, Recording, fill, near
from bench.figures import Figures, Timing, at_most, ratio, show_progress
from bench.stack import database
from gpu_workers.engine.ports import KnowledgeGraph, ViewName, ViewQuery
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings

VIDEOS, ROWS, PAGE = 12, 1_000, 20
"""Indexed videos of 10 hours; rows of videos of each tenant; rows of a page."""
TURNS, CALLS, QUERIES = 21, {"list": 20, "get": 40, "search": 10}, 10
BOUND = 1.15


def costs() -> Figures:
    with database() as first:
        from django.db import connections

        from backend.ekg.reader import PostgresGraph, Scope, ScopedVideo
        from backend.library.storage import ObjectStorage

        recording = fill(first, videos=VIDEOS)
        ids = _rows(recording.tenant_id)
        scope = Scope(recording.tenant_id, (ScopedVideo(recording.video_id, 1, HOURS_MS),))
        with (
            psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server,
            PostgresGraph(scope, text_model=TEXT_MODEL, frame_model=FRAME_MODEL, storage=ObjectStorage()) as graph,
        ):
            calls = _calls(recording, ids, graph)
            for name, (under, past) in _taken(server, recording.tenant_id, calls).items():
                where = (
                    f"the same statements by the same role with BYPASSRLS, {TURNS} turns of {CALLS[name]} calls; "
                    f"{1e3 * under.median / CALLS[name]:.2f} and {1e3 * past.median / CALLS[name]:.2f} ms a call; "
                    f"{TENANTS} tenants with {ROWS} rows of videos each, {VIDEOS} videos of 10 hours"
                )
                yield at_most(f"rls_{name}", ratio(under, past), BOUND, where)
        connections.close_all()


def _rows(tenant_id: UUID) -> list[UUID]:
    """Write rows of videos for all tenants; return the ids of those of one."""
    from backend.library.models import Video
    from backend.tenancy.context import tenant_scope
    from backend.tenancy.models import Tenant

    ids: list[UUID] = []
    for owner in Tenant.objects.using("dispatch").values_list("id", flat=True):
        with tenant_scope(owner):
            made = Video.objects.bulk_create([Video(tenant_id=owner, title=f"Video {n}") for n in range(ROWS)])
        if owner == tenant_id:
            ids = [video.id for video in made]
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        server.execute("VACUUM (ANALYZE) library_video")
    return ids


def _calls(recording: Recording, ids: list[UUID], graph: KnowledgeGraph) -> Mapping[str, Callable[[int], object]]:
    """Return a list, a get and a search by name. Each takes a number and returns what it found."""
    from backend.library import queries
    from backend.tenancy.context import tenant_scope

    random = np.random.default_rng(1)
    asked = [_views(random, recording) for _ in range(QUERIES)]

    def list_page(number: int) -> object:
        with tenant_scope(recording.tenant_id):
            older = queries.videos().filter(id__lt=ids[-1 - number])
            return [video.id for video in older.order_by("-id")[: PAGE + 1]]

    def get(number: int) -> object:
        with tenant_scope(recording.tenant_id):
            return queries.videos().get(id=ids[number * 7 % len(ids)]).title

    def search(number: int) -> object:
        found = graph.search_views(asked[number % len(asked)])
        return {view: [hit.item for hit in hits] for view, hits in found.items()}

    return {"list": list_page, "get": get, "search": search}


def _views(random: np.random.Generator, recording: Recording) -> Mapping[ViewName, ViewQuery]:
    limits = RetrievalSettings()

    def like(rows: Any, share: float) -> Any:
        return near(random, rows[random.integers(len(rows))], share=share)

    return {
        "event": ViewQuery(like(recording.events, 0.6), limits.events, limits.context),
        "entity": ViewQuery(like(recording.entities, 0.6), limits.entities),
        "frame": ViewQuery(like(recording.frames, 0.3), limits.frames),
        "transcript": ViewQuery(like(recording.lines, 0.6), limits.transcript),
    }


def _taken(
    server: psycopg.Connection[Any], tenant_id: UUID, calls: Mapping[str, Callable[[int], object]]
) -> dict[str, tuple[Timing, Timing]]:
    """Return the seconds of each turn with the policies and past them. Both sides must find the same."""
    seconds: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in calls}
    found: dict[tuple[str, int], object] = {}
    # The first turn reads the tables into memory, and is not counted.
    for turn in range(TURNS + 1):
        for side in (0, 1) if turn % 2 else (1, 0):
            with _side(server, tenant_id, passes=bool(side)):
                for name, call in calls.items():
                    began = time.perf_counter()
                    results = [call(number) for number in range(CALLS[name])]
                    taken = time.perf_counter() - began
                    for number, result in enumerate(results):
                        if found.setdefault((name, number), result) != result:
                            raise RuntimeError(f"{name} found something else past the policies")
                    if turn:
                        seconds[name][side].append(taken)
        show_progress(f"  turn {turn} of {TURNS}")
    return {name: (Timing(tuple(under)), Timing(tuple(past))) for name, (under, past) in seconds.items()}


@contextmanager
def _side(server: psycopg.Connection[Any], tenant_id: UUID, *, passes: bool) -> Iterator[None]:
    """Let the role of requests pass the policies, or not, and see that it is so. Statements are planned each time, so a
    connection follows at once."""
    from django.db import connection

    from backend.tenancy.context import tenant_scope

    server.execute("ALTER ROLE app_rw BYPASSRLS" if passes else "ALTER ROLE app_rw NOBYPASSRLS")
    with tenant_scope(tenant_id), connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT tenant_id) FROM library_video")
        seen = cursor.fetchone()[0]
    if (seen > 1) != passes:
        raise RuntimeError(f"the role sees {seen} tenants")
    yield

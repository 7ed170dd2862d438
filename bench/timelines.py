"""How large the timeline of ten hours is, and how long the API takes for it."""

from __future__ import annotations

import gzip
import statistics
import time
from uuid import UUID, uuid4

import httpx
import numpy as np
import psycopg

from backend.api.public_ids import decode
from bench.abused_service import abused_service
from bench.archive import EVENTS, HOURS_MS, write_rows
from bench.figures import Figures, at_most

REQUESTS, TOPICS, OBJECTS = 50, 60, 2_000
TARGET_KB, TARGET_MS = 60, 150
CATEGORIES = ("person", "car", "truck", "dog", "bicycle", "bag")


def timeline() -> Figures:
    """Yield the compressed size and the 95th percentile of the timeline, which is one request."""
    with abused_service() as service:
        with psycopg.connect(service.database, autocommit=True) as rows:
            _fill(rows, decode("vid", service.customers_video_id))
        url = f"{service.url}/v1/videos/{service.customers_video_id}/timeline"
        headers = {"Authorization": f"Bearer {service.customer_key}"}
        with httpx.Client(headers=headers, timeout=60, trust_env=False) as client:
            body = client.get(url).raise_for_status()
            seconds = []
            for _ in range(REQUESTS):
                began = time.perf_counter()
                client.get(url).raise_for_status()
                seconds.append(time.perf_counter() - began)
    lanes = {lane: len(body.json()[lane]["start_ms"]) for lane in ("events", "topics", "speech", "objects", "gaps")}
    shown = ", ".join(f"{count} {lane}" for lane, count in lanes.items())
    if lanes["events"] != EVENTS:
        raise RuntimeError(f"the timeline has only {shown}")
    coding = body.headers.get("Content-Encoding", "none")
    where = f"ten hours with {shown}; {len(body.content)} bytes as JSON; Content-Encoding of the API: {coding}"
    yield at_most("timeline_kb", len(gzip.compress(body.content)) / 1000, TARGET_KB, where)
    p95, median = statistics.quantiles(seconds, n=20)[-1] * 1000, statistics.median(seconds) * 1000
    yield at_most(
        "timeline_p95_ms", p95, TARGET_MS, f"{REQUESTS} requests, one after the other; median {median:.0f} ms"
    )


def _fill(rows: psycopg.Connection[tuple[object, ...]], video_id: UUID) -> None:
    """Make a video of the service one of ten hours with an index."""
    found = rows.execute("SELECT tenant_id FROM library_video WHERE id = %s", [video_id]).fetchone()
    if found is None:
        raise RuntimeError("the service has no such video")
    tenant_id, random = UUID(str(found[0])), np.random.default_rng(5)
    rows.execute("SET session_replication_role = replica")
    rows.execute(
        "UPDATE library_video SET duration_ms = %s, indexed_until_ms = %s WHERE id = %s", [HOURS_MS, HOURS_MS, video_id]
    )
    write_rows(rows, random, tenant_id, video_id, parts=("event", "chunk", "transcriptline"))
    # People speak in every other minute.
    rows.execute("DELETE FROM ekg_transcriptline WHERE video_id = %s AND start_ms / 60000 %% 2 = 1", [video_id])
    of = {"tenant": tenant_id, "video": video_id}
    length = HOURS_MS // TOPICS
    for n in range(TOPICS):
        rows.execute(
            "INSERT INTO ekg_topic (id, tenant_id, video_id, index_version, n, start_ms, end_ms, first_event, "
            "end_event, title, summary, people, places, frame_ms, embedding_model) VALUES (%(id)s, %(tenant)s, "
            "%(video)s, 1, %(n)s, %(start)s, %(end)s, 0, 1, %(title)s, '', '[]', '[]', '[]', '')",
            of | {"id": uuid4(), "n": n, "start": n * length, "end": (n + 1) * length,
                  "title": f"Topic {n}: people pass the entrance"},
        )  # fmt: skip
    for n, start in enumerate(sorted(random.integers(0, HOURS_MS - 60_000, OBJECTS).tolist())):
        end = start + int(random.integers(2_000, 60_000))
        rows.execute(
            "INSERT INTO ekg_trackedobject (id, tenant_id, video_id, index_version, n, category, colour, start_ms, "
            "end_ms, spans, segments, tracks, observations, entries, exits, confidence, weight, embedding_model, "
            "memory) VALUES (%(id)s, %(tenant)s, %(video)s, 1, %(n)s, %(category)s, '', %(start)s, %(end)s, "
            "%(spans)s, '[]', 1, 1, 1, 1, 1, 1, '', '{}')",
            of | {"id": uuid4(), "n": n, "category": CATEGORIES[n % len(CATEGORIES)], "start": start, "end": end,
                  "spans": f"[[{start}, {end}]]"},
        )  # fmt: skip
    rows.execute("VACUUM (ANALYZE)")

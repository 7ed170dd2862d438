"""What the slow peers of one tenant cost another: how long its probes, webhooks and deletions take meanwhile."""

from __future__ import annotations

import http.server
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from bench.abused_service import AbusedService, abused_service
from bench.abusers import dripping_urls
from bench.figures import Figures, at_most, show_progress
from infra.local.demo.client import Client, sha256_of

ROUNDS, VIDEOS, HANGING = 4, 10, 40
"""Rounds of each side in turn; videos of the customer in a round; deliveries that hang in a round."""
PATIENCE_S, SLOWER = 120.0, 1.2
_PROCESSES = ("webhooks", "worker-probe", "worker-delete")
_KINDS = {"probe": "probe_video", "webhook": "deliver_webhook", "deletion": "purge_video"}
# What ends is taken away with its video, so it is read while it is there.
_ENDED = """
SELECT id, kind, extract(epoch FROM completed_at - created_at)::float8 FROM jobs_job
WHERE tenant_id = (SELECT id FROM tenancy_tenant WHERE slug = 'customer') AND state = 'succeeded' AND kind = ANY(%s)
"""


def slow_peers() -> Figures:
    with (
        tempfile.TemporaryDirectory() as folder,
        abused_service(*_PROCESSES) as service,
        psycopg.connect(service.database, autocommit=True) as rows,
        _receiver() as url,
    ):
        clip = _clip(Path(folder))
        customer = Client(service.url, service.customer_key)
        customer.call("POST", "/webhook-endpoints", {"url": url})
        _round(customer, rows, clip, 0)  # the first videos open connections
        calm: dict[str, list[float]] = {name: [] for name in _KINDS}
        disturbed: dict[str, list[float]] = {name: [] for name in _KINDS}
        for number in range(1, ROUNDS + 1):
            _add(calm, _round(customer, rows, clip, 2 * number))
            with dripping_urls(service), _hanging_receiver(service):
                _add(disturbed, _round(customer, rows, clip, 2 * number + 1))
            show_progress(f"  round {number} of {ROUNDS}")
    for name in _KINDS:
        under, free = _p95(disturbed[name]), _p95(calm[name])
        where = (
            f"p95 of {len(calm[name])} without them in turns, {free:.3f} s; ten dripping URLs and {HANGING} "
            "deliveries to a receiver that never answers"
        )
        yield at_most(f"slow_peers_{name}_p95_ratio", under / free, SLOWER, where)


def _p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


def _add(sides: dict[str, list[float]], found: dict[str, list[float]]) -> None:
    for name, seconds in found.items():
        sides[name] += seconds


def _clip(folder: Path) -> Path:
    from tests.engine.indexing.media import write_steady

    path: Path = write_steady(folder / "clip.mp4", 2)
    return path


def _round(customer: Client, rows: psycopg.Connection[Any], clip: Path, number: int) -> dict[str, list[float]]:
    """Upload videos one after another, delete each once it is probed, and return the seconds of the jobs by name."""
    before = _ended(rows)
    found: dict[Any, tuple[str, float]] = {}

    def look() -> int:
        """Add what has ended, and return the number of deletions."""
        found.update({job: row for job, row in _ended(rows).items() if job not in before})
        return sum(kind == _KINDS["deletion"] for kind, _ in found.values())

    for turn in range(VIDEOS):
        video = customer.upload(clip, sha256=sha256_of(clip), external_id=f"{number}-{turn}", on_sent=lambda sent: None)
        until = time.monotonic() + PATIENCE_S
        while customer.call("GET", f"/videos/{video['id']}")["status"] in ("queued", "probing"):
            _pause(until)
        look()
        customer.call("DELETE", f"/videos/{video['id']}")
        while look() <= turn:
            _pause(until)
    return {name: [seconds for of, seconds in found.values() if of == kind] for name, kind in _KINDS.items()}


def _ended(rows: psycopg.Connection[Any]) -> dict[Any, tuple[str, float]]:
    found = rows.execute(_ENDED, [list(_KINDS.values())]).fetchall()
    return {job: (kind, seconds) for job, kind, seconds in found}


def _pause(until: float) -> None:
    if time.monotonic() > until:
        raise RuntimeError("the customer's work does not end")
    time.sleep(0.1)


@contextmanager
def _receiver() -> Iterator[str]:
    """Yield the URL of a receiver that accepts everything at once."""

    class Accepting(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Accepting)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _hanging_receiver(service: AbusedService) -> Iterator[None]:
    """Let an endpoint of the abuser accept connections and never answer, with events that wait for it."""
    from tests.webhooks.receiver import hanging

    with hanging() as (url, _):
        endpoint = service.call("POST", "/webhook-endpoints", {"url": url})
        for _number in range(HANGING):
            service.call("POST", f"/webhook-endpoints/{endpoint['id']}/test", {})
        yield

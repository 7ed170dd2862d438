"""Reports of a worker to the console: its processes, and what the model servers that it uses say about themselves."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

import redis

from backend.api.monitoring import fleet_reports
from workers.liveness import WorkerState
from workers.metrics.server_metrics import ServerAddress, configured_servers, parse_load, parse_tokens, read_metrics

logger = logging.getLogger("ava.worker")

REPORT_SECONDS = 10.0
"""Time between two reports of a worker, and between two readings of a model server."""
MODEL_CLASSES = "gpu."
"""Prefix of the classes of jobs whose workers call model servers."""


def report_worker(name: str, state: WorkerState, queues: Sequence[str]) -> None:
    """Report the processes of this worker by their state. A broker that is away is logged, not raised."""
    counts = Counter(child.state for child in state.children)
    try:
        fleet_reports.publish(
            fleet_reports.WORKERS, name, {"processes": dict(counts), "queues": list(queues), "draining": state.draining}
        )
    except redis.RedisError as error:
        logger.warning("the worker is not reported: %s", type(error).__name__)


def report_server(server: ServerAddress) -> None:
    """Report whether a model server answers, its requests, its tokens a second since the last report, and its error."""
    reading = read_metrics(server)
    at = time.time()
    load, tokens = parse_load(reading.text), parse_tokens(reading.text)
    try:
        before = fleet_reports.last_report(fleet_reports.SERVERS, server.name)
        report = {
            "answers": not reading.error,
            **load,
            "tokens": tokens,
            "tokens_per_second": _rate(before, tokens, at),
            "last_error": reading.error or before.get("last_error", ""),
            "last_error_at": at if reading.error else before.get("last_error_at"),
        }
        fleet_reports.publish(fleet_reports.SERVERS, server.name, report, now=at)
    except redis.RedisError as error:
        logger.warning("model server %s is not reported: %s", server.name, type(error).__name__)


def _rate(before: dict[str, object], tokens: float | None, at: float) -> float | None:
    """Return tokens a second between two readings; None for the first one, and after a restart of the server."""
    earlier, since = before.get("tokens"), before.get("at")
    if tokens is None or not isinstance(earlier, int | float) or not isinstance(since, int | float):
        return None
    return (tokens - earlier) / (at - since) if at > since and tokens >= earlier else None


def report_for_ever(name: str, queues: Sequence[str], state: Callable[[], WorkerState]) -> None:
    """Report a worker, and the model servers if it serves a class that calls them, in a thread of its own.

    name: of the worker, the same for as long as it runs. state: returns its present state.
    """
    servers = configured_servers() if any(queue.startswith(MODEL_CLASSES) for queue in queues) else []

    def report() -> None:
        while True:
            report_worker(name, state(), queues)
            for server in servers:
                report_server(server)
            time.sleep(REPORT_SECONDS)

    threading.Thread(target=report, name="fleet", daemon=True).start()

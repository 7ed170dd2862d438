"""What worker machines, relays and model servers last reported, for the console: it asks none of them itself.

Reports lie in Redis and are forgotten after FORGOTTEN_SECONDS, so a worker that is gone leaves the list by itself.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from backend.api.monitoring import broker

WORKERS, SERVERS, RELAYS = "ava:fleet:workers", "ava:fleet:servers", "ava:fleet:relays"
FORGOTTEN_SECONDS = 15 * 60
"""Age at which a report leaves the list."""
STALE_SECONDS = 60
"""Age from which a report is shown as overdue: workers and relays report about every 10 s."""


def publish(kind: str, name: str, report: Mapping[str, Any], *, now: float | None = None) -> None:
    """Store the report of one worker, server or relay in place of its earlier report. Raises redis.RedisError."""
    at = time.time() if now is None else now
    with broker.connect() as client:
        client.hset(kind, name, json.dumps({**report, "at": at}))
        client.expire(kind, FORGOTTEN_SECONDS)


def last_report(kind: str, name: str) -> dict[str, Any]:
    """Return the last report of a worker or server with the time `at`, {} if there is none. Raises redis.RedisError."""
    with broker.connect() as client:
        row: Any = client.hget(kind, name)
    return _read(row) or {}


def reports(kind: str, *, now: float | None = None) -> list[dict[str, Any]]:
    """Return the last reports with name, age_seconds and stale, by name. Raises redis.RedisError.

    Reports older than FORGOTTEN_SECONDS are removed, and so is what is no report.
    """
    moment = time.time() if now is None else now
    found, forgotten = [], []
    with broker.connect() as client:
        rows: Any = client.hgetall(kind)
        for key, row in sorted(rows.items()):
            report = _read(row)
            age = max(0.0, moment - report.pop("at")) if report is not None else None
            if report is None or age is None or age > FORGOTTEN_SECONDS:
                forgotten.append(key)
                continue
            found.append({"name": key.decode(), **report, "age_seconds": round(age), "stale": age > STALE_SECONDS})
        if forgotten:
            client.hdel(kind, *forgotten)
    return found


def _read(row: bytes | None) -> dict[str, Any] | None:
    """Return a stored report with its time `at`; None for no report, and for what is none."""
    try:
        report = json.loads(row or b"")
    except ValueError:
        return None
    return report if isinstance(report, dict) and isinstance(report.get("at"), int | float) else None

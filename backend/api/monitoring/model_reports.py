"""What the workers last found out about the models, for /readyz: the API process itself asks no model server."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from backend.api.monitoring import broker

_KEY = "ava:models"


def publish(reports: Mapping[str, Mapping[str, Any]], *, now: float | None = None) -> None:
    """Store a report for each role, in place of all earlier ones. Raises redis.RedisError."""
    at = time.time() if now is None else now
    rows = {role: json.dumps({**report, "at": at}) for role, report in reports.items()}
    with broker.connect() as client, client.pipeline() as pipeline:
        # A role that is no longer configured has no report.
        pipeline.delete(_KEY)
        pipeline.hset(_KEY, mapping=rows)
        pipeline.execute()


def last_known(*, now: float | None = None) -> dict[str, dict[str, Any]]:
    """Return the last report of each role with its age in seconds, {} if there is none. Raises redis.RedisError."""
    moment = time.time() if now is None else now
    with broker.connect() as client:
        rows: Any = client.hgetall(_KEY)
    reports = {}
    for role, row in sorted(rows.items()):
        report = json.loads(row)
        report["age_seconds"] = max(0, round(moment - report.pop("at")))
        reports[role.decode()] = report
    return reports

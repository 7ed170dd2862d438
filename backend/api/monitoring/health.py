"""/healthz: the process answers. /readyz: the process can take requests."""

from __future__ import annotations

import logging
import time
from typing import Any

import redis
from django.db import DatabaseError, close_old_connections, connections, transaction
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from backend.api.monitoring import broker, model_reports
from backend.api.monitoring.readiness import Check, NotReady, registered
from backend.tenancy import isolation

logger = logging.getLogger(__name__)
# Policies change with a deployment, not between two probes; probes come every few seconds.
_ISOLATION_FRESH_SECONDS = 30.0
_isolation_held_at: float | None = None


@transaction.non_atomic_requests
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Return 200, whatever the state of dependencies, so that their outage restarts no process."""
    return JsonResponse({"status": "ok"})


@transaction.non_atomic_requests
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Return 200 if every check is `ok`, else 503."""
    body, ready = report()
    return JsonResponse(body, status=200 if ready else 503, headers={"Cache-Control": "no-store"})


def report() -> tuple[dict[str, Any], bool]:
    """Return the body of /readyz, and whether every check is `ok`. The reasons are only in the log: anybody may ask.

    models: what the workers last found out about the models. It decides nothing: without a model server the API still
    takes uploads and questions, which wait.
    """
    # A thread that only looks here has no request, after which Django would give up a lost connection.
    close_old_connections()
    checks: dict[str, Check] = {"postgres": _postgres, "isolation": _isolation, "redis": _redis, **registered()}
    results = {}
    for name, check in checks.items():
        try:
            check()
            results[name] = "ok"
        except (DatabaseError, redis.RedisError, NotReady) as error:
            logger.warning("not ready: %s: %s", name, error)
            results[name] = "failed"
    ready = set(results.values()) == {"ok"}
    models = _models() if results["redis"] == "ok" else {}
    return {"status": "ready" if ready else "unready", "checks": results, "models": models}, ready


def _postgres() -> None:
    for alias, role in (("default", "app_rw"), ("dispatch", "app_dispatch")):
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT current_user")
            (name,) = cursor.fetchone()
        if name != role:
            raise NotReady(f"the alias {alias} logs in as {name}")


def _isolation() -> None:
    global _isolation_held_at
    now = time.monotonic()
    if _isolation_held_at is not None and now - _isolation_held_at < _ISOLATION_FRESH_SECONDS:
        return
    _isolation_held_at = None
    faults = isolation.faults()
    if faults:
        raise NotReady("; ".join(faults))
    _isolation_held_at = now


def _models() -> dict[str, dict[str, Any]]:
    try:
        return model_reports.last_known()
    except redis.RedisError:
        return {}


def _redis() -> None:
    with broker.connect() as client:
        client.ping()

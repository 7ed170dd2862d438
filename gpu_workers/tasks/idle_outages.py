"""Tries the dependencies that are away and that no job has tried for a while, so that an outage ends on an idle system.

A server is asked what it serves, as at a worker's start; the bucket is asked for its head. A server that answers this
and fails the next job opens its breaker again.
"""

from __future__ import annotations

from collections.abc import Set

from backend.jobs import breakers
from backend.library.storage import StorageError
from gpu_workers.engine.models.model_table import ROLES
from gpu_workers.engine.models.settings import ModelSettings
from gpu_workers.engine.models.status import model_status
from workers.objects.signed_storage import storage_of

MISCONFIGURED = "model_misconfigured"


def try_idle_dependencies() -> None:
    """Close the breakers of idle dependencies that answer, and keep the others open."""
    idle = breakers.take_idle()
    if not idle:
        return
    faults = _faults(idle)
    settings = ModelSettings.from_env()
    keyed = {settings.role(role).dependency for role in ROLES if settings.role(role).api_key}
    for dependency, (code, message) in faults.items():
        # A worker without models may lack the key of a server that is well: the next job tries that one.
        if code != MISCONFIGURED or dependency in keyed:
            breakers.opened(dependency, code=code, message=message)
    # One that nothing here can ask is left to the next job that needs it.
    breakers.closed(idle - faults.keys())


def _faults(dependencies: Set[str]) -> dict[str, tuple[str, str]]:
    """Return code and reason of each of the dependencies that cannot be used now."""
    faults = {}
    if dependencies - {breakers.STORAGE}:
        settings = ModelSettings.from_env()
        for status in model_status(settings):
            if status.error and status.role in ROLES:
                code, _, reason = status.error.partition(": ")
                faults[settings.role(status.role).dependency] = (code, reason)
    if breakers.STORAGE in dependencies:
        try:
            storage_of(None).ping()
        except StorageError as error:
            faults[breakers.STORAGE] = ("storage_unavailable", str(error))
    return {dependency: fault for dependency, fault in faults.items() if dependency in dependencies}

"""Loads the models of a worker's queues before it takes its first task, and stops a worker that cannot load them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

from django.db import DatabaseError, close_old_connections, connections

from backend.billing.hosted_rates import require_hosted_rates
from backend.billing.services.machines.device_time import served_models, unrated_models
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.models.settings import ModelSettings
from workers.liveness import FAILED, READY, WAITING, Beat

logger = logging.getLogger("ava.workers")

RETRY_SECONDS = 5.0
"""Pause before a model server that does not answer, or does not serve what is asked for, is asked again."""

LOADERS: dict[str, tuple[str, str]] = {
    "gpu.index": ("gpu_workers.tasks.models", "index_models"),
    "gpu.query": ("gpu_workers.tasks.models", "answer_models"),
}
"""Module and function that load the models of a queue. By name, because the tasks stand above this package."""
CHECKS: dict[str, tuple[str, str]] = {
    "gpu.index": ("gpu_workers.tasks.models", "check_models"),
    "gpu.query": ("gpu_workers.tasks.models", "check_models"),
}
"""Module and function that ask the model servers of a queue, log their faults and return them."""
CHECK_SECONDS = 60.0
"""Pause before a model server with a fault is asked again."""
IDLE_TRY: tuple[str, str] = ("gpu_workers.tasks.idle_outages", "try_idle_dependencies")
"""Module and function that try what is away and what no job has tried."""
TRIES_IDLE = frozenset({"gpu.index", "gpu.query", "system.sweep"})
"""Queues whose workers do. Sweeps run on every installation, also while no worker with models does."""


def prepare(
    queues: Collection[str],
    beat: Beat,
    *,
    pause: Callable[[float], None] = time.sleep,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Load the models of the queues and record in the beat how far that is. wait: sleeps while they cannot be loaded;
    pause: sleeps in the threads that go on afterwards.

    A model server that does not answer, or that is configured wrongly, stops nothing: the worker waits for it, and says
    so in its log and its health check. It also waits while a hosted model has no token rates in the cost book. Raises
    SystemExit if models cannot be loaded at all, after the reason is recorded. SystemExit passes through Celery's
    signals, which keep every other error of a receiver to themselves.
    """
    while True:
        try:
            _load(queues)
            beat.set(READY)
            break
        except ModelError as error:
            if not error.retryable:
                raise _stopped(beat, error) from error
            logger.error("models are not ready: %s: %s", error.code, error)
            beat.set(WAITING, f"{error.code}: {error}")
            # Each faulty server is logged with its role and model, and /readyz shows it.
            for check in _checks(queues):
                _call(check)
            # A broken connection is not opened again by itself, and the cost book would be away for ever.
            close_old_connections()
        except Exception as error:
            raise _stopped(beat, error) from error
        wait(RETRY_SECONDS)
    if _asks_models(queues):
        _name_unrated()
    for check in _checks(queues):
        threading.Thread(target=_ask_servers, args=(check, beat, pause), name="model-servers", daemon=True).start()
    if TRIES_IDLE & set(queues):
        threading.Thread(target=_try_idle_for_ever, args=(pause,), name="idle-outages", daemon=True).start()


def _try_idle_for_ever(pause: Callable[[float], None]) -> None:
    while True:
        pause(CHECK_SECONDS)
        try:
            _call(IDLE_TRY)
        except Exception:
            # The database may be away, too: it is tried again.
            logger.exception("dependencies that are away could not be tried")
        finally:
            connections.close_all()


def _ask_servers(check: tuple[str, str], beat: Beat, pause: Callable[[float], None]) -> None:
    """Ask the model servers until none has a fault. The state of this process names the faults meanwhile.

    The worker keeps taking jobs: not every job needs every server, and a job that fails is tried again.
    """
    while faulty := _call(check):
        beat.set(READY, "; ".join(f"{status.role}: {status.error}" for status in faulty))
        pause(CHECK_SECONDS)
    beat.set(READY)


def _asks_models(queues: Collection[str]) -> bool:
    return bool(set(queues) & set(LOADERS))


def _name_unrated() -> None:
    """Log a warning for each served model whose costs depend on the load, because its rate was never measured.

    The daily sweep names the same models to the operator (workers.billing.reconcile_costs).
    """
    try:
        unrated = unrated_models((), served=served_models(ModelSettings.from_env()))
    except DatabaseError:
        logger.warning("the rates of the served models could not be read", exc_info=True)
        close_old_connections()
        return
    for model in unrated:
        logger.warning(
            "no rate is measured for %s, so its costs depend on the load: run `manage.py measure_model_rate ROLE "
            "--append` while its server is idle",
            model,
        )


def _load(queues: Collection[str]) -> None:
    if _asks_models(queues):
        require_hosted_rates()
    for queue in sorted(set(queues) & set(LOADERS)):
        _call(LOADERS[queue])


def _checks(queues: Collection[str]) -> set[tuple[str, str]]:
    return {CHECKS[queue] for queue in set(queues) & set(CHECKS)}


def _call(named: tuple[str, str]) -> Any:
    module, name = named
    return getattr(import_module(module), name)()


def _stopped(beat: Beat, error: Exception) -> SystemExit:
    logger.critical("models cannot be loaded", exc_info=error)
    beat.set(FAILED, f"{type(error).__name__}: {error}")
    return SystemExit(1)

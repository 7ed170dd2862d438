"""Loads the models of a worker's queues before it takes its first task, and stops a worker that cannot load them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from importlib import import_module

from gpu_workers.engine.models.roles import ModelError
from workers.liveness import FAILED, READY, WAITING, Beat

logger = logging.getLogger("ava.workers")

RETRY_SECONDS = 5.0
"""Pause before a model server that does not answer, or does not serve what is asked for, is asked again."""

LOADERS: dict[str, tuple[str, str]] = {
    "gpu.index": ("gpu_workers.tasks.models", "index_models"),
    "gpu.query": ("gpu_workers.tasks.models", "answer_models"),
}
"""Module and function that load the models of a queue. By name, because the tasks stand above this package."""


def prepare(queues: Collection[str], beat: Beat, *, pause: Callable[[float], None] = time.sleep) -> None:
    """Load the models of the queues and record in the beat how far that is.

    A model server that does not answer, or that is configured wrongly, stops nothing: the worker waits for it, and says
    so in its log and its health check. Raises SystemExit if models cannot be loaded at all, after the reason is
    recorded. SystemExit passes through Celery's signals, which keep every other error of a receiver to themselves.
    """
    while True:
        try:
            _load(queues)
            beat.set(READY)
            return
        except ModelError as error:
            if not error.retryable:
                raise _stopped(beat, error) from error
            logger.error("models are not ready: %s: %s", error.code, error)
            beat.set(WAITING, f"{error.code}: {error}")
        except Exception as error:
            raise _stopped(beat, error) from error
        pause(RETRY_SECONDS)


def _load(queues: Collection[str]) -> None:
    for queue in sorted(set(queues) & set(LOADERS)):
        module, name = LOADERS[queue]
        getattr(import_module(module), name)()


def _stopped(beat: Beat, error: Exception) -> SystemExit:
    logger.critical("models cannot be loaded", exc_info=error)
    beat.set(FAILED, f"{type(error).__name__}: {error}")
    return SystemExit(1)

"""The models of this process, loaded once and kept, because workers live long."""

from __future__ import annotations

import logging
from functools import cache

import redis

from backend.api.monitoring import model_reports
from gpu_workers.engine.models.bindings import load_answer_models, load_index_models
from gpu_workers.engine.models.roles import AnswerModels, IndexModels
from gpu_workers.engine.models.settings import ModelSettings
from gpu_workers.engine.models.status import RoleStatus, log_faults, model_status

logger = logging.getLogger("ava.models")


@cache
def index_models() -> IndexModels:
    return load_index_models(ModelSettings.from_env())


@cache
def answer_models() -> AnswerModels:
    return load_answer_models(ModelSettings.from_env())


def check_models() -> list[RoleStatus]:
    """Ask every configured model server, log an error for each that cannot be used, and publish all for /readyz.

    Returns the roles that cannot be used. Raises nothing for a server that does not answer.
    """
    statuses = model_status(ModelSettings.from_env())
    faulty = log_faults(statuses)
    try:
        model_reports.publish({status.role: _public(status) for status in statuses})
    except redis.RedisError as error:
        logger.warning("the state of the models is not published: %s", error)
    return faulty


def _public(status: RoleStatus) -> dict[str, object]:
    """Return what anybody may see: no host and no reason."""
    return {
        "runs": status.runs,
        "model": status.model,
        "window": status.window,
        "abilities": [name for name, holds in status.abilities.items() if holds],
        "usable": not status.error,
    }

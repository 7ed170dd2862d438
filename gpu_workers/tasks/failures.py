"""The one way in which a model's failure becomes a failure of the job, or an outage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from backend.jobs import breakers
from backend.jobs.models import JobKind
from backend.jobs.services import JobFailed, Unavailable
from gpu_workers.engine.models.roles import ModelError
from workers.runner import Work

DEPENDENCY_OF = {
    JobKind.ANSWER_QUESTION: breakers.REASONER,
    JobKind.GRADE_COMPARISON: breakers.REASONER,
    JobKind.SEARCH_EVENTS: breakers.TEXT_EMBEDDER,
}
"""Dependency of a job whose error names none; the describer where a kind is missing."""

_ADDRESS = re.compile(r"https?://[^\s'\"]+")


@contextmanager
def failing_job(work: Work, *, message: str = "") -> Iterator[None]:
    """Turn a ModelError into Unavailable or JobFailed with the same code.

    message: replaces the model's own message of a failure in jobs whose failures customers read. An error that may pass
    is an outage of the model's server, which must become neither a gap nor a failure of the work; its message is for
    operators alone.
    """
    try:
        yield
    except ModelError as error:
        if error.retryable:
            raise unavailable(work, error) from error
        raise JobFailed(error.code, message or str(error), retryable=False) from error


def unavailable(work: Work, error: ModelError) -> Unavailable:
    """Return the outage that a model's error shows, in the words of the error without the addresses in them."""
    dependency = error.dependency or DEPENDENCY_OF.get(work.lease.kind, breakers.DESCRIBER)
    wait = None if error.retry_after_s is None else timedelta(seconds=error.retry_after_s)
    return Unavailable(dependency, error.code, _ADDRESS.sub("(address)", str(error)), retry_after=wait)

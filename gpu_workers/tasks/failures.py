"""The one way in which a model's failure becomes a failure of the job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from backend.billing.services.ledger import record_wasted_calls
from backend.jobs import breakers
from backend.jobs.failures import JobFailed, Unavailable
from backend.jobs.models import JobKind
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.models.roles import Meter, ModelError
from workers.runner import Work

DEPENDENCY_OF = {JobKind.ANSWER_QUESTION: breakers.REASONER, JobKind.GRADE_COMPARISON: breakers.REASONER,
                 JobKind.SEARCH_EVENTS: breakers.TEXT_EMBEDDER}  # fmt: skip
"""Dependency of a job whose error names none; the describer where a kind is missing."""


@contextmanager
def failing_job(work: Work, meter: Meter, *, video_id: UUID | None = None, message: str = "") -> Iterator[None]:
    """Turn a ModelError into Unavailable or JobFailed, and record the calls made so far as wasted.

    meter: holds the calls. message: replaces the model's own message in jobs whose message customers read. An error
    that may pass is an outage of the model's server, which must become neither a gap nor a failure of the work.
    """
    try:
        yield
    except ModelError as error:
        with tenant_scope(work.lease.tenant_id):
            record_wasted_calls(calls=meter.calls, reason=error.code, video_id=video_id)
        if error.retryable:
            dependency = DEPENDENCY_OF.get(work.lease.kind, breakers.DESCRIBER)
            raise Unavailable(dependency, error.code, message or str(error)) from error
        raise JobFailed(error.code, message or str(error), retryable=False) from error

"""The one way in which a model's failure becomes a failure of the job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from backend.billing.services.ledger import record_wasted_calls
from backend.jobs.services import JobFailed
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.models.roles import Meter, ModelError
from workers.runner import Work

MISCONFIGURED = "model_misconfigured"
"""Code of a model server that refuses our key, or does not serve the model that we ask for."""


@contextmanager
def failing_job(work: Work, meter: Meter, *, video_id: UUID | None = None, message: str = "") -> Iterator[None]:
    """Turn a ModelError into JobFailed with the same code, and record the calls made so far as wasted.

    meter: holds the calls. message: replaces the model's own message in jobs whose message customers read. A fault of
    our configuration is not counted as an attempt of an index job (video_id is given): it must not become a gap.
    """
    try:
        yield
    except ModelError as error:
        with tenant_scope(work.lease.tenant_id):
            record_wasted_calls(calls=meter.calls, reason=error.code, video_id=video_id)
        ours = error.code == MISCONFIGURED and video_id is not None
        raise JobFailed(
            error.code, message or str(error), retryable=error.retryable or ours, counted=not ours
        ) from error

"""Log fields, span and duration of one attempt of a job."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from opentelemetry.trace import Status, StatusCode

from backend.api.public_ids import encode
from backend.jobs.models import QUEUE_OF, JobKind
from backend.jobs.services import Lease
from backend.observability import log_context, metrics, tracing

logger = logging.getLogger("ava.jobs")

LOST = "lost"
"""Outcome of an attempt that ends without one: its lease is gone, or its process ends."""
RELEASED = "released"
_GOOD = frozenset({"succeeded", "canceled", RELEASED})
"""Outcomes in which nothing went wrong."""


@dataclass(slots=True)
class _Ending:
    outcome: str = LOST


for _kind in JobKind:
    # A counter that begins at 0 shows its first increase.
    metrics.DEAD.labels(_kind.value)

_ending: ContextVar[_Ending | None] = ContextVar("job_ending", default=None)


def ended(outcome: str) -> None:
    """Set the outcome of the job that runs: succeeded, queued (tried again), failed, dead, canceled, outage, released
    or lost. The last one set counts, because a commit may fail after it."""
    ending = _ending.get()
    # A job that was handed back is found gone by the work that goes on.
    if ending is not None and not (ending.outcome == RELEASED and outcome == LOST):
        ending.outcome = str(outcome)


@contextmanager
def observed_job(lease: Lease) -> Iterator[None]:
    """Let log lines and spans of the block name the job, and measure the attempt, whose outcome ended() sets."""
    question = encode("qst", lease.subject_id) if lease.kind == JobKind.ANSWER_QUESTION else ""
    video = encode("vid", lease.video_id) if lease.video_id else ""
    tenant, job = encode("tnt", lease.tenant_id), str(lease.job_id)
    attributes: dict[str, str | int] = {
        "messaging.destination.name": QUEUE_OF[lease.kind], "ava.tenant": tenant, "ava.job": job,
        "ava.attempt": lease.attempt, "ava.video": video, "ava.question": question,
    }  # fmt: skip
    ending, began = _Ending(), time.monotonic()
    token = _ending.set(ending)
    fields = {"tenant": tenant, "video": video, "question": question, "job": job, "kind": lease.kind.value}
    with (
        log_context.bound(**fields, attempt=str(lease.attempt)),
        tracing.job_span(lease.kind.value, parent=lease.traceparent, attributes=attributes) as span,
    ):
        try:
            yield
        finally:
            logger.info("job %s", ending.outcome)
            _ending.reset(token)
            if ending.outcome == "dead":
                metrics.DEAD.labels(lease.kind.value).inc()
            metrics.JOBS.labels(lease.kind.value, ending.outcome).observe(time.monotonic() - began)
            span.set_attribute("ava.outcome", ending.outcome)
            if ending.outcome not in _GOOD:
                span.set_status(Status(StatusCode.ERROR, ending.outcome))

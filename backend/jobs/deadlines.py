"""How long the jobs of each kind may take, from the time when they are enqueued."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import ExpressionWrapper

from backend.jobs.clock import after
from backend.jobs.models import JobKind

INDEX = timedelta(days=7)

DEADLINE_OF: dict[JobKind, timedelta] = {
    JobKind.PROBE_VIDEO: INDEX,
    JobKind.FETCH_SEGMENT: INDEX,
    JobKind.INGEST_SEGMENT: INDEX,
    JobKind.OBSERVE_SEGMENT: INDEX,
    JobKind.ASSEMBLE_VIDEO: INDEX,
    JobKind.SUMMARISE_VIDEO: INDEX,
    JobKind.MAKE_CLIP: timedelta(days=1),
    JobKind.ANSWER_QUESTION: timedelta(hours=1),
    JobKind.SEARCH_EVENTS: timedelta(minutes=5),
    JobKind.GRADE_COMPARISON: INDEX,
}
"""Time after which a job ends without a result. A kind that is missing here has no deadline: its work must be done."""

MANY_QUESTIONS = timedelta(days=1)
"""Deadline of questions that are asked together, because they wait for one another."""


def deadline_of(kind: JobKind, wait: timedelta | None = None) -> ExpressionWrapper[Any] | None:
    """Return when a job that is enqueued now ends without a result; None for never. wait: instead of its kind's."""
    wait = wait or DEADLINE_OF.get(kind)
    return None if wait is None else after(wait)

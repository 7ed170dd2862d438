"""Work that follows is begun in the same process only during the first half of a job's time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from types import ModuleType
from uuid import UUID, uuid4

import pytest
from django.conf import settings

from backend.jobs import services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import Job, JobKind, JobState
from tests.conftest import Cast
from workers import runner
from workers.runner import FollowUp, Work, run_leased

JOBS = 5


class Handler(ModuleType):
    """A handler's module whose part a test writes."""

    handle: Callable[[Work], FollowUp | None]


def queued(cast: Cast) -> list[UUID]:
    with cast.scope():
        subjects = [uuid4() for _ in range(JOBS)]
        return [
            services.enqueue(kind=JobKind.OBSERVE_SEGMENT, subject_id=subject, dedupe_key=f"observe:{subject}").id
            for subject in subjects
        ]


@pytest.mark.parametrize(("share", "expected"), [(0.2, 3), (0.49, 2), (0.5, 1), (0.01, 5)])
def test_a_follow_up_is_left_to_a_task_of_its_own_once_half_of_the_time_is_over(
    acme: Cast, monkeypatch: pytest.MonkeyPatch, share: float, expected: int
) -> None:
    """share: of a job's time that each of the jobs takes. expected: how many of them run in this task."""
    ids, now = queued(acme), 0.0
    following = dict(pairwise(ids))

    def handle(work: Work) -> FollowUp | None:
        nonlocal now
        now += share * settings.TASK_SECONDS
        work.finish()
        later = following.get(work.lease.job_id)
        return None if later is None else FollowUp(later)

    module = Handler("tests.scripted_follow_ups")
    module.handle = handle
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(runner.HANDLERS, JobKind.OBSERVE_SEGMENT, module.__name__)
    lease = claim_next("gpu.index", worker="w")
    assert lease is not None
    assert lease.job_id == ids[0]

    run_leased(lease, worker="w", clock=lambda: now)

    with acme.scope():
        states = [str(Job.objects.values_list("state", flat=True).get(id=id)) for id in ids]
        attempts = sum(Job.objects.values_list("attempt", flat=True))
    assert states == [JobState.SUCCEEDED] * expected + [JobState.QUEUED] * (JOBS - expected)
    assert attempts == expected, "what is left was not claimed"

"""A broker that comes back empty: the bells of one pass of the relay are enough for all questions that wait."""

from __future__ import annotations

import base64
import json
import sys
from types import ModuleType
from uuid import uuid4

import pytest
import redis
from django.conf import settings

from backend.jobs import services
from backend.jobs.models import Job, JobKind, JobState
from tests.conftest import Cast
from workers import runner
from workers.management.commands.relay import MOST_BELLS, Bells
from workers.runner import CLAIM_SECONDS, Work, run_class

QUESTIONS, PER_BELL, QUEUE = 100, 4, "gpu.query"


def taken(broker: redis.Redis) -> str | None:
    """Take a bell out of the broker, as a worker does, and return its class; None if no bell lies there."""
    message = broker.rpop(QUEUE)
    if message is None:
        return None
    (queue,), *_ = json.loads(base64.b64decode(json.loads(message)["body"]))
    return str(queue)


def test_a_hundred_questions_run_on_the_bells_of_one_pass_after_the_broker_was_emptied(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []

    def handle(work: Work) -> None:
        done.append(work.lease.job_id)
        work.finish()

    module = ModuleType("tests.scripted_questions")
    module.handle = handle  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(runner.HANDLERS, JobKind.ANSWER_QUESTION, module.__name__)
    with acme.scope():
        services.enqueue_many(
            kind=JobKind.ANSWER_QUESTION, subjects={f"answer:{uuid4()}": uuid4() for _ in range(QUESTIONS)}
        )

    def clock() -> float:
        # Each look at the clock finds that a job has taken its share of the time of a bell.
        clock.now += CLAIM_SECONDS / (PER_BELL + 1)  # type: ignore[attr-defined]
        return float(clock.now)  # type: ignore[attr-defined]

    clock.now = 0.0  # type: ignore[attr-defined]
    bells, used = Bells(), 0
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        broker.flushdb()
        assert bells.ring() == MOST_BELLS
        broker.flushdb()
        assert bells.ring() == MOST_BELLS, "the next pass rings again, as if nothing had been lost"
        while (queue := taken(broker)) is not None:
            used += 1
            run_class(queue, worker="w", clock=clock)

    assert (len(done), len(set(done))) == (QUESTIONS, QUESTIONS)
    assert used <= MOST_BELLS, "no other pass of the relay was needed"
    with acme.scope():
        assert not Job.objects.exclude(state=JobState.SUCCEEDED).exists()

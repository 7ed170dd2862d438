"""Ten thousand jobs that wait for a long time: the broker holds a handful of bells, whatever the number of passes."""

from __future__ import annotations

from uuid import uuid4

import pytest
import redis
from django.conf import settings

from backend.jobs import services
from backend.jobs.dispatching import CLASSES, mark_due
from backend.jobs.models import QUEUE_OF, JobKind
from tests.conftest import Cast
from workers.management.commands.relay import MOST_BELLS, Bells

pytestmark = pytest.mark.slow

JOBS, PASSES = 10_000, 3_000
MOST_BYTES = 10 * 1024**2


def test_the_broker_stays_small_and_a_job_after_the_backlog_is_rung_for_at_once(acme: Cast) -> None:
    kind = JobKind.ANSWER_QUESTION
    with acme.scope():
        services.enqueue_many(kind=kind, subjects={f"answer:{uuid4()}": uuid4() for _ in range(JOBS)})
    bells = Bells()
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        for queue in CLASSES:
            broker.delete(queue)
        assert bells.ring() == MOST_BELLS
        for _ in range(PASSES):
            mark_due()
            assert bells.ring() == 0
        assert broker.llen(QUEUE_OF[kind]) == MOST_BELLS
        assert broker.info("memory")["used_memory"] <= MOST_BYTES
        broker.delete(QUEUE_OF[kind])
        assert bells.ring() == MOST_BELLS, "a lost bell rings at the next pass"

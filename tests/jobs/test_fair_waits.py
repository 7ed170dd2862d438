"""How long a newcomer waits behind another tenant's backlog, on a simulated clock: each segment takes half a minute."""

from __future__ import annotations

import heapq
from uuid import UUID, uuid4

import pytest

from backend.jobs import services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import QUEUE_OF, ClassClock, JobKind
from backend.jobs.services import Lease
from tests.conftest import Cast

SEGMENT_S, WORKERS, BACKLOG = 30.0, 4, 10_000
ARRIVALS_S = (100.0, 217.5, 330.1)
"""Moments at which the newcomer's segments arrive, while all workers are busy."""


def queued(cast: Cast, count: int) -> None:
    with cast.scope():
        services.enqueue_many(
            kind=JobKind.OBSERVE_SEGMENT, subjects={f"observe:{uuid4()}": uuid4() for _ in range(count)}
        )


@pytest.mark.long
def test_one_segment_behind_ten_thousand_takes_at_most_twice_as_long_as_alone(acme: Cast, globex: Cast) -> None:
    ClassClock.objects.using("owner").all().delete()
    queued(acme, BACKLOG)
    arrivals, waited = list(ARRIVALS_S), []
    arrived: dict[UUID, float] = {}
    # Each worker is free at a moment of its own, after the segment that it has.
    free: list[tuple[float, int, Lease | None]] = [
        (worker * SEGMENT_S / WORKERS, worker, None) for worker in range(WORKERS)
    ]
    while len(waited) < len(ARRIVALS_S):
        now, worker, lease = heapq.heappop(free)
        if arrivals and arrivals[0] <= now:
            arrived[globex.tenant_id] = arrivals.pop(0)
            queued(globex, 1)
        if lease is not None:
            with services.checkpoint(lease):
                services.complete(lease)
            if lease.tenant_id == globex.tenant_id:
                waited.append(now - arrived[globex.tenant_id])
        following = claim_next(QUEUE_OF[JobKind.OBSERVE_SEGMENT], worker=f"w{worker}")
        assert following is not None
        heapq.heappush(free, (now + SEGMENT_S, worker, following))

    assert max(waited) <= 2 * SEGMENT_S, waited

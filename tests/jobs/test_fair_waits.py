"""How long a newcomer waits behind another tenant's backlog, on a simulated clock: each segment takes half a minute."""

from __future__ import annotations

import heapq
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from backend.api.public_ids import encode
from backend.jobs import services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import QUEUE_OF, ClassClock, Job, JobKind, JobRank
from backend.jobs.services import Lease
from backend.library.indexing.follow_ups import enqueue_observation
from backend.library.models import SourceType, Video
from tests.conftest import Cast
from tests.library.growing import begin

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


@pytest.mark.parametrize(
    ("rank", "closed", "first"),
    [
        (JobRank.NORMAL, False, True),
        (JobRank.HIGH, False, True),
        (JobRank.LOW, False, False),
        (JobRank.NORMAL, True, False),
    ],
)
def test_a_live_recording_comes_before_the_archive_of_its_tenant(
    acme: Cast, rank: JobRank, closed: bool, first: bool
) -> None:
    archive, live = begin(acme), begin(acme)
    with acme.scope():
        Video.objects.filter(id=archive).update(source_type=SourceType.UPLOAD)
        Video.objects.filter(id=live).update(index_rank=rank, input_closed_at=timezone.now() if closed else None)
        for _ in range(20):
            enqueue_observation(uuid4(), archive)
        enqueue_observation(uuid4(), live)

    lease = claim_next(QUEUE_OF[JobKind.OBSERVE_SEGMENT], worker="w")
    assert lease is not None
    assert lease.video_id == (live if first else archive)


@pytest.mark.parametrize("rank", [JobRank.LOW, JobRank.HIGH, JobRank.NORMAL])
def test_normal_priority_keeps_a_live_recording_before_the_archive(acme: Cast, rank: JobRank) -> None:
    archive, live = begin(acme), begin(acme)
    with acme.scope():
        Video.objects.filter(id=archive).update(source_type=SourceType.UPLOAD)
        Video.objects.filter(id=live).update(index_rank=rank)
        for _ in range(20):
            enqueue_observation(uuid4(), archive)
        enqueue_observation(uuid4(), live)

    changed = acme.client.patch(f"/v1/index-jobs/{encode('job', live)}", {"priority": "normal"})

    assert (changed.status_code, changed.json()["priority"]) == (200, "normal")
    lease = claim_next(QUEUE_OF[JobKind.OBSERVE_SEGMENT], worker="w")
    assert lease is not None
    assert lease.video_id == live
    with acme.scope():
        assert set(Job.objects.filter(video_id=archive).values_list("rank", flat=True)) == {JobRank.NORMAL}

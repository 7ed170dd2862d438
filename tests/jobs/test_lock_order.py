"""Transactions that lock several jobs take them in one order, so none of them waits for the other in a circle."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Signal

import psycopg
import pytest
from django.db import connection, connections

from backend.jobs import services
from backend.jobs.models import LOCK_ORDER, Job, JobKind, JobState
from backend.jobs.services import LeaseLost, checkpoint
from backend.library.indexing.activation import set_indexed_until
from backend.library.indexing.follow_ups import enqueue_assembly, enqueue_observation, enqueue_summary
from backend.library.models import Segment, Video, VideoStatus
from backend.library.services.videos import delete_video
from tests.conftest import Cast
from tests.factories import make_video


def test_every_kind_has_its_position() -> None:
    assert sorted(LOCK_ORDER) == sorted(JobKind)


def test_a_deletion_and_an_assembly_that_rings_for_its_summary_both_end(acme: Cast) -> None:
    with acme.scope():
        video = make_video()
        segment = Segment.objects.create(
            tenant_id=acme.tenant_id, video_id=video.id, index_version=1, n=0, start_ms=0, end_ms=30_000
        )
        enqueue_observation(segment.id, video.id)
        assembly = enqueue_assembly(video.id, 1)
        summary = enqueue_summary(video.id, 1)
        lease = services.claim(assembly.id, worker="w")
        assert lease is not None

    def delete() -> None:
        try:
            with acme.scope():
                delete_video(video=video)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with checkpoint(lease):
            deleting = pool.submit(delete)
            wait_for_blocked(backend_pid())
            enqueue_summary(video.id, 1)
        deleting.result()

    with acme.scope():
        assert Video.objects.get(id=video.id).status == VideoStatus.DELETING
        assert Job.objects.get(id=summary.id).state == JobState.CANCELED
        assert Job.objects.get(id=assembly.id).cancel_requested_at is not None
    with pytest.raises(LeaseLost), checkpoint(lease):
        pytest.fail("the assembly of a deleted video was committed")


def backend_pid() -> int:
    """Return the server process of this thread's transaction; the pooler hides it from the client library."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def wait_for_blocked(by_pid: int) -> None:
    """Return once another backend waits for a lock that the backend by_pid holds."""
    pause = Signal()
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        for _ in range(600):
            waiting = server.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))", [by_pid]
            ).fetchone()
            if waiting and waiting[0]:
                return
            pause.wait(0.05)
    raise AssertionError("nobody waits for the assembly's job")


def test_a_segment_that_opens_the_next_never_holds_up_the_assembly(acme: Cast) -> None:
    """A new job shares the key of its video, and its transaction may wait for the assembly's job next."""
    with acme.scope():
        video = make_video()
        segment = Segment.objects.create(
            tenant_id=acme.tenant_id, video_id=video.id, index_version=1, n=0, start_ms=0, end_ms=30_000
        )
        assembly = enqueue_assembly(video.id, 1)
        lease = services.claim(assembly.id, worker="w")
        assert lease is not None

    def assemble() -> None:
        try:
            with checkpoint(lease):
                set_indexed_until(video_id=video.id, version=1, ms=12_000)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool, acme.scope():
        enqueue_observation(segment.id, video.id)
        assembling = pool.submit(assemble)
        assembling.result(timeout=30)
        enqueue_assembly(video.id, 1)
    with acme.scope():
        assert Video.objects.get(id=video.id).indexed_until_ms == 12_000

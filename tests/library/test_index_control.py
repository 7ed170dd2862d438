"""Index jobs under control: cancel, pause, resume, priority and deadline over the API, and the jobs in the queue."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.models import UsageEvent
from backend.billing.rates import plain
from backend.billing.services.usage import ledger
from backend.ekg.models import Chunk
from backend.jobs.models import Job, JobKind, JobState
from backend.library.indexing import control, follow_ups
from backend.library.indexing.activation import activate
from backend.library.indexing.failure import fail_version
from backend.library.indexing.stream import IndexEvents
from backend.library.models import SEGMENT_WANTED_AGAIN, IndexVersion, Segment, SegmentState, Video
from backend.webhooks.models import WebhookEvent
from tests.conftest import Cast
from tests.factories import make_video


@pytest.fixture
def video_id(acme: Cast) -> UUID:
    """A minute of video: one segment is observed, one waits in the queue."""
    with acme.scope():
        video = make_video(duration_ms=60_000, index_started_at=timezone.now())
        for n in range(2):
            Segment.objects.create(
                tenant_id=acme.tenant_id, video_id=video.id, index_version=1, n=n, start_ms=30_000 * n,
                end_ms=30_000 * (n + 1), state=SegmentState.PENDING if n else SegmentState.OBSERVED,
                observed_at=None if n else timezone.now(),
            )  # fmt: skip
        follow_ups.open_next_segments(video.id, 1)
        follow_ups.enqueue_assembly(video.id, 1)
        ledger.record_media_seconds(segment_id=Segment.objects.get(n=0).id, video_id=video.id, seconds=30)
        return UUID(str(video.id))


def path(video_id: UUID, act: str = "") -> str:
    return f"/v1/index-jobs/{encode('job', video_id)}" + (f"/{act}" if act else "")


def post(cast: Cast, video_id: UUID, act: str) -> Any:
    return cast.client.post(path(video_id, act))


def states(kind: JobKind) -> list[tuple[str, bool]]:
    return [(job.state, job.paused_at is not None) for job in Job.objects.filter(kind=kind).order_by("id")]


def media(video_id: UUID) -> list[tuple[str, str, str]]:
    rows = UsageEvent.objects.filter(video_id=video_id, meter="media_seconds").order_by("id")
    return [(row.source_type, plain(row.quantity), row.reason) for row in rows]


def test_a_paused_index_job_starts_nothing_and_goes_on_when_it_is_resumed(acme: Cast, video_id: UUID) -> None:
    paused = post(acme, video_id, "pause")
    assert (paused.status_code, paused.json()["status"], paused.json()["seconds_left"]) == (200, "paused", None)
    assert paused.json()["paused_at"] is not None
    assert post(acme, video_id, "pause").json()["paused_at"] == paused.json()["paused_at"]
    with acme.scope():
        Segment.objects.create(
            tenant_id=acme.tenant_id, video_id=video_id, index_version=1, n=2, start_ms=60_000, end_ms=90_000
        )
        follow_ups.open_next_segments(video_id, 1)
        # A segment that is opened meanwhile waits too.
        assert states(JobKind.OBSERVE_SEGMENT) == [("queued", True), ("queued", True)]
        assert states(JobKind.ASSEMBLE_VIDEO) == [("queued", True)]

    resumed = post(acme, video_id, "resume")
    assert (resumed.json()["status"], resumed.json()["paused_at"]) == ("running", None)
    with acme.scope():
        assert states(JobKind.OBSERVE_SEGMENT) == [("queued", False), ("queued", False)]
        assert states(JobKind.ASSEMBLE_VIDEO) == [("queued", False)]


def test_a_canceled_index_job_is_over_and_what_was_indexed_is_paid(acme: Cast, video_id: UUID) -> None:
    canceled = post(acme, video_id, "cancel")
    assert (canceled.status_code, canceled.json()["status"], canceled.json()["error"]) == (
        200, "canceled", {"code": "canceled", "message": "Indexing was canceled.", "retryable": True},
    )  # fmt: skip
    assert post(acme, video_id, "cancel").json() == canceled.json(), "safe to repeat"
    with acme.scope():
        assert set(Job.objects.values_list("state", flat=True)) == {JobState.CANCELED}
        assert [event.type for event in WebhookEvent.objects.all()] == ["video.failed"]
        assert media(video_id) == [("segment", "30", "")]
    for act in ("pause", "resume"):
        refused = post(acme, video_id, act)
        assert (refused.status_code, refused.json()["code"]) == (409, "index_job_over")


def test_the_media_of_a_version_that_failed_for_our_reasons_is_credited_once(acme: Cast, video_id: UUID) -> None:
    with acme.scope():
        fail_version(video_id=video_id, version=1, code="internal_error", message="x")
        fail_version(video_id=video_id, version=1, code="internal_error", message="x")
        assert media(video_id) == [("segment", "30", ""), ("segment_credit", "-30", "internal_error")]
        total = [row.price_amount for row in UsageEvent.objects.filter(video_id=video_id)]
        assert total[0] > 0
        assert sum(total) == 0


@pytest.mark.parametrize("code", ["model_refused", "no_frames", "canceled", "too_long"])
def test_nothing_is_credited_for_a_recording_at_fault(acme: Cast, video_id: UUID, code: str) -> None:
    with acme.scope():
        fail_version(video_id=video_id, version=1, code=code, message="x")
        assert media(video_id) == [("segment", "30", "")]


def test_a_missed_deadline_is_credited_unless_the_customer_set_it(acme: Cast, video_id: UUID) -> None:
    with acme.scope():
        control.set_index_deadline(video_id=video_id, at=timezone.now() + timedelta(minutes=1))
        fail_version(video_id=video_id, version=1, code="deadline_exceeded", message="x")
        assert media(video_id) == [("segment", "30", "")]
        assert Video.objects.get(id=video_id).index_deadline_at is None, "a retry has our own limit again"


def test_a_credited_version_that_is_built_after_all_is_charged_again_once(acme: Cast, video_id: UUID) -> None:
    with acme.scope():
        for round in range(2):
            fail_version(video_id=video_id, version=1, code="worker_lost", message="x")
            control.retry_indexing(video_id=video_id)
            version = IndexVersion.objects.get(video_id=video_id)
            assert (version.state, version.retries, version.repair) == ("building", round + 1, True)
        activate(video_id=video_id, version=1, stage_ms={}, is_damaged=False)
        activate(video_id=video_id, version=1, stage_ms={}, is_damaged=False)
        # Nothing is charged between the two failures, so the second one has nothing to credit.
        assert media(video_id) == [
            ("segment", "30", ""), ("segment_credit", "-30", "worker_lost"), ("segment_restored", "30", "retried"),
        ]  # fmt: skip
        events = WebhookEvent.objects.order_by("id").values_list("type", "sequence")
        assert list(events) == [("video.failed", 1), ("video.failed", 2), ("video.ready", 3)]


def test_priority_and_deadline_reach_the_jobs_that_wait_and_those_that_come(acme: Cast, video_id: UUID) -> None:
    at = (timezone.now() + timedelta(hours=3)).replace(microsecond=0)
    changed = acme.client.patch(path(video_id), {"priority": "high", "deadline_at": at.isoformat()})
    assert (changed.status_code, changed.json()["priority"]) == (200, "high")
    with acme.scope():
        follow_ups.enqueue_summary(video_id, 1)
        assert set(Job.objects.values_list("rank", "deadline_at")) == {(1, at)}
    late = acme.client.patch(path(video_id), {"deadline_at": "2020-01-01T00:00:00Z"})
    assert (late.status_code, late.json()["errors"][0]["code"]) == (400, "in_the_past")
    assert acme.client.patch(path(video_id), {"priority": "urgent"}).json()["errors"][0]["code"] == "invalid_choice"


def test_the_time_left_follows_the_pace_of_the_last_hour(acme: Cast, video_id: UUID) -> None:
    assert acme.client.get(path(video_id)).json()["seconds_left"] is None, "one segment shows no pace"
    now = timezone.now()
    with acme.scope():
        Video.objects.filter(id=video_id).update(duration_ms=300_000)
        for n in range(2, 4):
            Segment.objects.create(
                tenant_id=acme.tenant_id, video_id=video_id, index_version=1, n=n, start_ms=30_000 * n,
                end_ms=30_000 * (n + 1), state=SegmentState.OBSERVED,
            )  # fmt: skip
        for n, ago_s in ((0, 40), (2, 20), (3, 0)):
            Segment.objects.filter(n=n).update(observed_at=now - timedelta(seconds=ago_s))
    # 60 s of video after the first segment took 40 s; 210 s of 300 s are left.
    assert acme.client.get(path(video_id)).json()["seconds_left"] == 140


def test_the_stream_shows_progress_and_then_the_outcome(acme: Cast, video_id: UUID) -> None:
    events = IndexEvents(tenant_id=acme.tenant_id, video_id=video_id)
    name, body = read(events.look())
    assert (name, body["status"], body["progress"]["total"]) == ("progress", "running", 2)
    assert events.look() == b"", "nothing is new"
    post(acme, video_id, "pause")
    assert read(events.look())[1]["status"] == "paused"
    assert not events.over
    post(acme, video_id, "cancel")
    name, body = read(events.look())
    assert (name, body["status"], events.over) == ("outcome", "canceled", True)

    reply = acme.client.get(path(video_id, "stream"))
    assert reply.headers["Content-Type"] == "text/event-stream"
    assert [read(chunk)[0] for chunk in reply.streaming_content] == ["outcome"]


def read(event: bytes) -> tuple[str, dict[str, Any]]:
    name, data = event.decode().strip().split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_what_cannot_be_retried_is_refused(acme: Cast, video_id: UUID) -> None:
    assert post(acme, video_id, "retry").json()["code"] == "already_indexing"
    with acme.scope():
        fail_version(video_id=video_id, version=1, code="not_a_video", message="x")
    refused = post(acme, video_id, "retry")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_retryable")
    assert acme.client.get(path(video_id)).json()["error"]["retryable"] is False
    with acme.scope():
        assert not Job.objects.filter(kind=JobKind.PROBE_VIDEO).exists(), "a refusal enqueues nothing"


@pytest.fixture
def gapped_id(acme: Cast) -> UUID:
    """A ready video of three segments: the last two have gaps of ours."""
    with acme.scope():
        video = make_video(duration_ms=90_000, status="ready", indexed_until_ms=90_000)
        IndexVersion.objects.filter(video_id=video.id).update(state="ready")
        for n in range(3):
            start, end = 30_000 * n, 30_000 * (n + 1)
            Segment.objects.create(
                tenant_id=acme.tenant_id, video_id=video.id, index_version=1, n=n, start_ms=start, end_ms=end,
                state=SegmentState.ASSEMBLED, error_code="worker_lost" if n else "",
            )  # fmt: skip
            Chunk.objects.create(
                tenant_id=acme.tenant_id, video_id=video.id, index_version=1, n=n, segment_n=n, start_ms=start,
                end_ms=end, description=None if n else "A gate.", gap="worker_lost" if n else None,
            )  # fmt: skip
        return UUID(str(video.id))


def marks(video_id: UUID) -> dict[int, str]:
    return dict(Segment.objects.filter(video_id=video_id).values_list("n", "error_code"))


def test_a_retry_of_a_part_marks_only_the_segments_with_gaps_in_it(acme: Cast, gapped_id: UUID) -> None:
    key = {"HTTP_IDEMPOTENCY_KEY": "part-1"}
    for part in ({"start_ms": 0, "end_ms": 30_000}, {"start_ms": 90_000}):
        refused = acme.client.post(path(gapped_id, "retry"), part)
        assert (refused.status_code, refused.json()["code"]) == (409, "nothing_to_retry")
    with acme.scope():
        assert marks(gapped_id) == {0: "", 1: "worker_lost", 2: "worker_lost"}

    begun = acme.client.post(path(gapped_id, "retry"), {"start_ms": 0, "end_ms": 45_000}, **key)

    assert (begun.status_code, begun.json()["status"]) == (202, "running")
    again = acme.client.post(path(gapped_id, "retry"), {"start_ms": 0, "end_ms": 45_000}, **key)
    assert (again.status_code, again.json()) == (202, begun.json())
    other = acme.client.post(path(gapped_id, "retry"), {"start_ms": 45_000}, **key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    with acme.scope():
        assert marks(gapped_id) == {0: "", 1: SEGMENT_WANTED_AGAIN, 2: "worker_lost"}
        assert IndexVersion.objects.get(video_id=gapped_id).retries == 1
        assert Job.objects.filter(kind=JobKind.PROBE_VIDEO).count() == 1


def test_a_retry_of_a_part_is_refused_if_the_part_is_malformed(acme: Cast, globex: Cast, gapped_id: UUID) -> None:
    faults = {"out_of_order": {"start_ms": 5, "end_ms": 5}, "min_value": {"start_ms": -1}, "unknown_field": {"n": 1}}
    for code, part in faults.items():
        refused = acme.client.post(path(gapped_id, "retry"), part)
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, code)
    assert globex.client.post(path(gapped_id, "retry"), {"start_ms": 30_000}).status_code == 404
    with acme.scope():
        assert SEGMENT_WANTED_AGAIN not in marks(gapped_id).values()


def test_the_command_retries_one_segment_of_a_tenants_video(acme: Cast, globex: Cast, gapped_id: UUID) -> None:
    name = encode("vid", gapped_id)
    with pytest.raises(CommandError, match="has no video"):
        call_command("retry_index", globex.slug, name)
    with pytest.raises(CommandError, match="unknown_segment"):
        call_command("retry_index", acme.slug, name, segment=7)
    call_command("retry_index", acme.slug, name, segment=2, stdout=StringIO())
    with acme.scope():
        assert marks(gapped_id) == {0: "", 1: "worker_lost", 2: SEGMENT_WANTED_AGAIN}
    with pytest.raises(CommandError, match="already_indexing"):
        call_command("retry_index", acme.slug, name)

"""Segments that failed for our reasons: retried by themselves after pauses, and left to people after the last one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.models import UsageEvent
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.sweeps import SYSTEM_TENANT, queue_system_job
from backend.library.indexing.automatic_retry import PAUSES, POSTPONED, due_videos
from backend.library.indexing.control import retry_by_itself
from backend.library.indexing.segments import mark_gap, pending_segment
from backend.library.models import SEGMENT_WANTED_AGAIN, IndexVersion, Segment, SegmentState, Video
from backend.observability.metrics import SEGMENTS_GIVEN_UP
from backend.tenancy.refusals import Refused
from tests.conftest import Cast
from tests.scripted_openai import ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.eyes import see
from tests.tasks.test_index_jobs import check_bill, check_graph
from tests.tasks.test_index_retry import EIGHTEEN_SECONDS, content, losing
from tests.tasks.world import TWELVE_SECONDS, indexed_video, run_due, stored_video
from workers.retry_segments import retry

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)


def sweep() -> None:
    """Run the sweep, and whatever it begins."""
    queue_system_job(
        kind=JobKind.RETRY_SEGMENTS, subject_id=SYSTEM_TENANT, dedupe_key=f"sweep:{JobKind.RETRY_SEGMENTS}"
    )
    run_due(times=2)


def pass_pause(cast: Cast, pause: timedelta) -> None:
    """Let the pause of every waiting segment be over. Asserts how long it is."""
    with cast.scope():
        waiting = Segment.objects.exclude(retry_at=None)
        assert waiting.exists()
        for segment in waiting:
            assert abs(segment.retry_at - timezone.now() - pause) < timedelta(minutes=2)
        waiting.update(retry_at=timezone.now() - timedelta(seconds=1))


def video_of(cast: Cast, video_id: UUID) -> Any:
    return cast.client.get(f"/v1/videos/{encode('vid', video_id)}").json()


def with_gap(cast: Cast, monkeypatch: pytest.MonkeyPatch, *starts_ms: int, scenes: Any = TWELVE_SECONDS) -> UUID:
    """Index a video while the segments that begin at starts_ms fail for a reason of ours."""
    video_id = stored_video(cast, scenes)
    with monkeypatch.context() as fault:
        losing(fault, *starts_ms)
        run_due()
    return video_id


def test_segments_are_repaired_after_the_pause_and_the_bill_is_that_of_an_undisturbed_run(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    video_id = with_gap(acme, monkeypatch, 6_000, 12_000, scenes=EIGHTEEN_SECONDS)
    assert video_of(acme, video_id)["gaps"]["codes"] == {"worker_lost": 4}
    sweep()
    assert video_of(acme, video_id)["gaps"]["count"] == 4, "its pause is not over"
    pass_pause(acme, PAUSES[0])
    vlm.requests.clear()
    seen_meanwhile: list[Any] = []

    def script(request: ScriptedRequest) -> Any:
        if request.schema_name == "chunk_description" and not seen_meanwhile:
            seen_meanwhile.append(video_of(acme, video_id))
        return see(request)

    vlm.script = script
    sweep()

    # Nothing of the index changes before the first segment could be observed.
    assert [(v["status"], v["indexed_until_ms"], v["gaps"]["count"]) for v in seen_meanwhile] == [("ready", 18_000, 4)]
    with acme.scope():
        assert Video.objects.get(id=video_id).status == "ready"
        check_graph(video_id, 18_000)
        check_bill(video_id, 18_000)
        assert IndexVersion.objects.get(video_id=video_id).retries == 1, "put together once"
        after = list(Segment.objects.order_by("n").values_list("error_code", "retry_at", "retries"))
        assert after == [("", None, 0), ("", None, 1), ("", None, 1)]
        repaired = content(video_id)
    assert len([r for r in vlm.requests if r.schema_name == "chunk_description"]) == 4, "only what failed"
    other = indexed_video(acme, EIGHTEEN_SECONDS)
    with acme.scope():
        undisturbed = content(other)
        bills = [
            sorted(UsageEvent.objects.filter(video_id=id, meter="media_seconds").values_list("price_amount", flat=True))
            for id in (video_id, other)
        ]
    assert bills[0] == bills[1] != []
    assert {name: len(rows) for name, rows in repaired.items()} == {n: len(rows) for n, rows in undisturbed.items()}
    assert repaired["graph"] == undisturbed["graph"]


def test_after_the_last_retry_a_segment_is_left_to_people_and_its_index_was_never_touched(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    video_id = with_gap(acme, monkeypatch, 6_000)
    given_up = SEGMENTS_GIVEN_UP._value.get()
    with acme.scope():
        before, version = content(video_id), Video.objects.get(id=video_id).version
    losing(monkeypatch, 6_000)

    for pause in PAUSES:
        assert SEGMENTS_GIVEN_UP._value.get() == given_up
        pass_pause(acme, pause)
        sweep()
    with acme.scope():
        segment = Segment.objects.get(n=1)
        assert (segment.error_code, segment.retry_at, segment.retries) == ("worker_lost", None, len(PAUSES))
        assert (content(video_id), Video.objects.get(id=video_id).version) == (before, version)
        check_bill_of_half(video_id)
    assert SEGMENTS_GIVEN_UP._value.get() == given_up + 1
    assert due_videos() == []

    # A person's retry gives it all its retries again.
    assert acme.client.post(f"/v1/index-jobs/{encode('job', video_id)}/retry").status_code == 202
    run_due()
    pass_pause(acme, PAUSES[0])


def check_bill_of_half(video_id: UUID) -> None:
    media = UsageEvent.objects.filter(video_id=video_id, meter="media_seconds")
    assert [row.quantity for row in media] == [6]


def test_a_video_that_failed_for_our_reasons_is_retried_too(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    video_id = with_gap(acme, monkeypatch, 0, 6_000)
    assert video_of(acme, video_id)["status"] == "failed"
    pass_pause(acme, PAUSES[0])

    sweep()

    with acme.scope():
        assert Video.objects.get(id=video_id).status == "ready"
        check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)


def test_a_failure_of_the_recording_is_not_retried(acme: Cast, vlm: ScriptedOpenAIServer) -> None:
    video_id = indexed_video(acme, TWELVE_SECONDS)
    with acme.scope():
        segment = Segment.objects.get(n=1)
        segment.state = SegmentState.PENDING
        segment.save()
        IndexVersion.objects.filter(video_id=video_id).update(state="building")
        job = Job.objects.get(kind=JobKind.OBSERVE_SEGMENT, subject_id=segment.id)
        assert job.state == JobState.SUCCEEDED
        pending = pending_segment(segment.id)
        assert pending is not None
        assert mark_gap(pending, code="model_refused") is False
        assert Segment.objects.get(n=1).retry_at is None


def test_a_video_deleted_while_its_segment_is_retried_keeps_nothing(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    video_id = with_gap(acme, monkeypatch, 6_000)
    pass_pause(acme, PAUSES[0])

    def script(request: ScriptedRequest) -> Any:
        if request.schema_name == "chunk_description":
            acme.client.delete(f"/v1/videos/{encode('vid', video_id)}")
        return see(request)

    vlm.script = script
    sweep()

    with acme.scope():
        assert not Video.objects.filter(id=video_id).exists()
        assert not Segment.objects.filter(video_id=video_id).exists()
        check_bill_of_half(video_id)
    assert due_videos() == []


def test_a_retry_waits_for_a_reindex_and_ends_with_the_version_that_it_replaces(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    video_id = with_gap(acme, monkeypatch, 6_000)
    pass_pause(acme, PAUSES[0])
    assert acme.client.post(f"/v1/videos/{encode('vid', video_id)}/reindex").status_code == 202

    assert retry(acme.tenant_id, video_id) is False

    with acme.scope():
        waiting = Segment.objects.exclude(retry_at=None).get()
        assert (waiting.n, waiting.error_code, waiting.retries) == (1, "worker_lost", 0)
    pass_pause(acme, POSTPONED)
    run_due()
    assert retry(acme.tenant_id, video_id) is False, "the version with the gap is read no more"
    assert due_videos() == []
    with acme.scope():
        assert not Segment.objects.exclude(retry_at=None).exists()


def test_a_reindex_that_begins_during_a_retry_goes_first(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    video_id = with_gap(acme, monkeypatch, 6_000)
    pass_pause(acme, PAUSES[0])
    begun: list[int] = []

    def script(request: ScriptedRequest) -> Any:
        if request.schema_name == "chunk_description" and not begun:
            begun.append(acme.client.post(f"/v1/videos/{encode('vid', video_id)}/reindex").status_code)
            begun.append(acme.client.post(f"/v1/index-jobs/{encode('job', video_id)}/cancel").status_code)
        return see(request)

    vlm.script = script
    with acme.scope():
        before = content(video_id)
    retry(acme.tenant_id, video_id)
    run_due()

    assert begun == [202, 200]
    with acme.scope():
        # The re-index was canceled, so the old version stays, and its segment is looked at again later.
        video = Video.objects.get(id=video_id)
        assert (video.status, video.active_index_version) == ("ready", 1)
        assert content(video_id)["Event"] == before["Event"]
        segment = Segment.objects.get(index_version=1, n=1)
        assert segment.error_code == SEGMENT_WANTED_AGAIN
    pass_pause(acme, POSTPONED)
    sweep()
    with acme.scope():
        assert Video.objects.get(id=video_id).active_index_version == 1
    assert video_of(acme, video_id)["gaps"]["count"] == 0


def test_a_retry_never_reads_a_recording_that_is_deleted(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    video_id = with_gap(acme, monkeypatch, 6_000)
    pass_pause(acme, PAUSES[0])
    with acme.scope():
        Video.objects.filter(id=video_id).update(object_key="", source_deleted_at=timezone.now())
        before = content(video_id)

    sweep()

    with acme.scope():
        assert content(video_id) == before
        segment = Segment.objects.get(n=1)
        assert (segment.error_code, segment.retry_at) == ("worker_lost", None)
        assert not Job.objects.filter(kind=JobKind.OBSERVE_SEGMENT, state=JobState.QUEUED).exists()


def test_the_due_videos_are_bounded_and_the_longest_due_first(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (with_gap(acme, monkeypatch, 6_000) for _ in range(2))
    with acme.scope():
        for days, video_id in ((2, second), (1, first)):
            Segment.objects.filter(video_id=video_id).exclude(retry_at=None).update(
                retry_at=timezone.now() - timedelta(days=days)
            )
    assert due_videos() == [(acme.tenant_id, second), (acme.tenant_id, first)]
    monkeypatch.setattr("backend.library.indexing.automatic_retry.AT_ONCE", 1)
    assert due_videos() == [(acme.tenant_id, second)]
    with acme.scope():
        retry_by_itself(video_id=second)
    with acme.scope(), pytest.raises(Refused, match="Nothing of this index failed"):
        retry_by_itself(video_id=second)

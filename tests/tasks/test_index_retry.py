"""Index jobs that are retried in place: same version, same ids, no second bill, as if nothing had failed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from backend.api.public_ids import encode
from backend.billing import queries as ledger
from backend.billing.models import UsageEvent
from backend.jobs import control
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import JobFailed
from backend.library.indexing.control import retry_segment
from backend.library.models import IndexVersion, Segment, SegmentState, Video
from gpu_workers.engine.indexing import segments
from gpu_workers.tasks import observe_segment
from tests.conftest import Cast
from tests.scripted_openai import ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.eyes import BLUE, see
from tests.tasks.test_index_jobs import check_bill, check_graph, everything
from tests.tasks.world import TWELVE_SECONDS, Scene, indexed_video, run_due, stored_video

pytestmark = pytest.mark.slow

EIGHTEEN_SECONDS = (*TWELVE_SECONDS, Scene(BLUE, 12_000, 18_000))


@pytest.fixture(autouse=True)
def _short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)


def retry(cast: Cast, video_id: UUID) -> Any:
    return cast.client.post(f"/v1/index-jobs/{encode('job', video_id)}/retry")


def losing(monkeypatch: pytest.MonkeyPatch, *starts_ms: int) -> None:
    """Let the segments that begin at starts_ms fail for a reason of ours, until the patch is undone."""
    observe = segments.observe_segment

    def fail(*arguments: Any, **options: Any) -> Any:
        if arguments[1].start_ms in starts_ms:
            raise JobFailed("worker_lost", "every attempt lost its worker", retryable=False)
        return observe(*arguments, **options)

    monkeypatch.setattr(observe_segment, "observe_segment", fail)


def content(video_id: UUID) -> dict[str, Any]:
    """Return the rows of a version without what names the attempt: times of day, and the ids of word lists."""
    rows = everything(video_id)
    return {name: rows[name] for name in ("Chunk", "Event", "Entity", "Mention", "Relation", "Frame", "graph")}


def test_a_segment_that_failed_is_repaired_in_a_ready_index(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    video_id = stored_video(acme, TWELVE_SECONDS)
    with monkeypatch.context() as fault:
        losing(fault, 6_000)
        run_due()
    with acme.scope():
        assert Segment.objects.get(n=1).error_code == "worker_lost"
        ids = list(Segment.objects.order_by("n").values_list("id", flat=True))
    assert acme.client.get(f"/v1/videos/{encode('vid', video_id)}").json()["gaps"]["codes"] == {"worker_lost": 2}
    vlm.requests.clear()

    begun = retry(acme, video_id)
    assert (begun.status_code, begun.json()["status"], begun.json()["index_version"]) == (202, "running", 1)
    assert retry(acme, video_id).json()["code"] == "already_indexing"
    run_due(times=2)

    with acme.scope():
        check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)
        assert list(Segment.objects.order_by("n").values_list("id", flat=True)) == ids
        assert set(Segment.objects.values_list("error_code", flat=True)) == {""}
        repaired = content(video_id)
    described = [r for r in vlm.requests if r.schema_name == "chunk_description"]
    assert len(described) == 2, "only the failed segment is described again"
    assert acme.client.get(f"/v1/videos/{encode('vid', video_id)}").json()["gaps"]["count"] == 0
    assert retry(acme, video_id).json()["code"] == "nothing_to_retry"

    # The same video without a failure: everything is equal but the ids that come from the video's own.
    other = indexed_video(acme, TWELVE_SECONDS)
    with acme.scope():
        undisturbed = content(other)
    assert {name: len(rows) for name, rows in repaired.items()} == {n: len(rows) for n, rows in undisturbed.items()}
    assert repaired["graph"] == undisturbed["graph"]


def test_only_the_segment_that_is_asked_for_is_observed_again(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    video_id = stored_video(acme, EIGHTEEN_SECONDS)
    with monkeypatch.context() as fault:
        losing(fault, 6_000, 12_000)
        run_due()

    def gaps() -> Any:
        return acme.client.get(f"/v1/videos/{encode('vid', video_id)}").json()["gaps"]["codes"]

    assert gaps() == {"worker_lost": 4}
    with acme.scope():
        before = dict(Segment.objects.values_list("n", "observed_at"))
        retry_segment(video_id=video_id, n=1)
    vlm.requests.clear()

    run_due(times=2)

    with acme.scope():
        assert Video.objects.get(id=video_id).status == "ready"
        after = dict(Segment.objects.values_list("n", "observed_at"))
        assert {n for n in after if after[n] != before[n]} == {1}
        assert dict(Segment.objects.values_list("n", "error_code")) == {0: "", 1: "", 2: "worker_lost"}
    assert len([r for r in vlm.requests if r.schema_name == "chunk_description"]) == 2
    assert gaps() == {"worker_lost": 2}

    # The other one is left for a retry of the whole index job.
    assert retry(acme, video_id).status_code == 202
    run_due(times=2)

    with acme.scope():
        check_graph(video_id, 18_000)
        check_bill(video_id, 18_000)
    assert gaps() == {}


def test_an_assembly_that_died_goes_on_where_it_ended_and_is_billed_once(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(request: ScriptedRequest) -> Any:
        return see(request)

    vlm.script = script
    video_id = stored_video(acme, TWELVE_SECONDS)
    with monkeypatch.context() as fault:
        fault.setattr(
            "gpu_workers.tasks.assemble_video.assemble",
            raising(JobFailed("internal_error", "unexpected", retryable=False)),
        )
        run_due()
    with acme.scope():
        assert Video.objects.get(id=video_id).status == "failed"
        credited = UsageEvent.objects.filter(source_type="segment_credit")
        paid = UsageEvent.objects.filter(meter="media_seconds", source_type="segment")
        assert sorted(-row.quantity for row in credited) == sorted(row.quantity for row in paid) != []
    asked = len([r for r in vlm.requests if r.schema_name == "chunk_description"])

    with acme.scope():
        dead = Job.objects.get(kind=JobKind.ASSEMBLE_VIDEO)
        assert dead.state == JobState.FAILED
        control.replay_dead(dead)
    run_due(times=2)

    with acme.scope():
        check_graph(video_id, 12_000)
        assert IndexVersion.objects.get(video_id=video_id).retries == 1
        media = UsageEvent.objects.filter(video_id=video_id, meter="media_seconds")
        assert sum(row.quantity for row in media) == 12
        assert ledger.mismatches() == []
    described = [r for r in vlm.requests if r.schema_name == "chunk_description"]
    assert len(described) == 4, f"{asked} chunks were described before"


def raising(error: Exception) -> Any:
    def fail(*arguments: Any, **options: Any) -> Any:
        raise error

    return fail


def test_a_canceled_index_job_goes_on_from_where_it_ended(acme: Cast, vlm: ScriptedOpenAIServer) -> None:
    video_id = stored_video(acme, TWELVE_SECONDS)
    observed: list[int] = []

    def script(request: ScriptedRequest) -> Any:
        if request.schema_name == "chunk_description" and len(observed) < 3:
            observed.append(1)
            if len(observed) == 3:
                # The first segment is stored, the second one is being worked on.
                acme.client.post(f"/v1/index-jobs/{encode('job', video_id)}/cancel")
        return see(request)

    vlm.script = script
    run_due()
    with acme.scope():
        assert Video.objects.get(id=video_id).error_code == "canceled"
        pending = Segment.objects.filter(state=SegmentState.PENDING)
        assert [segment.n for segment in pending] == [1]

    assert retry(acme, video_id).status_code == 202
    run_due(times=2)

    with acme.scope():
        check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)

"""A deleted video leaves nothing in object storage, also with a question in flight and a suspended worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db.models.functions import Now

from backend.api.public_ids import encode
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Tombstone, Video
from backend.library.storage import ObjectStorage, source_prefix, video_prefix
from backend.questions.models import Evidence, Question
from tests.conftest import Cast
from tests.running import run_job
from tests.scripted_openai import ScriptedOpenAIServer
from tests.tasks.held_storage import HeldStorage
from tests.tasks.test_answer_jobs import ask, saying
from tests.tasks.world import TWELVE_SECONDS, indexed_video, run_due

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120
RUN_JOB = (
    "import sys; from uuid import UUID; import workers.app; from tests.running import run_job; "
    "run_job(UUID(sys.argv[1]), UUID(sys.argv[2]), worker='suspended')"
)


def wait(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def job_of(cast: Cast, kind: JobKind) -> Job:
    with cast.scope():
        job: Job = Job.objects.get(kind=kind)
        return job


def stored(*prefixes: str) -> list[str]:
    """Return the keys under the folders."""
    client, bucket = ObjectStorage()._client, settings.S3_BUCKET
    pages = [client.list_objects_v2(Bucket=bucket, Prefix=prefix) for prefix in prefixes]
    return [entry["Key"] for page in pages for entry in page.get("Contents", [])]


def sweep(cast: Cast) -> str:
    """Let the time of the sweep come, and run it. Returns the state of its job."""
    with cast.scope():
        Job.objects.filter(kind=JobKind.SWEEP_DELETED).update(not_before=Now())
    run_due()
    return str(job_of(cast, JobKind.SWEEP_DELETED).state)


def delete(cast: Cast, video_id: UUID) -> None:
    assert cast.client.delete(f"/v1/videos/{encode('vid', video_id)}").status_code == 202


@pytest.mark.long
def test_a_worker_that_was_suspended_while_it_stored_a_picture_leaves_nothing_of_a_deleted_video(
    acme: Cast, llm: ScriptedOpenAIServer, tmp_path: Path
) -> None:
    video_id = indexed_video(acme, TWELVE_SECONDS)
    llm.script = saying(lambda request: "B")
    question_id = ask(acme, video_id)
    with acme.scope():
        folders = (video_prefix(acme.tenant_id, video_id), source_prefix(Video.objects.get().object_key))
    assert len(stored(*folders)) == 13
    job = job_of(acme, JobKind.ANSWER_QUESTION)

    log = tmp_path / "worker.log"
    with HeldStorage(settings.S3_ENDPOINT_URL, b"/q/") as way, log.open("wb") as out:
        env = {**os.environ, "S3_ENDPOINT_URL": way.url, "AVA_LEASE_SECONDS": "4", "AVA_HEARTBEAT_SECONDS": "1"}
        worker = subprocess.Popen(
            [sys.executable, "-c", RUN_JOB, str(job.id), str(acme.tenant_id)],
            cwd=PROJECT, env=env, stdout=out, stderr=out,
        )  # fmt: skip
        try:
            wait(lambda: way.reached.is_set() or worker.poll() is not None, "the worker stores no picture")
            assert worker.poll() is None, log.read_text()[-2000:]
            os.kill(worker.pid, signal.SIGSTOP)
            delete(acme, video_id)
            with acme.scope():
                leased = Job.objects.filter(id=job.id, lease_until__gt=Now())
            # The purge waits for the lease of the question that reads the video.
            run_due_once(acme, JobKind.PURGE_VIDEO)
            purge = job_of(acme, JobKind.PURGE_VIDEO)
            assert (purge.state, purge.error_code) == (JobState.QUEUED, "video_in_use")
            wait(lambda: not in_scope(acme, leased.exists), "the lease does not end")
            run_due()
            assert job_of(acme, JobKind.PURGE_VIDEO).state == JobState.SUCCEEDED
            assert stored(*folders) == []
            with acme.scope():
                question = Question.objects.get(id=question_id)
                assert (question.status, question.finish_detail) == ("canceled", "video_deleted")
                assert Tombstone.objects.get().prefixes == sorted(folders)
            # Long before the worker goes on, the second sweep has found nothing.
            assert sweep(acme) == JobState.SUCCEEDED
            with acme.scope():
                assert not Tombstone.objects.exists()

            os.kill(worker.pid, signal.SIGCONT)
            way.release()
            assert worker.wait(PATIENCE_S) == 0, log.read_text()[-2000:]
        finally:
            worker.kill()
            worker.wait()

    assert len(stored(*folders)) == 1, "the picture that was on its way"
    assert sweep(acme) == JobState.QUEUED, "a sweep that found something is followed by another one"
    assert stored(*folders) == []
    assert sweep(acme) == JobState.SUCCEEDED
    with acme.scope():
        assert not Tombstone.objects.exists()
        assert not Evidence.objects.exists()
        assert not Video.objects.exists()


def in_scope(cast: Cast, read: Callable[[], bool]) -> bool:
    with cast.scope():
        return read()


def run_due_once(cast: Cast, kind: JobKind) -> None:
    """Make one attempt at the job of this kind."""
    run_job(job_of(cast, kind).id, cast.tenant_id, worker="once")


def test_a_question_of_several_videos_goes_on_without_the_deleted_one(acme: Cast, llm: ScriptedOpenAIServer) -> None:
    kept, gone = indexed_video(acme, TWELVE_SECONDS), indexed_video(acme, TWELVE_SECONDS)
    llm.script = saying(lambda request: "B")
    both = ask(acme, kept, video_ids=[encode("vid", kept), encode("vid", gone)])
    alone = ask(acme, gone)
    delete(acme, gone)
    run_due_once(acme, JobKind.PURGE_VIDEO)
    run_due()
    with acme.scope():
        assert Question.objects.get(id=alone).status == "canceled"
        answered = Question.objects.get(id=both)
        assert (answered.status, answered.answer) == ("succeeded", "a tennis ball")
        assert {evidence.video_id for evidence in Evidence.objects.all()} == {kept}
    assert stored(video_prefix(acme.tenant_id, gone)) == []

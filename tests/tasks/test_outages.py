"""Faults of our own machines while a video is indexed and a question is answered: nobody pays for them or sees them."""

from __future__ import annotations

import os
import signal
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings

from backend.billing import queries as ledger
from backend.billing.models import UsageEvent
from backend.ekg.models import Chunk, Event
from backend.jobs import breakers
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Video
from backend.library.storage import ObjectStorage, StorageAway
from backend.questions.models import Question
from gpu_workers.engine.indexing.box.boxes import Box
from gpu_workers.tasks import answer_question, observe_segment, summarise_video
from tests.conftest import Cast
from tests.scripted_openai import ScriptedOpenAIServer
from tests.tasks.eyes import chunk_n
from tests.tasks.test_answer_jobs import ask, saying
from tests.tasks.test_index_jobs import check_bill, check_graph
from tests.tasks.world import TWELVE_SECONDS, indexed_video, run_due

pytestmark = pytest.mark.slow


def end_all_connections() -> None:
    """End every connection of workers to the test's database, as a restart of PostgreSQL does."""
    database = urlsplit(os.environ["DATABASE_URL"]).path.lstrip("/")
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        server.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s AND usename = 'app_rw'",
            [database],
        )


def test_a_restart_of_postgresql_before_the_commit_costs_no_call(
    acme: Cast, vlm: ScriptedOpenAIServer, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)
    restarts: Counter[str] = Counter()

    def before(module: Any, name: str) -> None:
        original = getattr(module, name)

        def restarting(*arguments: Any, **options: Any) -> Any:
            found = original(*arguments, **options)
            restarts[name] += 1
            end_all_connections()
            return found

        monkeypatch.setattr(module, name, restarting)

    before(observe_segment, "store_thumbnails")
    before(answer_question, "_keep_evidence")
    video_id = indexed_video(acme, TWELVE_SECONDS)

    with acme.scope():
        check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)
        assert not UsageEvent.objects.filter(source_type="wasted_attempt").exists()
    described = Counter(chunk_n(request) for request in vlm.requests if request.schema_name == "chunk_description")
    assert described == {0: 1, 1: 1, 2: 1, 3: 1}

    llm.script = saying(lambda request: "B")
    ask(acme, video_id)
    run_due()
    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.choice) == ("succeeded", 1)
        job = Job.objects.get(kind=JobKind.ANSWER_QUESTION)
        assert (job.state, job.attempt, job.outages) == (JobState.SUCCEEDED, 1, 0)
        assert ledger.question_mismatches(question.id) == []
        assert len(llm.requests) == 2, "a judgement and an answer"
        assert not UsageEvent.objects.filter(source_type="wasted_attempt").exists()
    assert restarts == {"store_thumbnails": 2, "_keep_evidence": 1}


def test_a_restart_of_postgresql_between_the_calls_of_a_summary_costs_no_call(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "INDEX_LINKING", "kmeans")
    restarts: Counter[str] = Counter()

    def once_within(name: str) -> None:
        original = getattr(summarise_video, name)

        def restarting(*arguments: Any, **options: Any) -> Any:
            if not restarts[name]:
                restarts[name] += 1
                end_all_connections()
            return original(*arguments, **options)

        monkeypatch.setattr(summarise_video, name, restarting)

    for name in ("read_digests", "frames_between", "read_linked"):
        once_within(name)
    indexed_video(acme, TWELVE_SECONDS)

    assert restarts == {"read_digests": 1, "frames_between": 1, "read_linked": 1}
    with acme.scope():
        job = Job.objects.get(kind=JobKind.SUMMARISE_VIDEO)
        assert (job.state, job.attempt, job.outages) == (JobState.SUCCEEDED, 1, 0)
        assert not UsageEvent.objects.filter(source_type="wasted_attempt").exists()


def test_storage_that_is_away_for_a_while_leaves_no_trace(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    put, refused = ObjectStorage.put, Counter[str]()

    def away(self: ObjectStorage, key: str, content: bytes, **options: Any) -> None:
        if key.endswith(".jpg") and refused["thumbnails"] < 12:
            refused["thumbnails"] += 1
            raise StorageAway("EndpointConnectionError")
        put(self, key, content, **options)

    monkeypatch.setattr(ObjectStorage, "put", away)
    video_id = indexed_video(acme, TWELVE_SECONDS)
    with acme.scope():
        check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)
        job = Job.objects.get(kind=JobKind.OBSERVE_SEGMENT)
        assert (job.state, job.attempt) == (JobState.SUCCEEDED, 1)
        assert job.outages >= 1
        assert not Chunk.objects.exclude(gap=None).exists()
        assert Event.objects.count() == 2
        assert Video.objects.get(id=video_id).status == "ready"
    assert refused["thumbnails"] == 12


def test_decoders_that_the_host_kills_cost_no_attempt_and_leave_no_trace(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, killed = Box.__init__, Counter[str]()

    def begun(self: Box, job: str, *arguments: Any, **options: Any) -> None:
        name = job.rpartition(":")[2]
        if killed[name] == 3:
            begin(self, job, *arguments, **options)
            return
        # One that cannot answer before it is killed.
        begin(self, "tests.engine.indexing.box.intruder:sleep", *arguments, **options)
        killed[name] += 1
        signal.pidfd_send_signal(self._process, signal.SIGKILL)

    monkeypatch.setattr(Box, "__init__", begun)
    video_id = indexed_video(acme, TWELVE_SECONDS)
    with acme.scope():
        check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)
        for kind in (JobKind.PROBE_VIDEO, JobKind.OBSERVE_SEGMENT):
            job = Job.objects.get(kind=kind)
            assert (job.state, job.attempt, job.outages) == (JobState.SUCCEEDED, 1, 3)
        assert not Chunk.objects.exclude(gap=None).exists()
        assert Video.objects.get(id=video_id).status == "ready"
    assert breakers.breakers() == []
    assert killed == {"probe": 3, "frames": 3}

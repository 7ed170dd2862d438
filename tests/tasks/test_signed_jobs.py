"""The whole way from a recording to an answer, with a signer between the jobs and the bucket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from backend.ekg.models import Frame
from backend.jobs.models import Job
from backend.library.models import Video
from backend.library.storage import ObjectStorage
from backend.questions.models import Evidence, Question
from backend.tenancy.context import tenant_scope
from tests.conftest import Cast
from tests.scripted_openai import ScriptedOpenAIServer
from tests.tasks.eyes import GREEN, colour_of
from tests.tasks.test_answer_jobs import ask, keep_pictures_late, saying
from tests.tasks.world import TWELVE_SECONDS, indexed_video, run_due
from tests.workers.test_signer import as_a_probe_worker, serving
from workers.objects import signer

# With the other files of jobs in one process, because the models are loaded once.
pytestmark = pytest.mark.slow


@pytest.fixture
def operations(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let the jobs of this process use a signer; return what it is asked for."""
    asked: list[str] = []
    answer = signer.answer

    def counted(request: dict[str, Any], *, queue: str) -> dict[str, Any]:
        asked.append(str(request["operation"]))
        # This process stands for the workers of all classes, each with its own secret.
        with tenant_scope(UUID(request["tenant"])):
            queue = Job.objects.get(id=request["job"]).queue
        return answer(request, queue=queue)

    monkeypatch.setattr(signer, "answer", counted)
    as_a_probe_worker(monkeypatch)
    with serving() as port:
        monkeypatch.setattr(settings, "SIGNER_URL", f"http://127.0.0.1:{port}/")
        yield asked


def test_a_recording_is_indexed_and_a_question_answered_through_the_signer(
    acme: Cast, llm: ScriptedOpenAIServer, operations: list[str]
) -> None:
    llm.script = saying(lambda request: "B")
    video_id = indexed_video(acme, TWELVE_SECONDS)
    with acme.scope():
        assert Video.objects.get(id=video_id).status == "ready"
        frames = list(Frame.objects.filter(video_id=video_id))
    assert len(frames) > 1
    assert operations.count("put") == 1, "one request for all pictures of the segment"
    question_id = ask(acme, video_id)
    run_due()
    with acme.scope():
        assert Question.objects.get(id=question_id).status == "succeeded"
        (evidence,) = Evidence.objects.all()
    assert colour_of(ObjectStorage().get(evidence.frame_key)) == GREEN
    assert operations.count("put") == 2


def test_a_late_attempt_leaves_the_pictures_of_an_answer_alone_through_the_signer(
    acme: Cast, llm: ScriptedOpenAIServer, operations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    llm.script = saying(lambda request: "B")
    key, shown, late = keep_pictures_late(acme, indexed_video(acme, TWELVE_SECONDS), monkeypatch)

    assert operations.count("put") == 3, "the segment's pictures, the answer's, and the late attempt's"
    assert ObjectStorage().get(late) != shown
    assert ObjectStorage().get(key) == shown

"""What superusers do in the console to jobs, videos and questions of any tenant, and that others cannot."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client

from backend.jobs.models import Job, JobKind, JobState
from backend.library.indexing.failure import fail_version
from backend.library.indexing.follow_ups import enqueue_assembly
from backend.library.models import Video
from backend.questions.models import Question
from backend.questions.services import questions
from tests.conftest import Cast
from tests.factories import make_video
from tests.questions.world import ask


@pytest.fixture
def staff(database: None, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("AVA_CONSOLE_PASSWORD", "correct horse")
    call_command("ensure_console_admin", verbosity=0)
    client = Client()
    assert client.login(username="operator@localhost", password="correct horse")
    return client


def act(client: Client, page: str, action: str, *ids: UUID) -> str:
    reply = client.post(
        f"/console/{page}/", {"action": action, "_selected_action": [str(id) for id in ids]}, follow=True
    )
    assert reply.status_code == 200
    content: str = reply.content.decode()
    return content


def test_questions_of_two_tenants_are_paused_and_put_first_at_once(staff: Client, acme: Cast, globex: Cast) -> None:
    mine, _ = ask(acme)
    theirs, _ = ask(globex)
    other, _ = ask(acme)
    assert "Pause: 2" in act(staff, "questions/question", "pause", mine, theirs)
    act(staff, "questions/question", "put_first", other)
    jobs = Job.unscoped.using("console").filter(kind=JobKind.ANSWER_QUESTION)
    assert {job.subject_id: (job.paused_at is not None, job.rank) for job in jobs} == {
        mine: (True, 0), theirs: (True, 0), other: (False, 1),
    }  # fmt: skip
    assert {entry.object_id for entry in LogEntry.objects.all()} == {str(id) for id in (mine, theirs, other)}


def test_a_dead_job_is_replayed_with_its_question_and_an_open_one_is_refused(staff: Client, acme: Cast) -> None:
    question_id, _ = ask(acme)
    with acme.scope():
        job = Job.objects.get(kind=JobKind.ANSWER_QUESTION)
        Job.objects.update(state=JobState.DEAD)
        questions.fail_question(question_id=question_id, code="model_unavailable", message="No model.")
    assert "Replay: 1" in act(staff, "jobs/job", "replay", job.id)
    assert "Only a job that is dead, failed or canceled" in act(staff, "jobs/job", "replay", job.id)
    with acme.scope():
        assert Job.objects.get(id=job.id).state == JobState.QUEUED
        assert Question.objects.get(id=question_id).status == "queued"
    act(staff, "jobs/job", "cancel", job.id)
    with acme.scope():
        assert Question.objects.get(id=question_id).status == "canceled"
    assert LogEntry.objects.count() == 2


def test_an_index_job_is_canceled_and_retried(staff: Client, acme: Cast) -> None:
    with acme.scope():
        video = make_video()
        enqueue_assembly(video.id, 1)
    act(staff, "library/video", "cancel_indexing", video.id)
    with acme.scope():
        assert Video.objects.get(id=video.id).error_code == "canceled"
    act(staff, "library/video", "retry_indexing", video.id)
    act(staff, "library/video", "pause_indexing", video.id)
    with acme.scope():
        retried = Video.objects.get(id=video.id)
        assert (retried.status, retried.index_paused_at is not None) == ("indexing", True)
        fail_version(video_id=video.id, version=1, code="worker_lost", message="x")
    assert "over already" in act(staff, "library/video", "resume_indexing", video.id)


def test_staff_without_the_right_can_look_and_not_act(staff: Client, acme: Cast) -> None:
    question_id, _ = ask(acme)
    get_user_model().objects.create_user("support@example.org", password="word", is_staff=True)
    support = Client()
    support.login(username="support@example.org", password="word")
    assert support.get("/console/questions/question/").status_code == 200
    act(support, "questions/question", "cancel", question_id)
    with acme.scope():
        assert Question.objects.get(id=question_id).status == "queued"


@pytest.mark.parametrize("page", ["billing/usageevent", "webhooks/delivery", "tenancy/tenant"])
def test_other_pages_offer_no_act(staff: Client, acme: Cast, page: str) -> None:
    reply: Any = staff.get(f"/console/{page}/")
    assert 'name="action"' not in reply.content.decode()

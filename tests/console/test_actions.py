"""What superusers do in the console to jobs, videos and questions of any tenant, and that others cannot."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone
from unfold.admin import checkbox

from backend.api.public_ids import encode
from backend.billing.models import UsageEvent
from backend.console.admin import site
from backend.jobs.models import Job, JobKind, JobRank, JobState
from backend.library.indexing.failure import fail_version
from backend.library.indexing.follow_ups import enqueue_assembly
from backend.library.models import Video
from backend.questions.models import Question
from backend.questions.services import questions
from tests.billing.violated import settled_violations
from tests.conftest import Cast
from tests.console.signing_in import appointed, open_content, staff_events
from tests.factories import make_video
from tests.questions.world import ask

REASON = "Ticket 4711, asked by the customer"


@pytest.fixture
def staff(staff: Client, acme: Cast, globex: Cast) -> Client:
    """An operator who has opened the content of both tenants."""
    for cast in (acme, globex):
        assert open_content(staff, cast).status_code == 302
    return staff


def act(client: Client, page: str, action: str, *ids: UUID) -> str:
    reply = client.post(
        f"/console/{page}/",
        {"action": action, "_selected_action": [str(id) for id in ids], "reason": REASON},
        follow=True,
    )
    assert reply.status_code == 200
    content: str = reply.content.decode()
    return content


def acts_of(cast: Cast) -> set[tuple[str, str]]:
    """What the tenant's own audit log shows that our staff did."""
    acts = {(event["action"], event["resource_id"]) for event in staff_events(cast)}
    return acts - {("tenant.content_opened", None)}


def test_a_row_has_the_box_of_the_library_with_its_own_key(staff: Client, acme: Cast) -> None:
    asked = [ask(acme)[0] for _ in range(2)]
    shown = staff.get("/console/questions/question/").content.decode()
    for id in asked:
        assert checkbox.render("_selected_action", str(id)) in shown
    page = site._registry[Question]
    assert 'value="a&quot;{b}"' in page.action_checkbox(Question(id='a"{b}'))


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
    assert acts_of(acme) == {("question.pause", encode("qst", mine)), ("question.put_first", encode("qst", other))}
    assert acts_of(globex) == {("question.pause", encode("qst", theirs))}


@pytest.mark.parametrize(
    ("page", "suffix"), [("questions/question", ""), ("jobs/job", ""), ("library/video", "indexing_")]
)
def test_the_order_and_the_deadline_of_work_are_changed_and_changed_back(
    staff: Client, acme: Cast, page: str, suffix: str
) -> None:
    row_id, _ = ask(acme)
    with acme.scope():
        if page == "library/video":
            row_id = make_video().id
            job_id = enqueue_assembly(row_id, 1).id
        else:
            job_id = Job.objects.get(kind=JobKind.ANSWER_QUESTION).id
            row_id = job_id if page == "jobs/job" else row_id
    kind, at = page.partition("/")[2], timezone.now().replace(second=0, microsecond=0) + timedelta(hours=3)

    def job() -> Any:
        with acme.scope():
            return Job.objects.get(id=job_id)

    def once(verb: str, **fields: str) -> str:
        given = {f"{verb}-{name}": value for name, value in fields.items()}
        reply = staff.post(f"/console/{page}/{row_id}/act/", {"verb": verb, "reason": REASON, **given}, follow=True)
        return str(reply.content.decode())

    ranks = []
    for verb in ("first", "back_in_line", "last"):
        act(staff, page, f"put_{suffix}{verb}", row_id)
        ranks.append(job().rank)
    assert ranks == [JobRank.HIGH, JobRank.NORMAL, JobRank.LOW]
    before = job().deadline_at
    assert "The time has passed" in once(f"set_{suffix}deadline", at="2020-01-01T00:00")
    assert job().deadline_at == before
    once(f"set_{suffix}deadline", at=f"{at:%Y-%m-%dT%H:%M}")
    assert job().deadline_at == at
    acts = [
        (event["action"], event["reason"], event["details"])
        for event in staff_events(acme)
        if not event["action"].endswith((".viewed", ".content_opened"))
    ]
    assert sorted(acts, key=str) == sorted(
        [
            *((f"{kind}.put_{suffix}{verb}", REASON, {}) for verb in ("first", "back_in_line", "last")),
            (f"{kind}.set_{suffix}deadline", REASON, {"at": str(at)}),
        ],
        key=str,
    )


def test_the_charges_of_two_tenants_are_given_back_by_one_click(staff: Client, acme: Cast, globex: Cast) -> None:
    (mine, _), (theirs, _) = ask(acme), ask(globex)
    assert "Cancel: 2" in act(staff, "questions/question", "cancel", mine, theirs)
    # Each act is a transaction of its tenant, at whose end the month and the quotas of the tenant are summed up.
    for cast in (acme, globex):
        with cast.scope():
            assert sum(row.price_amount for row in UsageEvent.objects.all()) == 0
        assert settled_violations(cast) == {}


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
    assert acts_of(acme) == {("job.replay", encode("job", job.id)), ("job.cancel", encode("job", job.id))}


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
    support = appointed("support")
    assert support.get("/console/questions/question/").status_code == 200
    act(support, "questions/question", "cancel", question_id)
    with acme.scope():
        assert Question.objects.get(id=question_id).status == "queued"


@pytest.mark.parametrize("page", ["staff/staffevent", "audit/auditevent"])
def test_other_pages_offer_no_act(staff: Client, acme: Cast, page: str) -> None:
    reply: Any = staff.get(f"/console/{page}/")
    assert 'name="action"' not in reply.content.decode()

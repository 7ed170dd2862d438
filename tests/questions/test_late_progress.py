"""A late attempt, which has lost its lease, shows nothing over what its successor shows."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from backend.jobs.models import Job, JobKind
from backend.jobs.services import Lease, claim, heartbeat
from backend.questions.models import Question, QuestionStatus
from backend.questions.services import questions
from gpu_workers.engine.answering.contract import PartialAnswer
from gpu_workers.tasks.answer_question import _show
from tests.conftest import Cast
from tests.questions.world import ask
from workers.runner import Work


def claimed(cast: Cast, worker: str) -> Lease:
    with cast.scope():
        lease = claim(Job.objects.get(kind=JobKind.ANSWER_QUESTION).id, worker=worker)
    assert lease is not None
    return lease


def lose_lease(cast: Cast) -> None:
    with cast.scope():
        Job.objects.filter(kind=JobKind.ANSWER_QUESTION).update(lease_until=timezone.now() - timedelta(seconds=1))


def say(work: Work, question_id: UUID, text: str) -> None:
    partial = PartialAnswer(text=text, choice=None, score=0.5, path="", level=1)
    _show(work, lambda: questions.set_partial(question_id=question_id, partial=partial))


def shown(cast: Cast, question_id: UUID) -> tuple[str, str]:
    with cast.scope():
        question = Question.objects.get(id=question_id)
        return question.stage, question.partial["text"]


def test_a_late_attempt_cannot_overwrite_what_its_successor_shows(acme: Cast) -> None:
    question_id, _ = ask(acme)
    late = Work(claimed(acme, "late"), "late")
    with acme.scope():
        Question.objects.filter(id=question_id).update(status=QuestionStatus.RUNNING)
    say(late, question_id, "first")
    assert not late.lost.is_set()
    lose_lease(acme)
    heir = Work(claimed(acme, "heir"), "heir")
    say(heir, question_id, "second")
    _show(heir, lambda: questions.set_progress(question_id=question_id, stage="search"))

    say(late, question_id, "third")
    _show(late, lambda: questions.set_progress(question_id=question_id, stage="retrieval"))

    assert shown(acme, question_id) == ("search", "second")
    assert (late.lost.is_set(), heir.lost.is_set()) == (True, False)


def test_a_late_attempt_cannot_overwrite_the_progress_of_its_successor(acme: Cast) -> None:
    ask(acme)
    late = claimed(acme, "late")
    lose_lease(acme)
    heir = claimed(acme, "heir")
    assert heartbeat(heir, stage="search", done=7, total=9)

    assert not heartbeat(late, stage="retrieval", done=1, total=9)

    with acme.scope():
        job = Job.objects.get(kind=JobKind.ANSWER_QUESTION)
        assert (job.progress_stage, job.progress_done, job.lease_owner) == ("search", 7, "heir")

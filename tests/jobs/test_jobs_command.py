"""manage.py jobs: jobs of all tenants are listed, and acted on for a reason."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.jobs import services
from backend.jobs.models import Job, JobKind, JobRank, JobState
from backend.questions.models import Question
from tests.conftest import Cast
from tests.questions.world import ask

REASON = "Ticket 4711, asked by the customer"


def run(*arguments: str) -> str:
    out = StringIO()
    reason = ("--reason", REASON) if arguments and arguments[0] != "list" else ()
    call_command("jobs", *arguments, *reason, stdout=out, stderr=out)
    return out.getvalue()


def dead(cast: Cast) -> UUID:
    with cast.scope():
        subject = uuid4()
        job = services.enqueue(kind=JobKind.PURGE_VIDEO, subject_id=subject, dedupe_key=f"purge:{subject}")
        Job.objects.filter(id=job.id).update(state=JobState.DEAD, error_code="storage_unavailable", attempt=5)
        return UUID(str(job.id))


def state(cast: Cast, job_id: UUID) -> tuple[str, int, bool]:
    with cast.scope():
        job = Job.objects.get(id=job_id)
        return job.state, job.attempt, job.paused_at is not None


def test_dead_jobs_are_listed_and_replayed_over_all_tenants(acme: Cast, globex: Cast) -> None:
    mine, theirs = dead(acme), dead(globex)
    listed = run()
    assert all(words in listed for words in (str(mine), str(theirs), "storage_unavailable", "2 jobs"))
    assert run("list", "--tenant", str(acme.tenant_id)).count("purge_video") == 1
    assert run("list", "--kind", "observe_segment") == "0 jobs\n"
    assert run("replay", str(mine)) == f"{mine}: replayed\n"
    assert (state(acme, mine), state(globex, theirs)) == (("queued", 0, False), ("dead", 5, False))
    assert run("replay", "--all", "--kind", "purge_video") == f"{theirs}: replayed\n"
    assert state(globex, theirs) == ("queued", 0, False)


def test_jobs_are_paused_resumed_and_canceled_with_what_they_work_on(acme: Cast) -> None:
    question_id, _ = ask(acme)
    with acme.scope():
        job_id = Job.objects.get(kind=JobKind.ANSWER_QUESTION).id
    run("pause", str(job_id))
    assert state(acme, job_id) == ("queued", 0, True)
    run("resume", str(job_id))
    assert state(acme, job_id) == ("queued", 0, False)
    run("cancel", str(job_id))
    assert state(acme, job_id)[0] == "canceled"
    with acme.scope():
        assert Question.objects.get(id=question_id).status == "canceled"
    with pytest.raises(CommandError, match="1 of 1 jobs were refused"):
        run("cancel", str(job_id))


def test_the_order_and_the_deadline_of_a_job_are_changed_and_changed_back(acme: Cast) -> None:
    ask(acme)
    at = timezone.now() + timedelta(hours=2)
    with acme.scope():
        job_id = Job.objects.get(kind=JobKind.ANSWER_QUESTION).id
    ranks = []
    for act in ("put_first", "put_back_in_line", "put_last"):
        run(act, str(job_id))
        with acme.scope():
            ranks.append(Job.objects.get(id=job_id).rank)
    run("set_deadline", str(job_id), "--at", at.isoformat())
    assert ranks == [JobRank.HIGH, JobRank.NORMAL, JobRank.LOW]
    with acme.scope():
        assert Job.objects.get(id=job_id).deadline_at == at
        logged = AuditEvent.objects.filter(action__startswith="job.").order_by("id")
        assert [(e.action, e.actor_kind, e.object_id, e.reason, e.details) for e in logged] == [
            (f"job.{act}", "operator", encode("job", job_id), REASON, details)
            for act, details in (
                ("put_first", {}), ("put_back_in_line", {}), ("put_last", {}), ("set_deadline", {"at": str(at)}),
            )
        ]  # fmt: skip


def test_an_act_needs_a_reason_and_a_deadline_a_time_to_come(acme: Cast) -> None:
    job_id = str(dead(acme))
    with pytest.raises(CommandError, match="state a --reason"):
        call_command("jobs", "replay", job_id)
    with pytest.raises(CommandError, match="which needs it"):
        run("set_deadline", job_id)
    with pytest.raises(CommandError, match="which needs it"):
        run("replay", job_id, "--at", "2100-01-01T00:00:00Z")
    for at, fault in (("soon", "is no time"), ("2100-01-01", "has no zone"), ("2020-01-01T00:00:00Z", "has passed")):
        with pytest.raises(CommandError, match=fault):
            run("set_deadline", job_id, "--at", at)
    assert state(acme, UUID(job_id)) == ("dead", 5, False)
    with acme.scope():
        assert not AuditEvent.objects.filter(action__startswith="job.").exists()


def test_nothing_is_done_to_unnamed_or_unknown_jobs(acme: Cast) -> None:
    job_id = dead(acme)
    with pytest.raises(CommandError, match="name the jobs"):
        run("replay")
    with pytest.raises(CommandError, match="there is no such job"):
        run("replay", str(job_id), str(uuid4()))
    assert state(acme, job_id) == ("dead", 5, False)

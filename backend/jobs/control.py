"""What people decide about jobs: cancel, pause, resume, put first, give a deadline, run again.

Each function takes jobs of the open tenant, locks their rows in LOCK_ORDER, and returns how many of them it changed.
What a job stands for (a question, an index version) belongs to the apps above: they change their own rows in the same
transaction, and register how an ended job of theirs is run again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from uuid import UUID

from django.db import models
from django.db.models import F
from django.db.models.functions import Greatest, Now

from backend.jobs.fairness import put_in_rank_order, tags_after_pause
from backend.jobs.models import LOCK_ORDER, OPEN, SYSTEM, Job, JobKind, JobRank, JobState
from backend.jobs.services import enqueue, request_cancel_many
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused

Act = Callable[[Job], None]


@dataclass(frozen=True, slots=True)
class Subject:
    """How the app of a job's subject acts on the subject and the job together. Each may raise Refused.

    revive: opens the subject again and enqueues the ended job. cancel: ends the subject and cancels the open job.
    """

    revive: Act
    cancel: Act


_subjects: dict[JobKind, Subject] = {}

SKIPPABLE = frozenset({JobKind.OBSERVE_SEGMENT})
"""Kinds of jobs without whose result the work behind them goes on."""
ENDED_BADLY = (JobState.DEAD, JobState.FAILED, JobState.CANCELED)


def cancel_jobs(jobs: models.QuerySet[Job]) -> int:
    """Cancel the open jobs: a waiting job at once, a running job at its next check."""
    keys = list(jobs.filter(OPEN).values_list("dedupe_key", flat=True))
    request_cancel_many(dedupe_keys=keys)
    return len(keys)


def pause_jobs(jobs: models.QuerySet[Job]) -> int:
    """Keep waiting jobs from being claimed until resume_jobs().

    A job that runs goes on. It is paused if it has to wait once more, such as after a failed attempt.
    """
    return _locked(jobs.filter(OPEN, paused_at=None)).update(paused_at=Now())


def resume_jobs(jobs: models.QuerySet[Job]) -> int:
    """Let paused jobs run again; a deadline moves by the length of the pause.

    They come behind the other jobs of their tenant, so that a pause saves up no share of the workers.
    """
    resumed = _locked(jobs.exclude(paused_at=None))
    waiting = resumed.filter(state=JobState.QUEUED).order_by("kind", "queue", "priority", "fair_tag", "id")
    rows = list(waiting)
    for (kind, queue, priority), group in groupby(rows, key=lambda job: (job.kind, job.queue, job.priority)):
        lane = list(group)
        tags = tags_after_pause(
            JobKind(kind), current_tenant_id(), priority=priority, queue=queue, tags=[job.fair_tag for job in lane]
        )
        for job, tag in zip(lane, tags, strict=True):
            job.fair_tag = tag
    Job.objects.bulk_update(rows, ["fair_tag"])
    changed = resumed.update(deadline_at=F("deadline_at") + (Now() - F("paused_at")), paused_at=None)
    for queue, priority in {(job.queue, job.priority) for job in rows}:
        put_in_rank_order(queue, priority)
    return changed


def set_rank(jobs: models.QuerySet[Job], rank: JobRank) -> int:
    """Put the open jobs before, among or after the other jobs of their tenant. No other tenant waits longer for it."""
    changing = _locked(jobs.filter(OPEN).exclude(rank=rank))
    lanes = set(changing.values_list("queue", "priority"))
    changed = changing.update(rank=rank)
    for queue, priority in lanes:
        put_in_rank_order(queue, priority)
    return changed


def set_deadline(jobs: models.QuerySet[Job], at: datetime) -> int:
    """Let the open jobs end with `deadline_exceeded` if they have no outcome by then."""
    return _locked(jobs.filter(OPEN)).update(deadline_at=at)


def register_subject(kind: JobKind, subject: Subject) -> None:
    """Set what the jobs of a kind work on. The app of the subject calls this once."""
    _subjects[kind] = subject


def cancel_job(job: Job) -> None:
    """Cancel an open job together with its subject. Raises Refused: job_over, or as its app does."""
    if job.state not in (JobState.QUEUED, JobState.RUNNING):
        raise Refused("job_over", "The job is over already.")
    subject = _subjects.get(JobKind(job.kind))
    if subject is not None:
        subject.cancel(job)
    else:
        cancel_jobs(Job.objects.filter(id=job.id))


def skip_job(job: Job) -> None:
    """End an open job without its result, so that the work behind it goes on: a segment is left out with gaps.

    A job that waits ends at its next turn with `deadline_exceeded`, and a job that runs ends so if its attempt fails.
    The segment is retried by itself when its video is ready. Raises Refused: job_over, not_skippable.
    """
    if job.state not in (JobState.QUEUED, JobState.RUNNING):
        raise Refused("job_over", "The job is over already.")
    if job.kind not in SKIPPABLE:
        raise Refused("not_skippable", "Nothing can go on without the result of this job. Cancel it instead.")
    _locked(Job.objects.filter(OPEN, id=job.id)).update(deadline_at=Now(), paused_at=None)


def replay_dead(job: Job) -> None:
    """Run a job again that is dead, failed or canceled, with all its attempts; its subject is opened again with it.

    Raises Refused: job_not_ended, or as its app does.
    """
    if job.state not in ENDED_BADLY:
        raise Refused("job_not_ended", "Only a job that is dead, failed or canceled can be run again.")
    subject = _subjects.get(JobKind(job.kind))
    if subject is not None:
        subject.revive(job)
    else:
        enqueue_again(job)


def enqueue_again(job: Job) -> None:
    """Enqueue an ended job as it was."""
    enqueue(
        kind=JobKind(job.kind),
        subject_id=job.subject_id,
        dedupe_key=job.dedupe_key,
        video_id=job.video_id,
        max_attempts=job.max_attempts,
        priority=job.priority,
        lane=job.lane,
        rank=JobRank(job.rank),
        queue=job.queue,
    )


def _locked(jobs: models.QuerySet[Job]) -> models.QuerySet[Job]:
    """Lock the jobs in LOCK_ORDER and return them."""
    order = models.Case(*(models.When(kind=kind, then=position) for position, kind in enumerate(LOCK_ORDER)))
    ids: list[UUID] = [job.id for job in jobs.select_for_update().order_by(order, "id").only("id")]
    locked: models.QuerySet[Job] = Job.objects.filter(id__in=ids)
    return locked


def hand_back_running() -> int:
    """Take the leases of the tenant's running jobs and queue the jobs again; the attempts do not count.

    Their workers commit nothing more, and stop at their next heartbeat. Jobs of the service's own classes go on.
    """
    running = _locked(Job.objects.filter(state=JobState.RUNNING).exclude(queue__startswith=SYSTEM))
    return running.update(
        state=JobState.QUEUED, attempt=Greatest(F("attempt") - 1, 0), not_before=Now(), due=True, lease_until=None
    )


def move_deadlines(by: timedelta) -> int:
    """Give the tenant's waiting jobs more time."""
    waiting = Job.objects.filter(state=JobState.QUEUED).exclude(deadline_at=None).exclude(queue__startswith=SYSTEM)
    return _locked(waiting).update(deadline_at=F("deadline_at") + by)

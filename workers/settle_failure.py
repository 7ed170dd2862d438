"""Writes what follows from the failure of another job, where that could not be written with the failure itself."""

from __future__ import annotations

from importlib import import_module

from django.db.models.functions import Now

from backend.jobs.models import Job, JobState
from backend.jobs.services import JobFailed, lease_of
from workers.runner import HANDLERS, FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    def settle() -> None:
        # Locked as its own checkpoint does, so that nobody queues it again meanwhile.
        ended = Job.objects.select_for_update().filter(id=work.lease.subject_id)
        job = ended.filter(state__in=[JobState.FAILED, JobState.DEAD]).annotate(now=Now()).first()
        # A job that was queued again has another end before it.
        if job is not None:
            lease = lease_of(job)
            error = JobFailed(job.error_code, job.error_message, retryable=job.state == JobState.DEAD)
            import_module(HANDLERS[lease.kind]).failed(lease, error)
        work.complete()

    work.commit(settle)
    return None

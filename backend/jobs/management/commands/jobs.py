"""Lists jobs of all tenants, and replays, cancels, pauses or resumes them."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet
from django.utils import timezone

from backend.jobs import control
from backend.jobs.models import Job, JobKind, JobState
from backend.tenancy.context import tenant_scope
from backend.tenancy.refusals import Refused


def _pause(job: Job) -> None:
    control.pause_jobs(Job.objects.filter(id=job.id))


def _resume(job: Job) -> None:
    control.resume_jobs(Job.objects.filter(id=job.id))


ACTS: dict[str, tuple[Callable[[Job], None], str]] = {
    "replay": (control.replay_dead, "replayed"),
    "cancel": (control.cancel_job, "canceled"),
    "pause": (_pause, "paused"),
    "resume": (_resume, "resumed"),
}


class Command(BaseCommand):
    help = (
        "List jobs, or replay, cancel, pause or resume them. A job is replayed or canceled together with what it works "
        "on: the question, the search, the index job of the video."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("act", nargs="?", default="list", choices=["list", *ACTS])
        parser.add_argument("ids", nargs="*", type=UUID, help="ids of jobs, as the list shows them")
        parser.add_argument("--all", action="store_true", help="act on every job that the filters leave")
        parser.add_argument("--state", choices=JobState.values, help="only jobs in this state; a list shows dead jobs")
        parser.add_argument("--kind", choices=JobKind.values, help="only jobs of this kind")
        parser.add_argument("--tenant", type=UUID, help="only jobs of this tenant")
        parser.add_argument("--hours", type=float, help="only jobs that were made in the last so many hours")
        parser.add_argument("--limit", type=int, default=100, help="maximum number of jobs")

    def handle(self, *args: Any, **options: Any) -> None:
        act, ids = options["act"], options["ids"]
        if act != "list" and bool(ids) == options["all"]:
            raise CommandError("name the jobs by their ids, or give --all with filters")
        jobs = self._chosen(options)
        if act == "list":
            self._show(jobs)
            return
        missing = set(ids) - {job.id for job in jobs}
        if missing:
            raise CommandError(f"there is no such job: {', '.join(map(str, sorted(missing)))}")
        refused = sum(not self._do(act, job) for job in jobs)
        if refused:
            raise CommandError(f"{refused} of {len(jobs)} jobs were refused")

    def _chosen(self, options: dict[str, Any]) -> list[Job]:
        """Return the jobs that the arguments name, read by the dispatch role over all tenants, oldest first."""
        jobs: QuerySet[Job] = Job.unscoped.using("dispatch").order_by("id")
        if options["ids"]:
            return list(jobs.filter(id__in=options["ids"]))
        state = options["state"] or (JobState.DEAD if options["act"] in ("list", "replay") else None)
        wanted = {"state": state, "kind": options["kind"], "tenant_id": options["tenant"]}
        jobs = jobs.filter(**{name: value for name, value in wanted.items() if value is not None})
        if options["hours"] is not None:
            jobs = jobs.filter(created_at__gte=timezone.now() - timedelta(hours=options["hours"]))
        return list(jobs[: options["limit"]])

    def _show(self, jobs: list[Job]) -> None:
        for job in jobs:
            self.stdout.write(
                f"{job.id}  {job.kind:<16} {job.state:<9} tenant {job.tenant_id}  "
                f"attempt {job.attempt} of {job.max_attempts}  {job.error_code} {job.error_message}".rstrip()
            )
        self.stdout.write(f"{len(jobs)} jobs")

    def _do(self, act: str, job: Job) -> bool:
        """Act on one job in a transaction of its own tenant. Returns False if that was refused."""
        do, done = ACTS[act]
        try:
            with tenant_scope(job.tenant_id):
                do(Job.objects.get(id=job.id))
        except Refused as refused:
            self.stderr.write(f"{job.id}: {refused.code}: {refused.detail}")
            return False
        self.stdout.write(f"{job.id}: {done}")
        return True

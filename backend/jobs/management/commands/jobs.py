"""Lists jobs of all tenants, and replays, cancels, pauses, resumes or reorders them, or gives them a deadline."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.services import OPERATOR, SHORTEST_REASON, record
from backend.jobs import control
from backend.jobs.models import Job, JobKind, JobRank, JobState
from backend.tenancy.context import tenant_scope
from backend.tenancy.refusals import Refused


def _rows(do: Callable[..., int], **arguments: Any) -> Callable[..., object]:
    """Return what does to one job what do does to a set of jobs."""
    return lambda job, **given: do(Job.objects.filter(id=job.id), **arguments, **given)


ACTS: dict[str, tuple[Callable[..., object], str]] = {
    "replay": (control.replay_dead, "replayed"),
    "cancel": (control.cancel_job, "canceled"),
    "skip": (control.skip_job, "skipped"),
    "pause": (_rows(control.pause_jobs), "paused"),
    "resume": (_rows(control.resume_jobs), "resumed"),
    "put_first": (_rows(control.set_rank, rank=JobRank.HIGH), "put first"),
    "put_back_in_line": (_rows(control.set_rank, rank=JobRank.NORMAL), "put back in line"),
    "put_last": (_rows(control.set_rank, rank=JobRank.LOW), "put last"),
    "set_deadline": (_rows(control.set_deadline), "given a deadline"),
}
"""What the command does to a job, by the names that the console and the audit log use."""


def _moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text} is no time: {error}") from error
    if at.tzinfo is None:
        raise ArgumentTypeError(f"{text} has no zone, such as Z")
    if at <= timezone.now():
        raise ArgumentTypeError(f"{text} has passed")
    return at


class Command(BaseCommand):
    help = (
        "List jobs, or act on them. A job is replayed or canceled together with what it works on: the question, the "
        "search, the index job of the video. Every act needs a reason, which the tenant's audit log shows."
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
        parser.add_argument("--reason", default="", help=f"why, in at least {SHORTEST_REASON} characters")
        parser.add_argument("--at", type=_moment, help="the deadline of set_deadline: ISO 8601 with a zone")

    def handle(self, *args: Any, **options: Any) -> None:
        act, ids = options["act"], options["ids"]
        if act != "list" and bool(ids) == options["all"]:
            raise CommandError("name the jobs by their ids, or give --all with filters")
        if act != "list" and len(options["reason"].strip()) < SHORTEST_REASON:
            raise CommandError(f"state a --reason of at least {SHORTEST_REASON} characters")
        if (act == "set_deadline") != (options["at"] is not None):
            raise CommandError("--at belongs to set_deadline, which needs it")
        jobs = self._chosen(options)
        if act == "list":
            self._show(jobs)
            return
        missing = set(ids) - {job.id for job in jobs}
        if missing:
            raise CommandError(f"there is no such job: {', '.join(map(str, sorted(missing)))}")
        given = {} if options["at"] is None else {"at": options["at"]}
        refused = sum(not self._do(act, job, given, reason=options["reason"].strip()) for job in jobs)
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

    def _do(self, act: str, job: Job, given: Mapping[str, Any], *, reason: str) -> bool:
        """Act on one job in a transaction of its own tenant, and record it. Returns False if that was refused."""
        do, done = ACTS[act]
        try:
            with tenant_scope(job.tenant_id):
                do(Job.objects.get(id=job.id), **given)
                record(
                    f"job.{act}",
                    actor=OPERATOR,
                    object_id=encode("job", job.id),
                    reason=reason,
                    details={name: str(value) for name, value in given.items()},
                )
        except Refused as refused:
            self.stderr.write(f"{job.id}: {refused.code}: {refused.detail}")
            return False
        self.stdout.write(f"{job.id}: {done}")
        return True

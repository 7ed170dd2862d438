"""Shows what runs next in each class of jobs, and why."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from backend.jobs.breakers import breakers
from backend.jobs.dispatching import CLASSES, next_jobs, running_jobs, waiting_jobs
from backend.jobs.models import BreakerState


class Command(BaseCommand):
    help = "Show what is away, and the jobs that run next, in their order, and why some do not run yet."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "classes", nargs="*", metavar="CLASS", help="only these classes, or those whose names begin so"
        )
        parser.add_argument("--limit", type=int, default=20, help="maximum number of jobs per class")

    def handle(self, *args: Any, **options: Any) -> None:
        beginnings = tuple(options["classes"]) or ("",)
        for beginning in beginnings:
            if not any(queue.startswith(beginning) for queue in CLASSES):
                raise CommandError(f"no class is called {beginning}: {', '.join(CLASSES)}")
        for breaker in breakers():
            if breaker.state != BreakerState.CLOSED:
                self.stdout.write(
                    f"{breaker.dependency} is away since {breaker.opened_at:%Y-%m-%d %H:%M:%S} "
                    f"({breaker.state}, {breaker.failures} tries): {breaker.error_code}: {breaker.error_message}"
                )
        running, waiting = running_jobs(), waiting_jobs()
        for queue in [queue for queue in CLASSES if queue.startswith(beginnings)]:
            number = running.get(queue, 0)
            runs = "1 runs" if number == 1 else f"{number} run"
            self.stdout.write(f"{queue}: {waiting.get(queue, 0)} wait, {runs}")
            for place, job in enumerate(next_jobs(queue, limit=options["limit"]), start=1):
                self.stdout.write(
                    f"  {place:>3}. {job.kind:<18} tenant {job.tenant_id}  priority {job.priority:>3}  "
                    f"tag {job.fair_tag:.1f}  due for {job.waited_s:.0f} s  {job.reason}".rstrip()
                )

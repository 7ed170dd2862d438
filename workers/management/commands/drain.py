"""Lets the workers of a machine or container finish: they take no more jobs, and the command waits for what runs."""

from __future__ import annotations

import socket
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from backend.jobs.dispatching import jobs_of
from workers.draining import EXIT_SECONDS
from workers.liveness import ask_to_drain, living_workers, state_folder
from workers.runner import owner

POLL_SECONDS = 1.0
HAND_BACK_SECONDS = EXIT_SECONDS + 10


class Command(BaseCommand):
    help = (
        "Let the workers of this machine or container take no more jobs, and wait until none of them runs one. The "
        "workers stay alive until they are stopped."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument(
            "--finish-seconds",
            type=float,
            default=600.0,
            help="time that running jobs have to end; then they are handed back to other workers",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        seconds: float = options["finish_seconds"]
        ask_to_drain(state_folder(), seconds)
        deadline = time.monotonic() + seconds + HAND_BACK_SECONDS
        shown = -1
        while True:
            workers = living_workers(state_folder())
            running = jobs_of([owner(socket.gethostname(), child.pid) for state in workers for child in state.children])
            if running == 0 and all(state.draining for state in workers):
                break
            if running != shown:
                self.stdout.write(f"jobs that run: {running}")
                shown = running
            if time.monotonic() > deadline:
                raise CommandError(f"{running} jobs still run; their leases run out when their workers are gone")
            time.sleep(POLL_SECONDS)
        self.stdout.write("drained")

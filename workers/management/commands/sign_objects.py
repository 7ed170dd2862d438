"""Runs the signer (workers.objects.signer) until SIGTERM."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.observability import exposition
from backend.tenancy import guard
from workers.objects.signer import Signer


class Command(BaseCommand):
    help = "Give presigned URLs to jobs whose lease is held; runs until SIGTERM."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.SIGNER_KEYS:
            raise CommandError("Start the signer with AVA_PROCESS=signer and the secrets of its workers.")
        guard.demand()
        exposition.serve()
        server = Signer(options["host"], options["port"])
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
        guard.Watch().start()
        self.stdout.write("signer ready")
        self.stdout.flush()
        server.serve_forever()
        server.server_close()

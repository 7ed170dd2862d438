"""Repeats the deletions of the ledger after the database was restored, and prints what had come back by kind."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from backend.erasure.services.replay import replay


class Command(BaseCommand):
    help = "Repeat the deletions in object storage over a restored database; prints JSON. Safe to run again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--since",
            type=date.fromisoformat,
            help="day (UTC) of the restored moment; by default the whole ledger",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        repeated = replay(since=options["since"])
        self.stdout.write(json.dumps({kind.value: count for kind, count in sorted(repeated.items())}))

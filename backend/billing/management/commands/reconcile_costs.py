"""Compare what the ledger attributed to work with the machine hours that were paid. Prints one JSON line per day."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.billing.models import CostDay
from backend.billing.rates import plain
from backend.billing.services.machines.reconciliation import reconcile_day, reconcile_late

FIGURES = (
    "paid_seconds", "attributed_seconds", "overhead_seconds", "lost_seconds", "idle_seconds", "utilisation", "paid_usd",
    "attributed_usd", "overhead_usd", "lost_usd", "idle_usd", "hosted_usd", "waste_usd", "video_hours", "questions",
    "usd_per_video_hour", "usd_per_question", "lost_attempts",
)  # fmt: skip


class Command(BaseCommand):
    help = "Reconcile the days that are over with the paid machine hours; the exit status is 1 if a day has too few."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--day", help="Reconcile this day (UTC) only, such as 2026-11-22.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            days = [reconcile_day(date.fromisoformat(options["day"]))] if options["day"] else reconcile_late()
        except ValueError as error:
            raise CommandError(f"not a day: {options['day']}") from error
        for row in days:
            self.stdout.write(json.dumps(_line(row)))
        short = [str(row.day) for row in days if row.paid_seconds and row.overhead_seconds < 0]
        if short:
            raise CommandError(f"more device time is attributed than was paid: {', '.join(short)}")


def _line(row: CostDay) -> dict[str, str | None]:
    values = {name: getattr(row, name) for name in FIGURES}
    return {"day": str(row.day), **{name: None if value is None else plain(value) for name, value in values.items()}}

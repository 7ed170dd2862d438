"""Enter the machine hours that were paid, one day and kind of machine at a time, or many from a CSV file."""

from __future__ import annotations

import csv
import getpass
from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from backend.billing.models import MachineDay
from backend.billing.rates import plain

MOST = 1_000_000
"""Upper bound of hours and prices, which their columns hold."""
COLUMNS = ("day", "machine", "devices", "hours", "usd_per_hour")


class Command(BaseCommand):
    help = (
        "Enter paid machine hours. --hours counts all machines of the kind together: two machines for a day are 48. "
        "A day and machine that are entered again replace the earlier entry."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--csv", help=f"A file with the columns {', '.join(COLUMNS)}; the other options are unused."
        )
        parser.add_argument("--day", help="Day (UTC), such as 2026-11-22.")
        parser.add_argument("--machine", help="Kind of machine, such as an instance type.")
        parser.add_argument("--devices", default="1", help="Accelerators of one machine; 1 if it has none.")
        parser.add_argument("--hours", help="Hours of all machines of the kind together.")
        parser.add_argument("--usd-per-hour", help="Price of one machine for an hour.")
        parser.add_argument("--author", default=getpass.getuser(), help="Who enters the hours.")
        parser.add_argument("--note", default="", help="Where the hours come from.")
        parser.add_argument("--database", default="staff", help="Connection that may write the hours.")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = _rows_of(Path(options["csv"])) if options["csv"] else [options]
        with transaction.atomic(using=options["database"]):
            for row in rows:
                entered = _entry(row)
                MachineDay.objects.using(options["database"]).update_or_create(
                    day=entered["day"],
                    machine=entered["machine"],
                    defaults={**entered, "author": options["author"], "note": options["note"][:200]},
                )
                self.stdout.write(
                    f"{entered['day']} {entered['machine']}: {plain(entered['hours'])} h at "
                    f"{plain(entered['usd_per_hour'])} USD, {entered['devices']} devices each"
                )


def _rows_of(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(newline="") as file:
            reader = csv.DictReader(file)
            if set(COLUMNS) - set(reader.fieldnames or ()):
                raise CommandError(f"{path} needs the columns {', '.join(COLUMNS)}")
            return list(reader)
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {type(error).__name__}") from error


def _entry(row: Mapping[str, Any]) -> dict[str, Any]:
    missing = [name for name in COLUMNS if not row.get(name)]
    if missing:
        raise CommandError(f"{', '.join(missing)} must be given")
    try:
        entry = {
            "day": date.fromisoformat(row["day"]),
            "machine": row["machine"],
            "devices": int(row["devices"]),
            "hours": Decimal(row["hours"]),
            "usd_per_hour": Decimal(row["usd_per_hour"]),
        }
    except (ValueError, InvalidOperation) as error:
        raise CommandError(f"not a day, a number of devices, hours and a price: {dict(row)}") from error
    if not (entry["hours"].is_finite() and entry["usd_per_hour"].is_finite()):
        raise CommandError("hours and prices are numbers")
    if max(entry["hours"], entry["usd_per_hour"]) >= MOST:
        raise CommandError(f"hours and prices are below {MOST}")
    if entry["devices"] < 1 or entry["hours"] < 0 or entry["usd_per_hour"] < 0:
        raise CommandError("devices are at least 1, and hours and prices are not negative")
    return entry

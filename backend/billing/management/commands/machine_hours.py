"""Enter the machine hours that were paid, one day and kind of machine at a time, or many from a CSV file."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.billing.rates import plain
from backend.billing.services.machines.machine_hours import COLUMNS, HoursRefused, enter_hours, hours_in_csv, hours_of


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
        try:
            entries = hours_in_csv(_text_of(Path(options["csv"]))) if options["csv"] else [hours_of(options)]
        except HoursRefused as refused:
            raise CommandError(str(refused)) from refused
        enter_hours(entries, author=options["author"], note=options["note"], using=options["database"])
        for entry in entries:
            self.stdout.write(
                f"{entry.day} {entry.machine}: {plain(entry.hours)} h at {plain(entry.usd_per_hour)} USD, "
                f"{entry.devices} devices each"
            )


def _text_of(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {type(error).__name__}") from error

"""Machine hours that were paid: read from CSV, and entered one day and kind of machine at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db import transaction

from backend.billing.models import MachineDay

MOST = 1_000_000
"""Upper bound of hours and prices, which their columns hold."""
LONGEST_NAME = 100
COLUMNS = ("day", "machine", "devices", "hours", "usd_per_hour")


class HoursRefused(ValueError):
    """Machine hours that are not understood or make no sense. The text says which."""


@dataclass(frozen=True, slots=True)
class MachineHours:
    """Hours (UTC day) of all machines of a kind together. devices: accelerators of one machine. usd_per_hour: of one
    machine."""

    day: date
    machine: str
    devices: int
    hours: Decimal
    usd_per_hour: Decimal


def hours_in_csv(text: str) -> list[MachineHours]:
    """Return the rows of a CSV text with the columns COLUMNS. Raises HoursRefused."""
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    try:
        if set(COLUMNS) - set(reader.fieldnames or ()):
            raise HoursRefused(f"The first line must name the columns {', '.join(COLUMNS)}.")
        return [hours_of(row) for row in reader]
    except csv.Error as error:
        raise HoursRefused(f"This is no CSV: {error}.") from error


def hours_of(row: Mapping[str, Any]) -> MachineHours:
    """Return the entry of a row of texts by the names of COLUMNS. Raises HoursRefused."""
    missing = [name for name in COLUMNS if not row.get(name)]
    if missing:
        raise HoursRefused(f"{', '.join(missing)} must be given")
    try:
        entry = MachineHours(
            date.fromisoformat(row["day"]), row["machine"], int(row["devices"]), Decimal(row["hours"]),
            Decimal(row["usd_per_hour"]),
        )  # fmt: skip
    except (ValueError, InvalidOperation) as error:
        shown = ", ".join(str(row[name]) for name in COLUMNS)
        raise HoursRefused(f"not a day, a number of devices, hours and a price: {shown}") from error
    if not (entry.hours.is_finite() and entry.usd_per_hour.is_finite()):
        raise HoursRefused("hours and prices are numbers")
    if max(entry.hours, entry.usd_per_hour, Decimal(entry.devices)) >= MOST:
        raise HoursRefused(f"hours, prices and devices are below {MOST}")
    if entry.devices < 1 or entry.hours < 0 or entry.usd_per_hour < 0:
        raise HoursRefused("devices are at least 1, and hours and prices are not negative")
    if len(entry.machine) > LONGEST_NAME or not entry.machine.isprintable():
        raise HoursRefused(f"the name of a machine is one line of at most {LONGEST_NAME} characters")
    return entry


def enter_hours(entries: Sequence[MachineHours], *, author: str, note: str, using: str) -> None:
    """Store entries in one transaction. A day and machine that are entered again replace the earlier entry.

    note: where the hours come from. using: a connection that may write the hours.
    """
    with transaction.atomic(using=using):
        for entry in entries:
            MachineDay.objects.using(using).update_or_create(
                day=entry.day,
                machine=entry.machine,
                defaults={
                    "devices": entry.devices, "hours": entry.hours, "usd_per_hour": entry.usd_per_hour,
                    "author": author, "note": note[:200],
                },
            )  # fmt: skip

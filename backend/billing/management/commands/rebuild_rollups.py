"""Rebuild the hourly roll-ups of usage from the ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date

from backend.api.public_ids import encode, parse
from backend.billing.invariants.registry import all_tenants
from backend.billing.services.usage.rollups import hour_after, rebuild
from backend.tenancy.context import tenant_scope
from backend.tenancy.months import month_after

BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)


class Command(BaseCommand):
    help = "Rebuild the hourly roll-ups of usage from the ledger, a month in a transaction."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="Only this tenant (tnt_…); all by default.")
        parser.add_argument("--from", dest="start", help="First day (UTC), such as 2026-03-01; by default all.")
        parser.add_argument("--to", dest="end", help="Day after the last one (UTC); by default up to now.")

    def handle(self, *args: Any, **options: Any) -> None:
        start = _day(options["start"]) or BEGINNING
        end = _day(options["end"]) or hour_after(timezone.now() + timedelta(hours=1))
        tenants = all_tenants()
        if options["tenant"]:
            tenant_id = parse("tnt", options["tenant"])
            if tenant_id is None:
                raise CommandError(f"not an id of the kind tnt_…: {options['tenant']}")
            tenants = [tenant_id]
        for tenant_id in tenants:
            rows, begun = 0, start
            while begun < end:
                ended = min(month_after(begun), end)
                with tenant_scope(tenant_id):
                    rows += rebuild(start=begun, end=ended)
                begun = ended
            self.stdout.write(f"{encode('tnt', tenant_id)}: {rows} rows")


def _day(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise CommandError(f"not a day such as 2026-03-01: {text}")
    return datetime(day.year, day.month, day.day, tzinfo=UTC)

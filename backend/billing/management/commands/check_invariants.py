"""Check the invariants of the money. Prints one line for each violation; the exit status is 1 if there is any."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.api.public_ids import encode, parse
from backend.billing.invariants import load, registry


class Command(BaseCommand):
    help = "Check the invariants of the money in all tenants."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="Check only these invariants.")
        parser.add_argument("--tenant", help="Check only this tenant (tnt_…).")
        parser.add_argument("--list", action="store_true", help="List the invariants and check nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        load()
        unknown = sorted(set(options["names"]) - set(registry.INVARIANTS))
        if unknown:
            raise CommandError(f"there is no invariant {', '.join(unknown)}; --list shows them")
        if options["list"]:
            for name, one in sorted(registry.INVARIANTS.items()):
                self.stdout.write(f"{name}: {(one.check.__doc__ or '').strip().splitlines()[0]}")
            return
        tenants = None
        if options["tenant"]:
            tenant_id = parse("tnt", options["tenant"])
            if tenant_id is None:
                raise CommandError(f"not an id of the kind tnt_…: {options['tenant']}")
            tenants = [tenant_id]
        count = checked = 0
        for outcome in registry.check_all(options["names"], tenants=tenants):
            checked += 1
            count += len(outcome.violations)
            where = "service" if outcome.tenant_id is None else encode("tnt", outcome.tenant_id)
            for violation in outcome.violations[: registry.MOST_SHOWN]:
                self.stdout.write(f"{outcome.name} {where} {violation}")
        if count:
            raise CommandError(f"violations: {count}")
        self.stdout.write(f"{checked} checks, no violation")

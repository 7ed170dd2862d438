"""Close the months of one tenant, or of all of them, as the sweep does."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from backend.billing.services.invoicing.closing import close_tenant, tenants_to_bill
from backend.tenancy.management.tenant_command import TenantCommand


class Command(TenantCommand):
    help = "Draft the invoices of months that have ended, and number those whose grace is over. It can be repeated."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", nargs="?", help="only this tenant")

    def handle(self, *args: Any, **options: Any) -> None:
        tenants = [self.tenant(options).id] if options["slug"] else tenants_to_bill()
        final = sum(len(close_tenant(tenant_id)) for tenant_id in tenants)
        self.stdout.write(f"invoices that became final: {final}")

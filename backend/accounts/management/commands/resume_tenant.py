"""Ends the suspension of a tenant."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from backend.accounts import suspension
from backend.audit.services import OPERATOR
from backend.tenancy.context import tenant_scope
from backend.tenancy.management.tenant_command import TenantCommand


class Command(TenantCommand):
    help = "End the suspension of a tenant: its keys work again, and its jobs go on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the tenant")
        parser.add_argument("--reason", required=True, help="why; the tenant's audit log shows it")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = self.tenant(options)
        with tenant_scope(tenant.id):
            done = suspension.resume(actor=OPERATOR, reason=options["reason"])
        self.stdout.write(f"{tenant.slug} is no longer suspended" if done else f"{tenant.slug} was not suspended")

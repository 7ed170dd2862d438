"""Begins the erasure of a tenant, or prints the certificate of an erased tenant."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from backend.erasure.services.tenants import begin_tenant_erasure, certificate_of
from backend.library.storage import ObjectMissing
from backend.tenancy.management.tenant_command import TenantCommand


class Command(TenantCommand):
    help = (
        "Suspend a tenant and erase everything of it: objects, graph, rows, ledger. A job does it; "
        "--certificate prints what was counted at its end."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", nargs="?", help="the tenant")
        parser.add_argument("--yes", metavar="SLUG", help="the slug again: an erasure cannot be undone")
        parser.add_argument(
            "--certificate", metavar="TENANT_ID", type=UUID, help="print the certificate of this tenant"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["certificate"] is not None:
            self._print(options["certificate"])
            return
        if not options["slug"] or options["yes"] != options["slug"]:
            raise CommandError("Name the tenant, and repeat its slug after --yes.")
        tenant = self.tenant(options)
        begin_tenant_erasure(tenant.id)
        self.stdout.write(json.dumps({"tenant_id": str(tenant.id), "status": "erasing"}))

    def _print(self, tenant_id: UUID) -> None:
        try:
            self.stdout.write(json.dumps(certificate_of(tenant_id)))
        except ObjectMissing:
            raise CommandError("There is no certificate; the tenant is not erased.") from None

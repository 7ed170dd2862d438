"""Exports a tenant into an archive (docs/runbooks/move-a-tenant.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import CommandError, CommandParser

from backend.archives.exporting import close_tenant, export_tenant, reopen_tenant
from backend.audit.services import OPERATOR, record
from backend.library.storage import StorageError
from backend.tenancy.context import tenant_scope
from backend.tenancy.management.tenant_command import TenantCommand
from backend.tenancy.models import Fence


class Command(TenantCommand):
    help = "Export all data of a tenant into one file, which import_tenant loads into another installation."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="Slug of the tenant.")
        goal = parser.add_mutually_exclusive_group(required=True)
        goal.add_argument("--to", metavar="FILE", help="File of the archive, or a folder that gets SLUG.zip.")
        goal.add_argument("--reopen", action="store_true", help="Open a closed tenant again and export nothing.")
        parser.add_argument(
            "--close",
            action="store_true",
            help="Stop the tenant before the export, because it leaves: requests get 503, jobs wait.",
        )
        parser.add_argument("--drain", type=float, default=900.0, help="Seconds that running jobs have before --close.")
        parser.add_argument(
            "--without-accounts",
            action="store_true",
            help="Leave out the members' accounts with their password digests. Use it for the customer's own copy; "
            "the archive cannot be imported.",
        )
        parser.add_argument(
            "--without-objects",
            action="store_true",
            help="List the objects without holding them. Copy the tenant's folder of the bucket by yourself.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = self.tenant(options)
        if options["reopen"]:
            reopen_tenant(tenant.id)
            self.stdout.write(f"{tenant.slug}: open")
            return
        path = Path(options["to"])
        if path.is_dir():
            path /= f"{tenant.slug}.zip"
        if path.exists():
            raise CommandError(f"{path} exists; name another file.")
        if tenant.fence != Fence.CLOSED:
            with tenant_scope(tenant.id):
                record("tenant.exported", actor=OPERATOR, details={"accounts": not options["without_accounts"]})
        if options["close"]:
            close_tenant(tenant.id, drain_seconds=options["drain"])
        try:
            made = export_tenant(
                tenant, path, people=not options["without_accounts"], objects=not options["without_objects"]
            )
        except (OSError, StorageError, psycopg.Error) as error:
            raise CommandError(f"The export failed and left no file: {error}") from error
        rows = sum(int(count) for count, _ in made.sums.values())
        self.stdout.write(f"{path}: {rows} rows and vertices, {len(made.objects)} objects")

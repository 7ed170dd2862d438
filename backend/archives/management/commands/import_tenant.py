"""Imports a tenant from an archive of export_tenant (docs/runbooks/move-a-tenant.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.archives.archive import ArchiveReader, BadArchive
from backend.archives.importing import ImportRefused, import_tenant
from backend.library.storage import StorageError


class Command(BaseCommand):
    help = "Load a tenant from an archive of export_tenant: everything or nothing. Import only archives that you trust."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("archive", help="File of the archive.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with ArchiveReader(Path(options["archive"])) as archive:
                import_tenant(archive)
                manifest = archive.manifest
        except (BadArchive, ImportRefused, StorageError, psycopg.Error) as error:
            raise CommandError(f"Nothing was imported: {error}.") from error
        self.stdout.write(f"{manifest.slug}: imported as of {manifest.exported_at}, {len(manifest.objects)} objects")

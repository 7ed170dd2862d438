"""Lists the cells of the directory with their tenants, or adds one."""

from __future__ import annotations

import json
import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.tenancy.directory import Directory


class Command(BaseCommand):
    help = "List the cells, one JSON object a line; or add a cell or change it: --add NAME --api-url URL [--closed]."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--add", metavar="NAME")
        parser.add_argument("--api-url", default="")
        parser.add_argument("--closed", action="store_true", help="the cell accepts no new tenants")

    def handle(self, *args: Any, **options: Any) -> None:
        url = os.environ.get("DATABASE_MOVER_URL")
        if not url:
            raise CommandError("DATABASE_MOVER_URL is not set")
        with Directory(url) as directory:
            if options["add"]:
                if not options["api_url"].startswith(("http://", "https://")):
                    raise CommandError("--api-url needs the http:// or https:// address of the cell's API")
                try:
                    directory.add_cell(options["add"], options["api_url"].rstrip("/"), accepts=not options["closed"])
                except ValueError as error:
                    raise CommandError(f"{error}.") from error
            for name, api_url, accepts, tenants in directory.cells():
                line = {"cell": name, "api_url": api_url, "accepts": accepts, "tenants": tenants}
                self.stdout.write(json.dumps(line))

"""Creates a tenant with a first API key and prints {"tenant_id", "api_key"} as JSON. The key is shown only once."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.tenancy import keys
from backend.tenancy.context import tenant_scope
from backend.tenancy.creation import create_tenant
from backend.tenancy.models import Tenant
from backend.tenancy.queries import tenant_of_slug
from backend.tenancy.refusals import Refused
from backend.tenancy.services import issue_api_key


class Command(BaseCommand):
    help = "Create a tenant and its first API key; prints JSON. With --if-absent an existing tenant prints a null key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", required=True)
        parser.add_argument("--slug", required=True)
        parser.add_argument("--key-name", default="first key")
        parser.add_argument("--if-absent", action="store_true", help="leave an existing tenant as it is")
        parser.add_argument("--new-key", action="store_true", help="give an existing tenant one more key")

    def handle(self, *args: Any, **options: Any) -> None:
        slug: str = options["slug"]
        existing = tenant_of_slug(slug)
        if existing is not None and options["if_absent"]:
            self.stdout.write(json.dumps({"tenant_id": str(existing.id), "api_key": None}))
            return
        if existing is not None and options["new_key"]:
            self._print_key(existing, options["key_name"])
            return
        try:
            tenant = create_tenant(name=options["name"], slug=slug)
        except Refused as error:
            raise CommandError(error.detail) from error
        self._print_key(tenant, options["key_name"])

    def _print_key(self, tenant: Tenant, key_name: str) -> None:
        with tenant_scope(tenant.id):
            _, text = issue_api_key(name=key_name, scopes=[keys.ALL_SCOPES])
        self.stdout.write(json.dumps({"tenant_id": str(tenant.id), "api_key": text}))

"""Sets the address to which notices to a tenant are mailed."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from backend.tenancy.context import tenant_scope
from backend.tenancy.management.tenant_command import TenantCommand
from backend.tenancy.services import set_notice_email


class Command(TenantCommand):
    help = "Set the address to which notices to a tenant are mailed, such as that a webhook endpoint was disabled."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the tenant")
        parser.add_argument("address", help="the address; an empty text ends the mails")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = self.tenant(options)
        try:
            with tenant_scope(tenant.id):
                set_notice_email(address=options["address"])
        except ValidationError as error:
            raise CommandError(f"{options['address']} is no e-mail address.") from error

"""Ends all browser sessions of one person."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.staff import services
from backend.tenancy.refusals import Refused


class Command(BaseCommand):
    help = "End all sessions of a person, such as after a stolen laptop. Memberships, roles and keys stay."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the person's address")
        parser.add_argument("--reason", required=True, help="why; the audit logs of the person's tenants show it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            tenants = services.end_sessions(email=options["email"], reason=options["reason"])
        except Refused as refused:
            raise CommandError(refused.detail) from None
        if tenants is None:
            raise CommandError(f"nobody has the address {options['email']}")
        self.stdout.write(f"the sessions of {options['email']} have ended; audited in {tenants} tenants")

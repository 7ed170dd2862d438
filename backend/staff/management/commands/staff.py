"""Appoints and dismisses the operator's staff."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.staff import services
from backend.staff.models import Member, Role


class Command(BaseCommand):
    help = "Appoint or dismiss staff, or reset lost second factors. The password comes from an environment variable."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        appoint = acts.add_parser("appoint", help="make a person staff, or change the role")
        appoint.add_argument("email")
        appoint.add_argument("--role", required=True, choices=Role.values)
        # Not an argument, because arguments are visible to every process of the machine.
        appoint.add_argument("--password-from-env", metavar="NAME")
        for act, words in (
            ("dismiss", "take the access away"),
            ("reset-factor", "remove all second factors of a person who lost one"),
            ("enrolment-code", "print a new code for the first second factor, for 24 hours"),
        ):
            acts.add_parser(act, help=words).add_argument("email")
        acts.add_parser("list", help="show all staff")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, "_" + options["act"].replace("-", "_"))(options)

    def _appoint(self, options: dict[str, Any]) -> None:
        name = options["password_from_env"]
        password = os.environ.get(name) if name else None
        if name and not password:
            raise CommandError(f"{name} is not set")
        member = services.appoint(email=options["email"], role=Role(options["role"]), password=password)
        self.stdout.write(str(member))
        self._write_code(options["email"])

    def _enrolment_code(self, options: dict[str, Any]) -> None:
        if not self._write_code(options["email"]):
            raise CommandError(f"{options['email']} is no staff, or has a second factor")

    def _write_code(self, email: str) -> bool:
        code = services.new_enrolment_code(email=email)
        if code:
            self.stdout.write(f"code for the first second factor, for 24 hours: {code}")
        return bool(code)

    def _dismiss(self, options: dict[str, Any]) -> None:
        if not services.dismiss(email=options["email"]):
            raise CommandError(f"{options['email']} is no staff")

    def _reset_factor(self, options: dict[str, Any]) -> None:
        if not services.reset_factors(email=options["email"]):
            raise CommandError(f"{options['email']} has no second factor")
        self._write_code(options["email"])

    def _list(self, options: dict[str, Any]) -> None:
        for member in Member.objects.select_related("person").order_by("person__email"):
            self.stdout.write(str(member))

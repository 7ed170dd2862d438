"""Make sure that somebody can sign in to the console; safe to repeat."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.staff import services
from backend.staff.models import Role


class Command(BaseCommand):
    help = "Create or update a console account of an operator; its password comes from an environment variable."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", default="operator@localhost")
        # Not an argument, because arguments are visible to every process of the machine.
        parser.add_argument("--password-from-env", default="AVA_CONSOLE_PASSWORD", metavar="NAME")

        parser.add_argument("--code-from-env", default="AVA_CONSOLE_CODE", metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        password = os.environ.get(options["password_from_env"])
        if not password:
            raise CommandError(f"{options['password_from_env']} is not set")
        member = services.appoint(email=options["email"], role=Role.OPERATOR, password=password)
        self.stdout.write(f"console account {member.person.email} is an operator")
        chosen = os.environ.get(options["code_from_env"], "")
        code = services.new_enrolment_code(email=options["email"], code=chosen)
        if code and not chosen:
            self.stdout.write(f"its first second factor is set up within 24 hours with the code {code}")

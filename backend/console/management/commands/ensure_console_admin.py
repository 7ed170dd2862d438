"""Make sure that somebody can sign in to the console; safe to repeat."""

from __future__ import annotations

import os
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.people.models import written_email


class Command(BaseCommand):
    help = "Create or update a console account; its password comes from an environment variable."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", default="operator@localhost")
        # Not an argument, because arguments are visible to every process of the machine.
        parser.add_argument("--password-from-env", default="AVA_CONSOLE_PASSWORD", metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        password = os.environ.get(options["password_from_env"])
        if not password:
            raise CommandError(f"{options['password_from_env']} is not set")
        accounts = get_user_model().objects
        account, created = accounts.get_or_create(email=written_email(options["email"]))
        # Only a changed password is hashed again, which ends the sessions.
        if created or not account.check_password(password):
            account.set_password(password)
        account.is_staff = account.is_superuser = account.is_active = True
        account.save()
        self.stdout.write(f"console account {account.email} {'created' if created else 'exists'}")

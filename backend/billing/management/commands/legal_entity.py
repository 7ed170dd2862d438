"""Show or set the legal entity that sells to the tenants of this installation."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from backend.audit.installation_log import record_command
from backend.billing.management.arguments import reason
from backend.billing.models import LegalEntity

FIELDS = ("legal_name", "address", "country", "tax_id", "payment_details", "invoice_prefix", "credit_note_prefix")


class Command(BaseCommand):
    help = "Show the legal entity that issues invoices, or set what its invoices say. Numbered documents keep theirs."

    def add_arguments(self, parser: CommandParser) -> None:
        for field in FIELDS:
            parser.add_argument(f"--{field.replace('_', '-')}", help="lines are separated by \\n")
        parser.add_argument("--author", default="", help="E-mail of who decided the change.")
        parser.add_argument("--reason", default="", help="Why it is changed.")

    def handle(self, *args: Any, **options: Any) -> None:
        # The role that migrates: no role that serves tenants may change the seller.
        entities = LegalEntity.objects.using("owner").filter(is_default=True)
        given = {name: options[name].replace("\\n", "\n") for name in FIELDS if options[name] is not None}
        if given:
            if not options["author"].strip():
                raise CommandError("Name the person who decided the change: --author.")
            why = reason(options["reason"])
            with transaction.atomic(using="owner"):
                entities.update(**given)
                record_command(
                    "legal_entity.changed", author=options["author"], reason=why, details=given, using="owner"
                )
        entity = entities.get()
        for name in FIELDS:
            self.stdout.write(f"{name}: {getattr(entity, name)}")

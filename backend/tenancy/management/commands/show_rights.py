"""Prints what the roles of the database may do, in the form of backend/tenancy/rights.txt."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connections

from backend.tenancy import rights

HEADING = """\
# Every grant of the database: kind, object, role, privileges. A grant that is not listed here stops every process.
# Written by `manage.py show_rights`; each line of a change is to be understood before it is committed.
"""


class Command(BaseCommand):
    help = "Print the grants of the database, in the form of backend/tenancy/rights.txt."

    def handle(self, *args: Any, **options: Any) -> None:
        with connections["default"].cursor() as cursor:
            found = rights.granted(cursor)
        lines = [" ".join([*right, *sorted(privileges)]) for right, privileges in sorted(found.items())]
        self.stdout.write(HEADING + "\n".join(lines))

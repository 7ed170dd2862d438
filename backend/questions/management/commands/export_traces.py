"""Exports the search trees of a tenant's answers as JSON lines (docs/runbooks/export-traces.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser
from django.utils.dateparse import parse_date
from rest_framework.utils.encoders import JSONEncoder

from backend.audit.services import OPERATOR, record
from backend.questions.bodies.traces import trace_lines
from backend.questions.models import Verdict
from backend.questions.queries import questions as question_queries
from backend.tenancy.context import tenant_scope
from backend.tenancy.management.tenant_command import TenantCommand

PAGE = 100


class Command(TenantCommand):
    help = "Export the search trees of a tenant's questions, with outcome and feedback, as JSON lines."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="Slug of the tenant.")
        parser.add_argument("--to", metavar="FILE", required=True, help="File that gets the lines. It must not exist.")
        parser.add_argument(
            "--since", metavar="DATE", default="", help="Only questions asked on this day (UTC) or later."
        )
        parser.add_argument(
            "--feedback", choices=Verdict.values, default="", help="Only questions whose answer has this feedback."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = self.tenant(options)
        path = Path(options["to"])
        since = _day(options["since"])
        try:
            file = path.open("x", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}. Name a new file.") from error
        count = 0
        with file:
            for lines in _traces(tenant.id, since=since, verdict=options["feedback"]):
                file.writelines(json.dumps(line, cls=JSONEncoder, ensure_ascii=False) + "\n" for line in lines)
                count += 1
        with tenant_scope(tenant.id):
            record("traces.exported", actor=OPERATOR, details={"questions": count})
        self.stdout.write(f"{path}: {count} questions")


def _day(text: str) -> datetime | None:
    """Return the begin of a day. Raises CommandError."""
    if not text:
        return None
    try:
        day = parse_date(text)
    except ValueError as error:
        raise CommandError(f"--since: {error}") from error
    if day is None:
        raise CommandError(f"--since is a day such as 2026-11-01, not {text!r}.")
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _traces(tenant_id: UUID, *, since: datetime | None, verdict: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the lines of each question that is over, oldest first. Each page is read in a transaction of its own."""
    after: UUID | None = None
    while True:
        with tenant_scope(tenant_id):
            rows = question_queries.questions_over(since=since, verdict=verdict, after=after, size=PAGE)
            views = question_queries.views_of(rows, trace=True)
            pages = [list(trace_lines(view)) for view in views]
        if not rows:
            return
        yield from pages
        after = rows[-1].id

"""Shows which model plays each role, and asks every configured model server."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from gpu_workers.engine.models.settings import ModelSettings
from gpu_workers.engine.models.status import SERVED, RoleStatus, model_status


class Command(BaseCommand):
    help = "Show which model plays each role. Exit status 1 if a configured model server cannot be used."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON object per role.")

    def handle(self, *args: object, json: bool = False, **options: object) -> None:
        try:
            statuses = model_status(ModelSettings.from_env())
        except ValueError as error:
            raise CommandError(str(error)) from error
        for status in statuses:
            self.stdout.write(_json_line(status) if json else _line(status))
        if any(status.error for status in statuses):
            sys.exit(1)


def _json_line(status: RoleStatus) -> str:
    return json.dumps(status.as_json())


def _line(status: RoleStatus) -> str:
    parts = [f"{status.role:15}", status.runs.replace("_", " ")]
    if status.model:
        parts.append(status.model + (f" at {status.host}" if status.runs == SERVED else ""))
    elif status.runs == SERVED:
        parts.append(f"at {status.host}")
    parts += [part for part in (status.licence, status.revision[:12]) if part]
    if status.window:
        parts.append(f"window {status.window}")
    if status.abilities:
        shown = [name.replace("_", " ") for name, holds in status.abilities.items() if holds]
        parts.append(", ".join(shown) or "text only")
    if status.refuses:
        parts.append("refuses " + ", ".join(status.refuses))
    if status.error:
        parts.append(f"FAILS: {status.error}")
    return "  ".join(parts)

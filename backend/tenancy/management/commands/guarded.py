"""Replaces itself by another command, if the database keeps tenants apart."""

from __future__ import annotations

import argparse
import os
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connections

from backend.tenancy import guard


class Command(BaseCommand):
    help = "Run a command, unless the database does not keep tenants apart (then the exit code is 78)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("words", nargs=argparse.REMAINDER, help="the command and its arguments")

    def handle(self, *args: Any, **options: Any) -> None:
        words: list[str] = options["words"]
        guard.demand()
        connections.close_all()
        os.execvp(words[0], words)  # noqa: S606 - the arguments come from the command line of the operator

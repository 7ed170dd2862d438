"""What the command prints: tables on a terminal, lines elsewhere, JSON with --json."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


class Output:
    """as_json: one JSON object a line, and nothing else, on standard output."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.is_terminal = sys.stdout.isatty() and not as_json
        self.errors = Console(stderr=True, highlight=False)

    def row(self, row: Any, text: str) -> None:
        """Print an object of the API, or its text for people."""
        if self.as_json:
            self.object(row.to_dict())
        else:
            print(text)

    def object(self, value: Any) -> None:
        print(json.dumps(value, ensure_ascii=False), flush=True)

    def rows(self, rows: Iterable[Any], columns: Sequence[str], cells: Any) -> None:
        """Print objects of the API: a table on a terminal, else a line each with tabs. cells: the texts of one."""
        if self.as_json:
            for row in rows:
                self.object(row.to_dict())
        elif self.is_terminal:
            table = Table(*columns)
            for row in rows:
                table.add_row(*cells(row))
            Console(highlight=False).print(table)
        else:
            for row in rows:
                print("\t".join(" ".join(cell.split()) for cell in cells(row)), flush=True)

    def note(self, text: str) -> None:
        """Say something to a person, on standard error."""
        self.errors.print(text, markup=False)


def milliseconds(text: str) -> int:
    """Read 1:02:03, 2:03.5 or 83 (seconds) as milliseconds. Raises ValueError."""
    total = 0.0
    for part in text.split(":"):
        value = float(part)
        if value < 0:
            raise ValueError(text)
        total = 60 * total + value
    return round(total * 1000)

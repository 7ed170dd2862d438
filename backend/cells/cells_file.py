"""The cells that a command can reach: AVA_CELLS_FILE, a JSON object with the environment of each cell by its name.

The file holds secrets; it belongs on the operator's host, and no process that serves requests reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NEEDED = ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_DISPATCH_URL", "DATABASE_PEOPLE_URL", "S3_BUCKET")


class BadCellsFile(ValueError):
    """The file is missing, or an entry of it lacks something."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell and the environment of its processes."""

    name: str
    environment: Mapping[str, str]

    @property
    def bucket(self) -> tuple[str, str]:
        """Return where the cell's objects lie: endpoint and bucket."""
        return self.environment.get("S3_ENDPOINT_URL", ""), self.environment["S3_BUCKET"]


def read_cells(path: str) -> dict[str, Cell]:
    """Return the cells by name. Raises BadCellsFile; its message names no value of the file."""
    if not path:
        raise BadCellsFile("AVA_CELLS_FILE is not set")
    try:
        entries = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise BadCellsFile(f"AVA_CELLS_FILE cannot be read as JSON ({type(error).__name__})") from None
    if not isinstance(entries, dict):
        raise BadCellsFile("AVA_CELLS_FILE holds no JSON object")
    cells = {}
    for name, environment in entries.items():
        if not isinstance(environment, dict) or not all(isinstance(value, str) for value in environment.values()):
            raise BadCellsFile(f"the cell {name} of AVA_CELLS_FILE is no object of texts")
        missing = [variable for variable in NEEDED if not environment.get(variable)]
        if missing:
            raise BadCellsFile(f"the cell {name} of AVA_CELLS_FILE lacks {', '.join(missing)}")
        cells[name] = Cell(name, environment)
    return cells

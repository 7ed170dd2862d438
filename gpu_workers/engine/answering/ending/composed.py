"""A text in parts, and each part with the events that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.understood import Shape


@dataclass(frozen=True, slots=True)
class Part:
    """An item of a list, a step, a row of a table, a place of a count or a sentence of a summary.

    text: its words, without marks; the cells of a row, joined. cited: events that were shown, strongest first. cells:
    of a table's row, one for each column; empty for other shapes.
    """

    text: str
    cited: tuple[UUID, ...]
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Composed:
    """A text in the form that the question asks for. opening: words before the parts, such as the number of a count.
    columns: headings of a table. cut: whether the model's reply was cut off, so that parts may be missing. uncited:
    number of parts that were left out because no event that was shown stands behind them."""

    shape: Shape
    parts: tuple[Part, ...]
    columns: tuple[str, ...] = ()
    opening: str = ""
    cut: bool = False
    uncited: int = 0


def row_text(columns: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row of a table as one statement, each cell after its column's heading; empty cells are left out."""
    return "; ".join(f"{column}: {cell}" for column, cell in zip(columns, cells, strict=True) if cell)

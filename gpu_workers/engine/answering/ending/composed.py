"""A text in parts, each with the events that it rests on, and its Markdown with the numbers of its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.understood import Shape


@dataclass(frozen=True, slots=True)
class ComposedPart:
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
    parts: tuple[ComposedPart, ...]
    columns: tuple[str, ...] = ()
    opening: str = ""
    cut: bool = False
    uncited: int = 0


def row_text(columns: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row of a table as one statement, each cell after its column's heading; empty cells are left out."""
    return "; ".join(f"{column}: {cell}" for column, cell in zip(columns, cells, strict=True) if cell)


def rendered(composed: Composed, evidence: Sequence[Sequence[int]]) -> str:
    """Return the text. evidence: for each part the positions of its citations in Answer.citations, from 0; they are
    written from 1, as in "[1, 3]"."""
    marks = [
        f" [{', '.join(str(position + 1) for position in positions)}]" if positions else "" for positions in evidence
    ]
    shape, parts = composed.shape, composed.parts
    if shape == "table":
        return "\n".join(_table(composed, marks))
    if shape == "summary":
        return " ".join(f"{_sentence(part.text)}{mark}" for part, mark in zip(parts, marks, strict=True))
    if shape == "steps":
        lines = [f"{n}. {part.text}{mark}" for n, (part, mark) in enumerate(zip(parts, marks, strict=True), start=1)]
    else:
        lines = [f"- {part.text}{mark}" for part, mark in zip(parts, marks, strict=True)]
    return "\n".join([composed.opening, "", *lines] if composed.opening else lines)


def _table(composed: Composed, marks: Sequence[str]) -> list[str]:
    rows = [[*part.cells[:-1], f"{part.cells[-1]}{mark}"] for part, mark in zip(composed.parts, marks, strict=True)]
    return table_lines(composed.columns, rows)


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table in Markdown, line by line."""
    lines = [columns, ["---"] * len(columns), *rows]
    return [f"| {' | '.join(cell.strip().replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。", "！", "？")) else f"{text}."

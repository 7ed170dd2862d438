"""The parts of a composed answer as text for a reader: Markdown, with the number of its evidence after each part."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.answering.ending.composed import Composed


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

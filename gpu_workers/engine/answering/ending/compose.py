"""Writing the text of an answer after the vote: one call composes its parts, one corrects what evidence contradicts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.context import EventContext, EventLabels, event_context
from gpu_workers.engine.answering.ending.claims import CheckedStatement, Statement
from gpu_workers.engine.answering.parsing import ParsedAnswer, event_numbers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.understood import Shape
from gpu_workers.engine.answering.wording import as_data, language_line, videos_line
from gpu_workers.engine.languages.words import plain
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.models.served.structured import (
    clean,
    list_of,
    object_of,
    read_object,
    rows_of,
    salvaged,
    text_of,
)
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.prompts import load

COMPOSE = "compose"
"""Stage of the call in the ledger, and of its time."""

LEAST_TOKENS = 160
"""Minimum room for the parts. With less, the answer stays a sentence."""


def compose(
    asked: Asked, calls: Calls, *, context: EventContext, answer: ParsedAnswer, findings: str = ""
) -> Composed | None:
    """Return the answer's text in the form that asked.understood.shape names, in one call of the reasoner.

    context: the events that the answer was drawn from, with their numbers. findings: lines that were shown with them,
    as data already. answer: the answer that the vote decided on; the text elaborates it.

    Only events of context can be cited. Returns None, so that the answer's own sentence stands: in an effort that
    composes nothing (settings.prompt.compose_tokens 0), without events, where the reasoner's window has no room, and
    where the call fails or writes no part that cites an event. Raises neither Halt nor ModelError.
    """
    shape, reasoner = asked.understood.shape, asked.models.reasoner
    most = asked.settings.prompt.compose_tokens
    if not most or not context.events or calls.halted:
        return None
    messages = composing_messages(asked, context.text, findings, answer)
    room = min(most, reasoner.context_tokens - count_prompt(reasoner.count_tokens, messages))
    if room < LEAST_TOKENS:
        return None
    reply = calls.ask_once(
        messages,
        stage=COMPOSE,
        schema=composing_schema(shape),
        max_tokens=room,
        seed=asked.seed_of(COMPOSE),
        timed=COMPOSE,
    )
    if reply is None:
        return None
    composed = read_parts(reply, shape, context.events, opening=answer.text)
    calls.on_progress(COMPOSE, 1, 1, f"{len(composed.parts) if composed else 0} parts")
    return composed


# --- what the composer is asked, and how its reply is read ---------------------------------------------------------

MOST_PARTS = 20
"""Maximum number of parts of a text."""

PART_CHARACTERS = 300
CELL_CHARACTERS = 120
MOST_COLUMNS = 6
MOST_CITED = 4
"""Maximum number of events of one part."""

_MARKS = re.compile(r"(?<!\s)\s*[\[(]((?:\s*E\d{1,6}(?:\s*[,;&])?(?:\s*and)?)+)\s*[\])]", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


def composing_messages(asked: Asked, events: str, findings: str, answer: ParsedAnswer) -> list[Message]:
    """Return the prompt: rules with the form, then events and findings, then the question and the vote's answer."""
    question = asked.question
    form = load(f"compose_{asked.understood.shape}", question.profile).template
    if asked.titles:
        form = f"{form.rstrip()}\n{videos_line(asked.titles).rstrip()}"
    form = "\n".join(filter(None, (form, language_line(asked.answer_language))))
    rules = load("compose_rules", question.profile).substitute(form=form)
    user = load("compose_question", question.profile).substitute(
        events=events, findings=findings, question=question.question, answer=as_data(answer.text)
    )
    return [Message("system", (rules,)), Message("user", (user,))]


def composing_schema(shape: Shape) -> dict[str, Any]:
    """Return the JSON schema of the composer's reply; every list and every text is bounded."""
    evidence = list_of({"type": "integer"}, MOST_CITED)
    if shape != "table":
        part = object_of({"text": text_of(PART_CHARACTERS), "evidence": evidence})
        return object_of({"parts": list_of(part, MOST_PARTS)}, title="composed")
    row = object_of({"cells": list_of(text_of(CELL_CHARACTERS), MOST_COLUMNS), "evidence": evidence})
    columns = list_of(text_of(40), MOST_COLUMNS)
    return object_of({"columns": columns, "parts": list_of(row, MOST_PARTS)}, title="composed")


def read_parts(text: str, shape: Shape, events: Mapping[int, StoredEvent], *, opening: str) -> Composed | None:
    """Return the parts of the composer's reply, whole ones only if it was cut off; None without a part that cites.

    events: those that were shown, by the number in "E<n>"; other numbers are dropped, and with them a part that cites
    nothing else. Steps and places of a count are put in order of time. opening: the answer of the vote, which stands
    before the places of a count.
    """
    whole = read_object(text)
    fields = whole or salvaged(text)
    rows = fields.get("parts")
    columns = _columns(fields.get("columns")) if shape == "table" else ()
    if not isinstance(rows, list) or (shape == "table" and not columns):
        return None
    parts = [part for row in rows[:MOST_PARTS] if (part := _part(row, columns, events))]
    kept = _once([part for part in parts if part.cited])
    if not kept:
        return None
    if shape in ("steps", "count"):
        places = {event.id: (event.video_id, event.span) for event in events.values()}
        kept.sort(key=lambda part: min(places[event_id] for event_id in part.cited))
    return Composed(
        shape,
        tuple(kept),
        columns,
        clean(opening) if shape == "count" else "",
        cut=whole is None,
        uncited=sum(not part.cited for part in parts),
    )


def _columns(value: object) -> tuple[str, ...]:
    names = [clean(name, limit=40) for name in value] if isinstance(value, list) else []
    return tuple(name for name in names if name)[:MOST_COLUMNS]


def _part(row: object, columns: Sequence[str], events: Mapping[int, StoredEvent]) -> ComposedPart | None:
    if not isinstance(row, dict):
        return None
    numbers = list(event_numbers(row.get("evidence")))
    if columns:
        raw = row.get("cells")
        written = [clean(cell, limit=CELL_CHARACTERS) for cell in raw] if isinstance(raw, list) else []
        cells = tuple(_unmarked(cell, numbers) for cell in [*written, *[""] * len(columns)][: len(columns)])
        text = row_text(columns, cells)
    else:
        cells, text = (), _unmarked(_BULLET.sub("", clean(row.get("text"), limit=PART_CHARACTERS)), numbers)
    if not plain(text):
        return None
    cited = dict.fromkeys(events[number].id for number in numbers if number in events)
    return ComposedPart(text, tuple(cited)[:MOST_CITED], cells)


def _unmarked(text: str, numbers: list[int]) -> str:
    """Return text without marks like [E3]; their numbers are added to numbers."""
    for marks in _MARKS.findall(text):
        numbers += event_numbers(re.sub("[Ee]", " ", marks))
    return _MARKS.sub("", text).strip()


def _once(parts: Sequence[ComposedPart]) -> list[ComposedPart]:
    """Return parts of equal words as one, with the events of all of them."""
    by_words: dict[str, ComposedPart] = {}
    for part in parts:
        words = plain(part.text)
        seen = by_words.get(words)
        cited: tuple[UUID, ...] = (*(seen.cited if seen else ()), *part.cited)
        by_words[words] = replace(seen or part, cited=tuple(dict.fromkeys(cited))[:MOST_CITED])
    return list(by_words.values())


# --- one revision of contradicted statements -----------------------------------------------------------------------

REVISE = "revise"
"""Stage of the call in the ledger, and of its time."""

REVISED_TOKENS = 120
"""Maximum tokens of one corrected statement with its numbers."""


def revised(
    asked: Asked, calls: Calls, node: AnswerNode, wrong: Mapping[int, CheckedStatement]
) -> dict[int, Statement]:
    """Return corrected statements by their index, in one call of the reasoner.

    wrong: contradicted statements by index, with the events that are cited for them; only these events are shown, and
    only they can be cited. A statement is missing if the model leaves it out, repeats it or cites no shown event for
    it, and all are missing if the call fails or may not be made. Raises neither Halt nor ModelError.
    """
    if calls.halted or not wrong:
        return {}
    reasoner, numbers = asked.models.reasoner, node.context.numbers
    shown = {event.id: event for event in node.context.events.values()}
    ids = list(dict.fromkeys(event_id for statement in wrong.values() for event_id in statement.statuses))
    most = REVISED_TOKENS * min(MOST_PARTS, len(wrong))
    empty = _revising_messages(asked, "", wrong)
    room = reasoner.context_tokens - most - count_prompt(reasoner.count_tokens, empty)
    context = event_context(
        ids,
        shown,
        (),
        count_tokens=reasoner.count_tokens,
        max_tokens=max(1, min(room, asked.settings.prompt.context_tokens)),
        least=len(ids),
        labels=EventLabels(numbers=numbers),
    )
    reply = calls.ask_once(
        _revising_messages(asked, context.text, wrong),
        stage=REVISE,
        schema=_revising_schema(),
        max_tokens=most,
        seed=asked.seed_of(REVISE),
        timed=REVISE,
    )
    if reply is None:
        return {}
    calls.on_progress(REVISE, 1, 1, f"{len(wrong)} statements")
    read = [_corrected(row, wrong, node) for row in rows_of(reply, "statements")]
    return dict(pair for pair in read if pair)


def _revising_messages(asked: Asked, events: str, wrong: Mapping[int, CheckedStatement]) -> list[Message]:
    lines = [f"{index + 1}. {as_data(statement.text)}" for index, statement in wrong.items()]
    prompt = load("compose_revise", asked.question.profile).substitute(
        question=asked.question.question, statements="\n".join(lines), events=events
    )
    return [Message("user", (prompt,))]


def _revising_schema() -> dict[str, Any]:
    statement = object_of(
        {
            "number": {"type": "integer"},
            "text": text_of(PART_CHARACTERS),
            "evidence": list_of({"type": "integer"}, MOST_CITED),
        }
    )
    return object_of({"statements": list_of(statement, MOST_PARTS)}, title="revised")


def _corrected(row: object, wrong: Mapping[int, CheckedStatement], node: AnswerNode) -> tuple[int, Statement] | None:
    if not isinstance(row, dict) or not isinstance(row.get("number"), int):
        return None
    index, text = row["number"] - 1, clean(row.get("text"), limit=PART_CHARACTERS)
    if index not in wrong or not plain(text) or plain(text) == plain(wrong[index].text):
        return None
    named = [node.context.events[n].id for n in event_numbers(row.get("evidence")) if n in node.context.events]
    cited = tuple(event_id for event_id in dict.fromkeys(named) if event_id in wrong[index].statuses)
    return (index, Statement(text, cited)) if cited else None


# --- a text in parts, and its Markdown -------------------------------------------------------------------------------


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

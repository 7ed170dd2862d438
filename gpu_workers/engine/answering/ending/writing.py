"""What the composer is asked, and how its reply is read: parts in words, each with the numbers of its events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.ending.composed import Composed, Part, row_text
from gpu_workers.engine.answering.parsing import ParsedAnswer, event_numbers
from gpu_workers.engine.answering.titles import videos_line
from gpu_workers.engine.answering.understood import Shape
from gpu_workers.engine.answering.wording import as_data, language_line
from gpu_workers.engine.answering.words import plain
from gpu_workers.engine.models.roles import Message
from gpu_workers.engine.models.served.json_text import read_object, salvaged
from gpu_workers.engine.models.served.structured import clean, list_of, object_of, text_of
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.prompts import load

COMPOSE_PROMPTS = frozenset(
    {"compose_rules", "compose_question", "compose_revise"}
    | {f"compose_{shape}" for shape in ("list", "steps", "table", "count", "summary")}
)

MOST_PARTS = 20
"""Maximum number of parts of a text."""

PART_CHARACTERS = 300
CELL_CHARACTERS = 120
MOST_COLUMNS = 6
MOST_CITED = 4
"""Maximum number of events of one part."""

_MARKS = re.compile(r"\s*[\[(]((?:\s*E\d{1,6}\s*[,;&]?(?:\s*and)?)+)[\])]", re.IGNORECASE)
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


def _part(row: object, columns: Sequence[str], events: Mapping[int, StoredEvent]) -> Part | None:
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
    return Part(text, tuple(cited)[:MOST_CITED], cells)


def _unmarked(text: str, numbers: list[int]) -> str:
    """Return text without marks like [E3]; their numbers are added to numbers."""
    for marks in _MARKS.findall(text):
        numbers += event_numbers(re.sub("[Ee]", " ", marks))
    return _MARKS.sub("", text).strip()


def _once(parts: Sequence[Part]) -> list[Part]:
    """Return parts of equal words as one, with the events of all of them."""
    by_words: dict[str, Part] = {}
    for part in parts:
        words = plain(part.text)
        seen = by_words.get(words)
        cited: tuple[UUID, ...] = (*(seen.cited if seen else ()), *part.cited)
        by_words[words] = replace(seen or part, cited=tuple(dict.fromkeys(cited))[:MOST_CITED])
    return list(by_words.values())

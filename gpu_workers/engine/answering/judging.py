"""One question to the reasoner about a list of texts: which fit a phrase, and of which a statement is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import cut, event_text
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import Message, Meter, Sample
from gpu_workers.engine.models.served.json_text import read_object, salvaged
from gpu_workers.engine.models.served.structured import list_of, object_of
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.prompts import load

EVENT_TOKENS = 80
"""Maximum tokens of an event in such a list."""

NUMBER_TOKENS = 6
"""Tokens of one number in the answer, with its comma."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts about events. Events in neither set were given none, or both. error: "" or a stable code."""

    true: frozenset[UUID] = frozenset()
    false: frozenset[UUID] = frozenset()
    error: str = ""


def judge_events(
    asked: Asked, calls: Calls, events: Sequence[StoredEvent], statement: str, *, stage: str, meter: Meter
) -> Judged:
    """Return of which events the statement is true, in one call. Raises Halt, ModelError."""
    if not events:
        return Judged()
    prompt = judge_prompt(asked, events, statement)
    schema = object_of({"true": _numbers(len(events)), "false": _numbers(len(events))})
    sample = _asked(asked, calls, prompt, schema, stage=stage, meter=meter, most=len(events))
    if sample.refused:
        return Judged(error="model_refused")
    fields = _fields(sample)
    if fields is None or not ({"true", "false"} & fields.keys()):
        return Judged(error="unreadable")
    true, false = (set(_read(fields.get(name), len(events))) for name in ("true", "false"))
    return Judged(frozenset(events[n].id for n in true - false), frozenset(events[n].id for n in false - true))


def judge_prompt(asked: Asked, events: Sequence[StoredEvent], statement: str) -> str:
    """Return the prompt of judge_events(), each event cut to EVENT_TOKENS."""
    count = asked.models.reasoner.count_tokens
    texts = [
        text if count(text := event_text(event)) <= EVENT_TOKENS else cut(text, count, EVENT_TOKENS) for event in events
    ]
    return load("judge_events", asked.question.profile).substitute(events=numbered(texts), statement=as_data(statement))


def rank_texts(asked: Asked, calls: Calls, texts: Sequence[str], phrase: str, *, meter: Meter) -> list[int] | None:
    """Return the indices of the texts that fit the phrase, best first, in one call; None if nothing could be read.

    texts: as data, a line each. Raises Halt, ModelError.
    """
    prompt = load("rank_texts", asked.question.profile).substitute(events=numbered(texts), phrase=as_data(phrase))
    schema = object_of({"fits": _numbers(len(texts))})
    sample = _asked(asked, calls, prompt, schema, stage="rank", meter=meter, most=len(texts))
    fields = _fields(sample)
    if sample.refused or fields is None or "fits" not in fields:
        return None
    return _read(fields["fits"], len(texts))


def numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def _asked(
    asked: Asked, calls: Calls, prompt: str, schema: dict[str, Any], *, stage: str, meter: Meter, most: int
) -> Sample:
    return calls.ask(
        [Message("user", (prompt,))],
        stage=stage,
        meter=meter,
        schema=schema,
        max_tokens=40 + NUMBER_TOKENS * most,
        seed=asked.seed_of(stage),
    )[0]


def _numbers(most: int) -> dict[str, Any]:
    return list_of({"type": "integer"}, most)


def _fields(sample: Sample) -> dict[str, Any] | None:
    try:
        return read_object(sample.text) or (salvaged(sample.text) or None)
    except RecursionError:
        return None


def _read(value: object, most: int) -> list[int]:
    """Return the numbers of a list as indices, each once; other items are dropped."""
    items = value if isinstance(value, list) else []
    numbers = [item for item in items if isinstance(item, int) and not isinstance(item, bool)]
    return [number - 1 for number in dict.fromkeys(numbers) if 1 <= number <= most]

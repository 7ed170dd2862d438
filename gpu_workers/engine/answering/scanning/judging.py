"""Questions to the reasoner about texts: which of a list fit a phrase, and of which events a statement is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import event_text, fitted
from gpu_workers.engine.answering.parsing import ALTERNATIVES, indices_of, log_odds
from gpu_workers.engine.answering.scan_price import EVENT_TOKENS, NUMBER_TOKENS
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import Message, Meter, Sample
from gpu_workers.engine.models.served.json_text import read_object, salvaged
from gpu_workers.engine.models.served.structured import list_of, object_of
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.prompts import load

YES_FROM = -0.3
"""Log-odds of yes from which a small reasoner means that a statement is true of an event. The value of the embedded
reasoner on 18 statements about the tape of seed 0: of 125 true events it accepts 108, and of 91 others 6."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts about events. Events in no set were given no verdict, or two. denied: events that say that the
    statement is not true, where both sides are asked for. error: "" or a stable code."""

    true: frozenset[UUID] = frozenset()
    false: frozenset[UUID] = frozenset()
    denied: frozenset[UUID] = frozenset()
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
    true, false = (set(indices_of(fields.get(name), len(events))) for name in ("true", "false"))
    return Judged(frozenset(events[n].id for n in true - false), frozenset(events[n].id for n in false - true))


def judge_both_sides(
    asked: Asked, calls: Calls, events: Sequence[StoredEvent], statement: str, *, stage: str, meter: Meter
) -> Judged:
    """Return of which events the statement is true, and which deny it, in one call. Raises Halt, ModelError."""
    prompt = judge_prompt(asked, events, statement, both_sides=True)
    names = ("true", "denied", "silent")
    schema = object_of({name: _numbers(len(events)) for name in names})
    sample = _asked(asked, calls, prompt, schema, stage=stage, meter=meter, most=len(events))
    if sample.refused:
        return Judged(error="model_refused")
    fields = _fields(sample)
    if fields is None or not set(names) & fields.keys():
        return Judged(error="unreadable")
    true, denied, silent = (set(indices_of(fields.get(name), len(events))) for name in names)

    def only(own: set[int], *others: set[int]) -> frozenset[UUID]:
        return frozenset(events[n].id for n in own.difference(*others))

    return Judged(only(true, denied, silent), only(silent, true, denied), only(denied, true, silent))


def judge_prompt(asked: Asked, events: Sequence[StoredEvent], statement: str, *, both_sides: bool = False) -> str:
    """Return the prompt of judge_events() or judge_both_sides(), each event cut to EVENT_TOKENS."""
    texts = [_short(asked, event) for event in events]
    prompt = load("judge_both_sides" if both_sides else "judge_events", asked.question.profile)
    return prompt.substitute(events=numbered(texts), statement=as_data(statement))


def judge_event(asked: Asked, calls: Calls, event: StoredEvent, statement: str, *, stage: str, meter: Meter) -> Judged:
    """Return whether the statement is true of the event, by the odds of yes in one short call. Raises Halt, ModelError.

    In lists a small reasoner says yes to four times as many events as it should. Asked about one event, it gives the
    right ones higher odds than the others, though often below even: see YES_FROM.
    """
    sample = calls.ask(
        [Message("user", (judge_event_prompt(asked, event, statement),))],
        stage=stage,
        meter=meter,
        max_tokens=1,
        alternatives=ALTERNATIVES,
        seed=asked.seed_of(stage),
    )[0]
    if sample.refused:
        return Judged(error="model_refused")
    odds = log_odds(sample.first)
    if odds is None:
        return Judged(error="unreadable")
    one = frozenset({event.id})
    return Judged(true=one) if odds >= YES_FROM else Judged(false=one)


def judge_event_prompt(asked: Asked, event: StoredEvent, statement: str) -> str:
    """Return the prompt of judge_event(), the event cut to EVENT_TOKENS."""
    filled = load("judge_event", asked.question.profile)
    return filled.substitute(event=_short(asked, event), statement=as_data(statement))


def _short(asked: Asked, event: StoredEvent) -> str:
    text, count = event_text(event), asked.models.reasoner.count_tokens
    return fitted(text, count, EVENT_TOKENS)


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
    return indices_of(fields["fits"], len(texts))


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

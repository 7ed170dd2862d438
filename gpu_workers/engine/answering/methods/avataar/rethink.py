"""Rethinking: whether an answer stands, and if not, what the next round should do (AVATAAR, section III-B3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_workers.engine.answering.agent.tools.contract import Tool
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.contract import INSUFFICIENT
from gpu_workers.engine.answering.methods.avataar.thinking import fitting, in_words, question_fields
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.models.served.structured import object_of, storable
from gpu_workers.engine.prompts import load

RETHINK_TOKENS = 300
INSTRUCTION_CHARACTERS = 300
REASONING_CHARACTERS = 600
FOUND_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Rethought:
    """A judgement. instruction: for the next round, "" if there is nothing to do."""

    sufficient: bool
    diagnosis: str
    instruction: str


def rethink(
    desk: Desk,
    known: Sequence[str],
    found: Sequence[str],
    tools: Sequence[Tool],
    answer: ParsedAnswer | None,
    doubt: str,
) -> Rethought | None:
    """Return the judgement of an answer, None if the reply cannot be read. Raises Halt, ModelError.

    known: G. found: what was done and found, a line each. doubt: why the answer is judged at all.
    """
    question = desk.asked.question
    rules = load("rethink_rules", question.profile).substitute(functions=in_words(desk, tools))
    fields = question_fields(desk) | {
        "found": "\n".join(found)[:FOUND_CHARACTERS] or "nothing",
        "answer": as_data(answer.text) if answer is not None and answer.sufficient else INSUFFICIENT,
        "reasoning": as_data(answer.reasoning)[:REASONING_CHARACTERS] if answer is not None else "none",
        "doubt": doubt,
    }
    schema = object_of(
        {"sufficient": {"type": "boolean"}, "diagnosis": {"type": "string"}, "instruction": {"type": "string"}}
    )
    sample = desk.calls.ask(
        fitting(desk, rules, "rethink_view", fields, known, RETHINK_TOKENS),
        stage="rethink",
        meter=desk.meter,
        schema=schema,
        max_tokens=RETHINK_TOKENS,
        seed=desk.asked.seed_of(desk.path),
    )[0]
    return read_rethought(sample.text)


def read_rethought(text: str) -> Rethought | None:
    """Return the judgement in a reply; None without one."""
    fields = read_object(text)
    if fields is None or not {"sufficient", "instruction"} & set(fields):
        return None
    said = fields.get("sufficient")
    sufficient = said if isinstance(said, bool) else str(said).strip().lower() in ("true", "yes")
    return Rethought(sufficient, _words(fields.get("diagnosis")), _words(fields.get("instruction")))


def _words(value: object) -> str:
    return as_data(storable(value))[:INSTRUCTION_CHARACTERS] if isinstance(value, str) else ""

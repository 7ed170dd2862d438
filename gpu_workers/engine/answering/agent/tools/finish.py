"""The tool `finish`: the answer that ends a loop, and how it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpu_workers.engine.answering.agent.tool import BadArguments, Numbers, Observation, Tool, YesNo
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.contract import INSUFFICIENT
from gpu_workers.engine.answering.parsing import ParsedAnswer, letter, parse_answer

FINISH = "finish"
EVIDENCE = 8
"""Maximum number of events that an answer names."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The answer of a question with these choices, read as a ParsedAnswer. abstain: whether it may be "insufficient".
    An open answer is text."""

    choices: tuple[str, ...]
    abstain: bool

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        if not self.choices:
            return {"type": "string"}
        letters = [letter(index) for index in range(len(self.choices))]
        return {"type": "string", "enum": [*letters, INSUFFICIENT] if self.abstain else letters}

    def read(self, value: Any, *, videos: int = 1) -> ParsedAnswer:
        parsed = parse_answer(json.dumps({"answer": value}), self.choices)
        if parsed is None or (not parsed.sufficient and self.choices and not self.abstain):
            raise BadArguments(self.wording())
        return parsed

    def wording(self, *, videos: int = 1) -> str:
        if not self.choices:
            return "a short, direct answer in one sentence"
        last = letter(len(self.choices) - 1)
        return f"a letter from A to {last}{f', or {INSUFFICIENT}' if self.abstain else ''}"


def finish_tool(choices: Sequence[str], *, abstain: bool) -> Tool:
    """Return `finish` for a question with these choices."""
    return Tool(
        FINISH,
        "Give the answer. sufficient: whether what was seen decides it. evidence: numbers of the events that show it.",
        {"answer": GivenAnswer(tuple(choices), abstain), "sufficient": YesNo(), "evidence": Numbers(EVIDENCE)},
        frozenset(),
        1,
        lambda toolbox, arguments: Observation("The answer was given."),
    )


def proposed_answer(toolbox: Toolbox, arguments: Mapping[str, Any], thought: str) -> ParsedAnswer:
    """Return the answer of a call of `finish`, as read. It cites events that were shown, and no others. An answer that
    nothing decides is an abstention, if the question may be abstained from."""
    answer: ParsedAnswer = arguments["answer"]
    cited = tuple(number for number in arguments["evidence"] if number in toolbox.evidence.events)
    if not arguments["sufficient"] and toolbox.asked.settings.samples.abstain:
        return ParsedAnswer(INSUFFICIENT, None, sufficient=False, reasoning=thought)
    return replace(answer, reasoning=thought, cited=cited)


def answer_of_prose(text: str, choices: Sequence[str]) -> dict[str, Any] | None:
    """Return the arguments of `finish` that a reply in prose gives; None if no choice can be read from it."""
    parsed = parse_answer(text, choices) if choices else None
    if parsed is None:
        return None
    answer = INSUFFICIENT if parsed.choice is None else letter(parsed.choice)
    return {"answer": answer, "sufficient": parsed.sufficient, "evidence": list(parsed.cited)}

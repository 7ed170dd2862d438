"""The calls that a reasoner writes: their schema, how a reply is read, when two calls are the same, and `finish`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpu_workers.engine.answering.agent.tool import (
    BadArguments,
    Millis,
    Numbers,
    Observation,
    Spans,
    Tool,
    YesNo,
    call_schema,
)
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.contract import INSUFFICIENT
from gpu_workers.engine.answering.parsing import ParsedAnswer, letter, parse_answer
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import CHUNK_MS, Span
from gpu_workers.engine.models.served.structured import object_of, read_object, storable

THOUGHT_CHARACTERS = 1_000


ARGUMENT_CHARACTERS = 1_000


"""Maximum length of a text in a stored argument."""


UNREADABLE, UNKNOWN = "unreadable", "unknown"


"""Actions of a step without a call, and of one that calls what is no tool."""


_TOOL_KEYS = ("tool", "name", "function", "action")


_ARGUMENTS = ("arguments", "args", "parameters", "input", "action_input")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a reasoner wants to make. arguments: as it wrote them."""

    tool: str
    arguments: Mapping[str, Any]
    thought: str = ""

    def kept(self) -> dict[str, Any]:
        """Return the arguments as they may be stored: whole texts up to a length, no value that JSON lacks."""
        return {_words(name, 40): _kept(value) for name, value in list(self.arguments.items())[:12]}


def step_schema(tools: Sequence[Tool], *, videos: int) -> dict[str, Any]:
    """Return the JSON schema of a step: a thought, then a call of one of the tools.

    Its root is an object, since OpenAI refuses anyOf there; everything is required, since llama.cpp writes required
    properties first, and the thought must precede the call.
    """
    calls = [call_schema(tool, videos=videos) for tool in tools]
    return object_of({"thought": {"type": "string"}, "call": {"anyOf": calls}})


def read_step(text: str) -> ToolCall | None:
    """Return the call in a reply, also of a server that keeps to no schema; None if there is none.

    Read are a call inside "call" or at the top, its name under tool, name, function or action, its arguments next to
    the name or in an object (or its text) of their own, and a bare answer as a call of `finish`.
    """
    fields = read_object(text)
    if fields is None:
        return None
    thought = fields.get("thought", fields.get("reasoning"))
    call = fields.get("call")
    if not isinstance(call, Mapping):
        call = {**fields, "tool": call} if isinstance(call, str) else fields
    name = next((call[key] for key in _TOOL_KEYS if isinstance(call.get(key), str)), None)
    if name is None:
        if "answer" not in call:
            return None
        call = {"sufficient": True, "evidence": [], **call}
        name = FINISH
    given: dict[str, Any] = {key: value for key, value in call.items() if key not in (*_TOOL_KEYS, *_ARGUMENTS)}
    for key in _ARGUMENTS:
        nested = call.get(key)
        if isinstance(nested, str):
            nested = read_object(nested)
        if isinstance(nested, Mapping):
            given |= nested
    return ToolCall(_words(name, 40), given, as_data(str(thought or ""))[:THOUGHT_CHARACTERS])


def call_key(tool: Tool, values: Mapping[str, Any]) -> str:
    """Return what is equal for two calls that would show the same: times count by the chunks that they touch."""
    parts: list[Any] = [tool.name]
    for name, value in values.items():
        kind = tool.arguments[name]
        if isinstance(kind, Millis) and name.startswith("start"):
            parts.append(value // CHUNK_MS)
        elif isinstance(kind, Millis) and name.startswith("end"):
            parts.append(-(-value // CHUNK_MS))
        elif isinstance(kind, Spans):
            parts.append(sorted((video, *_chunks(span)) for video, span in value))
        else:
            parts.append(" ".join(value.split()) if isinstance(value, str) else value)
    return json.dumps(parts, default=str)


def in_brief(step: ToolCall, labels: str) -> str:
    """Return a call and the numbers of what it showed, on a line: for a conversation that must be shorter."""
    arguments = ", ".join(json.dumps(value, ensure_ascii=False)[:80] for value in step.kept().values())
    return f"{step.tool}({arguments}): {labels or 'nothing'}"


def _chunks(span: Span) -> tuple[int, int]:
    return span.start_ms // CHUNK_MS, -(-span.end_ms // CHUNK_MS)


def _kept(value: Any, depth: int = 3) -> Any:
    if isinstance(value, str):
        return storable(value)[:ARGUMENT_CHARACTERS]
    if isinstance(value, Mapping) and depth:
        return {_words(str(key), 40): _kept(item, depth - 1) for key, item in list(value.items())[:12]}
    if isinstance(value, (list, tuple)) and depth:
        return [_kept(item, depth - 1) for item in value[:16]]
    if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < 2**53):
        return value
    return str(value)[:ARGUMENT_CHARACTERS]


def _words(text: str, most: int) -> str:
    return as_data(text)[:most]


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

"""The steps of a loop: what may be called, how a reply is read, when two calls are the same, how the loop ends."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_workers.engine.answering.agent.tools.contract import Millis, Observation, Spans, Tool, call_schema
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.tools.finishing import FINISH
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.contract import DETAIL_CHARACTERS, INSUFFICIENT, NodeEvent, NodeRecord
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import CHUNK_MS, Span
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.models.served.structured import object_of, storable

THOUGHT_CHARACTERS = 1_000
ARGUMENT_CHARACTERS = 1_000
"""Maximum length of a text in a stored argument."""

UNREADABLE, UNKNOWN = "unreadable", "unknown"
"""Actions of a step without a call, and of one that calls what is no tool."""

_NAMES = ("tool", "name", "function", "action")
_ARGUMENTS = ("arguments", "args", "parameters", "input", "action_input")


@dataclass(frozen=True, slots=True)
class Step:
    """A call that a reasoner wants to make. arguments: as it wrote them."""

    tool: str
    arguments: Mapping[str, Any]
    thought: str = ""

    def kept(self) -> dict[str, Any]:
        """Return the arguments as they may be stored: whole texts up to a length, no value that JSON lacks."""
        return {_words(name, 40): _kept(value) for name, value in list(self.arguments.items())[:12]}


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """How a loop ended. finish: the arguments of `finish` as read (answer, sufficient, evidence), None without one.
    proposed: the same as an answer to the question. forced: why only `finish` was offered in the end, "" if the
    reasoner chose to finish. halt, error: what ended the loop early."""

    finish: Mapping[str, Any] | None
    records: tuple[NodeRecord, ...]
    forced: str = ""
    halt: Halt | None = None
    error: ModelError | None = None
    proposed: ParsedAnswer | None = None


def step_schema(tools: Sequence[Tool], *, videos: int) -> dict[str, Any]:
    """Return the JSON schema of a step: a thought, then a call of one of the tools.

    Its root is an object, since OpenAI refuses anyOf there; everything is required, since llama.cpp writes required
    properties first, and the thought must precede the call.
    """
    calls = [call_schema(tool, videos=videos) for tool in tools]
    return object_of({"thought": {"type": "string"}, "call": {"anyOf": calls}})


def read_step(text: str) -> Step | None:
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
    name = next((call[key] for key in _NAMES if isinstance(call.get(key), str)), None)
    if name is None:
        if "answer" not in call:
            return None
        call = {"sufficient": True, "evidence": [], **call}
        name = FINISH
    given: dict[str, Any] = {key: value for key, value in call.items() if key not in (*_NAMES, *_ARGUMENTS)}
    for key in _ARGUMENTS:
        nested = call.get(key)
        if isinstance(nested, str):
            nested = read_object(nested)
        if isinstance(nested, Mapping):
            given |= nested
    return Step(_words(name, 40), given, as_data(str(thought or ""))[:THOUGHT_CHARACTERS])


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


def step_record(
    desk: Desk, step: Step, observation: Observation, *, answer: ParsedAnswer | None, forced: str, started_ms: int
) -> NodeRecord:
    """Return the record of a step that ends now. answer: that of a step which finishes. The record has it as its own
    only if it answers the question itself, and not one inside another step.
    """
    sightings, spent, inner = desk.sightings, desk.meter.calls, "/" in desk.path
    shown = [sightings.events[number].id for number in answer.cited] if answer else observation.events
    return NodeRecord(
        path=desk.path,
        depth=desk.path.count("/") + 1,
        action=step.tool,
        events=tuple(
            NodeEvent(event_id, rank, 0.0, sightings.numbers.get(event_id))
            for rank, event_id in enumerate(dict.fromkeys(shown), start=1)
        ),
        answer=None if answer is None or inner else answer.text if answer.sufficient else INSUFFICIENT,
        error=observation.error,
        frames_used=len(observation.frames),
        frames_available=len(observation.frames),
        started_ms=started_ms,
        wall_ms=desk.calls.spending.elapsed_ms() - started_ms,
        prompt_tokens=sum(call.prompt_tokens for call in spent),
        completion_tokens=sum(call.completion_tokens for call in spent),
        detail={
            "tool": step.tool,
            "arguments": step.kept(),
            "observation": observation.text[:DETAIL_CHARACTERS],
            "thought": step.thought,
            "forced": forced,
            "error": observation.error,
        },
    )


def in_brief(step: Step, names: Collection[str]) -> str:
    """Return a call and the numbers of what it showed, on a line: for a conversation that must be shorter."""
    arguments = ", ".join(json.dumps(value, ensure_ascii=False)[:80] for value in step.kept().values())
    return f"{step.tool}({arguments}): {' '.join(names) or 'nothing'}"


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

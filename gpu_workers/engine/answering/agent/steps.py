"""The steps of a method: what a loop may call, how a reply is read, when two calls are the same; and their records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.tool import Millis, Observation, Spans, Tool, call_schema
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.agent.tools.finish import FINISH
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.contract import DETAIL_CHARACTERS, INSUFFICIENT, NodeEvent, NodeRecord
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import CHUNK_MS, Span
from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.models.served.structured import object_of, storable
from gpu_workers.engine.ports import StoredEvent

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


def step_record(
    toolbox: Toolbox,
    step: ToolCall,
    observation: Observation,
    *,
    answer: ParsedAnswer | None,
    forced: str,
    began_ms: int,
) -> NodeRecord:
    """Return the record of a step that ends now. answer: that of a step which finishes. The record has it as its own
    only if it answers the question itself, and not one inside another step.
    """
    log, inner = toolbox.evidence, "/" in toolbox.path
    shown = [log.events[number].id for number in answer.cited] if answer else observation.events
    return NodeRecord(
        path=toolbox.path,
        depth=toolbox.path.count("/") + 1,
        action=step.tool,
        events=events_of_step(toolbox, shown),
        answer=None if answer is None or inner else answer.text if answer.sufficient else INSUFFICIENT,
        error=observation.error,
        frames_used=len(observation.frames),
        frames_available=len(observation.frames),
        started_ms=began_ms,
        wall_ms=toolbox.calls.spending.elapsed_ms() - began_ms,
        detail=step_detail(step.tool, step.kept(), observation.text, observation.error)
        | {"thought": step.thought, "forced": forced},
        **tokens_of(toolbox.meter),
    )


def events_of_step(toolbox: Toolbox, event_ids: Iterable[UUID]) -> tuple[NodeEvent, ...]:
    """Return the events that a step showed, each once, with the numbers that the question knows them by."""
    numbers = toolbox.evidence.numbers
    ranked = enumerate(dict.fromkeys(event_ids), start=1)
    return tuple(NodeEvent(event_id, rank, 0.0, numbers.get(event_id)) for rank, event_id in ranked)


def step_detail(tool: str, arguments: Mapping[str, Any], observation: str, error: str) -> dict[str, Any]:
    """Return NodeRecord.detail of a step that nothing forced."""
    return {
        "tool": tool,
        "arguments": dict(arguments),
        "observation": observation[:DETAIL_CHARACTERS],
        "forced": "",
        "error": error,
    }


def tokens_of(meter: Meter) -> dict[str, Any]:
    """Return the tokens that were metered, as fields of a NodeRecord."""
    return {
        "prompt_tokens": sum(call.prompt_tokens for call in meter.calls),
        "completion_tokens": sum(call.completion_tokens for call in meter.calls),
    }


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


@dataclass(slots=True)
class RecordedStep:
    """A step as it is made. path: S01 and so on. observation: what came out, in words. events: those it showed. node:
    the answer that it drew. frames: number of frames it showed."""

    path: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    observation: str = ""
    error: str = ""
    events: Sequence[StoredEvent] = ()
    node: AnswerNode | None = None
    frames: int = 0


class StepRecorder:
    """Records the steps of a method that follows a fixed course, as flat nodes of its trace. total: number of steps
    that a full course has, for progress."""

    def __init__(self, toolbox: Toolbox, *, total: int) -> None:
        self._toolbox = toolbox
        self._total = total
        self.records: list[NodeRecord] = []
        self.error: ModelError | None = None

    @contextmanager
    def course(self) -> Iterator[None]:
        """End the course at a Halt, which is recorded on the calls, or at a ModelError, which is kept in error."""
        try:
            yield
        except Halt as halt:
            self._toolbox.calls.halt(halt)
        except ModelError as error:
            self.error = error

    @contextmanager
    def step(self, action: str, **arguments: Any) -> Iterator[RecordedStep]:
        """Make a step: its model calls are metered by toolbox.meter. It is recorded also if it raises.

        action: at most 32 characters. arguments: JSON-serialisable, for NodeRecord.detail.
        """
        toolbox, began = self._toolbox, self._toolbox.calls.spending.elapsed_ms()
        outer, outer_path = toolbox.meter, toolbox.path
        toolbox.meter = meter = BranchMeter(toolbox.calls.meter)
        step = RecordedStep(f"S{len(self.records) + 1:02}", arguments)
        toolbox.path = step.path
        try:
            yield step
        except (Halt, ModelError) as error:
            step.error = error.code
            raise
        finally:
            toolbox.meter, toolbox.path = outer, outer_path
            self._record(action, step, meter, began)
            toolbox.calls.on_progress("search", len(self.records), max(self._total, len(self.records)), action)

    def _record(self, action: str, step: RecordedStep, meter: BranchMeter, began: int) -> None:
        shown = events_of_step(self._toolbox, [event.id for event in step.events])
        record = NodeRecord(step.path, 1, action, events=shown)
        if step.node is not None:
            record = replace(node_record(step.node), path=step.path, depth=1, action=action)
        error = step.error or record.error
        tokens = tokens_of(meter)
        self.records.append(
            replace(
                record,
                error=error,
                frames_used=step.frames,
                frames_available=step.frames,
                started_ms=began,
                wall_ms=self._toolbox.calls.spending.elapsed_ms() - began,
                prompt_tokens=record.prompt_tokens + tokens["prompt_tokens"],
                completion_tokens=record.completion_tokens + tokens["completion_tokens"],
                detail=step_detail(action, step.arguments, step.observation, error),
            )
        )

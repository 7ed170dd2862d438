"""The records of a method's steps, as flat nodes of its trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.tool import Observation
from gpu_workers.engine.answering.agent.tool_calls import ToolCall
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.contract import DETAIL_CHARACTERS, INSUFFICIENT, NodeEvent, NodeRecord
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record
from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.engine.ports import StoredEvent


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

"""The records of a method's steps, as nodes of its trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.contract import DETAIL_CHARACTERS, NodeEvent, NodeRecord
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record
from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.engine.ports import StoredEvent


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
    """A step as it is made. path: S01 and so on. action: at most 32 characters. arguments: JSON-serialisable.
    observation: what came out, in words. events: those it showed. node: the answer that it drew. frames: number of
    frames it showed."""

    path: str
    action: str
    began_ms: int
    arguments: Mapping[str, Any] = field(default_factory=dict)
    observation: str = ""
    error: str = ""
    events: Sequence[StoredEvent] = ()
    node: AnswerNode | None = None
    frames: int = 0


def step_record(toolbox: Toolbox, step: RecordedStep) -> NodeRecord:
    """Return the record of a step that ends now, with the tokens of toolbox.meter."""
    numbers, ids = toolbox.evidence.numbers, dict.fromkeys(event.id for event in step.events)
    shown = tuple(NodeEvent(event_id, rank, 0.0, numbers.get(event_id)) for rank, event_id in enumerate(ids, start=1))
    record = node_record(step.node) if step.node is not None else NodeRecord("", 1, step.action, events=shown)
    error, tokens = step.error or record.error, tokens_of(toolbox.meter)
    return replace(
        record,
        path=step.path,
        depth=step.path.count("/") + 1,
        action=step.action,
        error=error,
        frames_used=step.frames,
        frames_available=step.frames,
        started_ms=step.began_ms,
        wall_ms=toolbox.calls.spending.elapsed_ms() - step.began_ms,
        prompt_tokens=record.prompt_tokens + tokens["prompt_tokens"],
        completion_tokens=record.completion_tokens + tokens["completion_tokens"],
        detail=step_detail(step.action, step.arguments, step.observation, error),
    )


class StepRecorder:
    """Records the steps of a method that follows a fixed course. total: number of steps that a full course has, for
    progress. error: the ModelError that ended the course."""

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
        """Make a step: its model calls are metered by toolbox.meter. It is recorded also if it raises."""
        toolbox = self._toolbox
        path = f"S{len(self.records) + 1:02}"
        step = RecordedStep(path, action, toolbox.calls.spending.elapsed_ms(), arguments)
        outer_meter, outer_path = toolbox.meter, toolbox.path
        toolbox.meter, toolbox.path = BranchMeter(toolbox.calls.meter), path
        try:
            yield step
        except (Halt, ModelError) as error:
            step.error = error.code
            raise
        finally:
            self.records.append(step_record(toolbox, step))
            toolbox.meter, toolbox.path = outer_meter, outer_path
            toolbox.calls.on_progress("search", len(self.records), max(self._total, len(self.records)), action)
            toolbox.calls.on_nodes(tuple(self.records))

"""The steps of a method that follows a fixed course, as flat nodes of its trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.contract import DETAIL_CHARACTERS, NodeEvent, NodeRecord
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import StoredEvent


@dataclass(slots=True)
class Step:
    """A step as it is made. path: S01 and so on. observation: what came out, in words. events: those it showed. node:
    the answer that it drew. frames: number of frames it showed."""

    path: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    observation: str = ""
    error: str = ""
    events: Sequence[StoredEvent] = ()
    node: AnswerNode | None = None
    frames: int = 0


class Trail:
    """Records the steps of one question. total: number of steps that a full course has, for progress."""

    def __init__(self, desk: Desk, *, total: int) -> None:
        self._desk = desk
        self._total = total
        self.records: list[NodeRecord] = []

    @contextmanager
    def step(self, action: str, **arguments: Any) -> Iterator[Step]:
        """Make a step: its model calls are metered by desk.meter. It is recorded also if it raises.

        action: at most 32 characters. arguments: JSON-serialisable, for NodeRecord.detail.
        """
        desk, began = self._desk, self._desk.calls.spending.elapsed_ms()
        outer, outer_path = desk.meter, desk.path
        desk.meter = meter = BranchMeter(desk.calls.meter)
        step = Step(f"S{len(self.records) + 1:02}", arguments)
        desk.path = step.path
        try:
            yield step
        except (Halt, ModelError) as error:
            step.error = error.code
            raise
        finally:
            desk.meter, desk.path = outer, outer_path
            self._record(action, step, meter, began)
            desk.calls.on_progress("search", len(self.records), max(self._total, len(self.records)), action)

    def _record(self, action: str, step: Step, meter: BranchMeter, began: int) -> None:
        numbers = self._desk.sightings.numbers
        record = NodeRecord(
            path=step.path,
            depth=1,
            action=action,
            events=tuple(
                NodeEvent(event.id, rank, 0.0, numbers.get(event.id))
                for rank, event in enumerate({event.id: event for event in step.events}.values(), start=1)
            ),
        )
        tokens = (sum(c.prompt_tokens for c in meter.calls), sum(c.completion_tokens for c in meter.calls))
        if step.node is not None:
            record = replace(node_record(step.node), path=step.path, depth=1, action=action)
            tokens = (tokens[0] + record.prompt_tokens, tokens[1] + record.completion_tokens)
        error = step.error or record.error
        self.records.append(
            replace(
                record,
                error=error,
                frames_used=step.frames,
                frames_available=step.frames,
                started_ms=began,
                wall_ms=self._desk.calls.spending.elapsed_ms() - began,
                prompt_tokens=tokens[0],
                completion_tokens=tokens[1],
                detail={
                    "tool": action,
                    "arguments": dict(step.arguments),
                    "observation": step.observation[:DETAIL_CHARACTERS],
                    "forced": "",
                    "error": error,
                },
            )
        )

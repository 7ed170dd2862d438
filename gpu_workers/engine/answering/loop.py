"""The loop in which a reasoner uses tools: one call a step, in a conversation that only grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.contract import NodeRecord
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.tools.contract import Tool
from gpu_workers.engine.answering.tools.desk import Desk
from gpu_workers.engine.models.roles import ModelError

LOOP_PROMPTS = frozenset({"loop_rules", "loop_opening"})


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


def run_loop(
    desk: Desk,
    tools: Sequence[Tool],
    *,
    rules: str,
    opening: str,
    steps: int,
    stage: str,
    path: str = "",
    least_evidence: bool = True,
) -> LoopEnd:
    """Let the reasoner call tools until it finishes, in at most `steps` requests. Raises neither Halt nor ModelError.

    tools: most important first; `finish` is added. Those whose needs are missing are not offered. rules: what this
    method asks of the reasoner, after the rules of every loop. opening: what it reads next to the question and its
    choices, every text of a video in it through as_data. stage: of the model calls. path: of the step that runs this
    loop inside another one. least_evidence: refuse, once, a first step that finishes without evidence.
    """
    raise NotImplementedError

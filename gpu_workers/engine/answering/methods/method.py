"""What an answering method is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from gpu_workers.engine.answering.agent.toolbox import Artifact
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer, Effort

TypicalCalls = Mapping[Effort, tuple[int, int]]
"""Fewest and most model calls of a typical question, by effort. Embeddings and the checks of citations are left out."""


class Method(Protocol):
    """A way to answer. version changes whenever the method may answer differently."""

    name: str
    version: str

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        """Answer within the budget of calls. May raise Halt or ModelError before it has anything to return."""
        ...


@runtime_checkable
class OfferedMethod(Method, Protocol):
    """A method that customers can choose.

    description: what it does, in one line for them. needs: what it is made for; without some of it it still answers,
    and Answer.degraded says so. typical_calls: see TypicalCalls. prompts: names of the prompts that it can send.
    """

    description: str
    needs: frozenset[Artifact]
    typical_calls: TypicalCalls
    prompts: frozenset[str]

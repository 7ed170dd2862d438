"""What an answering method is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.catalogue import MethodCard, TypicalCalls
from gpu_workers.engine.answering.contract import Answer, Artifact, PartialAnswer
from gpu_workers.engine.answering.search.summary_answer import AnswerNode


class Method(Protocol):
    """A way to answer. version changes whenever the method may answer differently."""

    name: str
    version: str

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        """Answer within the budget of calls. May raise Halt or ModelError before it has anything to return."""
        ...


class CataloguedMethod(ABC):
    """A method whose card is in the catalogue: a class takes its name, version and the rest from the card."""

    name: str
    version: str
    description: str
    needs: frozenset[Artifact]
    typical_calls: TypicalCalls

    def __init_subclass__(cls, *, card: MethodCard) -> None:
        cls.name, cls.version, cls.description = card.name, card.version, card.description
        cls.needs, cls.typical_calls = card.needs, card.typical_calls

    @abstractmethod
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        """Answer within the budget of calls. May raise Halt or ModelError before it has anything to return."""


def report_partial(calls: Calls, node: AnswerNode, *, level: int) -> None:
    """Report the answer of a round, if it has one, as the best so far. level: number of the round."""
    if node.answer is not None and node.answers:
        calls.on_partial(PartialAnswer(node.answer.text, node.answer.choice, node.score, node.path, level))

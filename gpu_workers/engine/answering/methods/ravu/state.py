"""What the functions of one run share: the desk, what the run may still ask, and what it met on its way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.budget import BudgetSpent, Halt
from gpu_workers.engine.answering.context import event_text, fitted
from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.engine.ports import KnowledgeGraph, StoredEvent


class NoVerdict(Exception):
    """A step could not decide what its program asks. code: stable, for the step's record."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(slots=True)
class Run:
    """One run of a program.

    meter: counts its model calls. ranks: whether `localize` asks the reasoner which hits fit. calls_left: model calls
    that it may still make. holds: whether the budget has room for one more and for the answer. notes: what was cut or
    could not be asked in the current step, in words, for the record. limits: those of all steps that make a number
    uncertain. top_similarity: of the strongest hit of all searches.
    """

    desk: Desk
    meter: Meter
    ranks: bool
    calls_left: int
    holds: Callable[[], bool]
    notes: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    top_similarity: float = 0.0

    @property
    def graph(self) -> KnowledgeGraph:
        return self.desk.asked.graph

    def words_of(self, event: StoredEvent, most_tokens: int) -> str:
        """Return an event in words, as data, on one line of at most most_tokens tokens."""
        count = self.desk.asked.models.reasoner.count_tokens
        text = event_text(event)
        return fitted(text, count, most_tokens)

    def take_call(self) -> bool:
        """Whether one more model call may be made; it is then counted."""
        if self.calls_left < 1 or not self.holds():
            return False
        self.calls_left -= 1
        return True

    def stopped(self, error: Halt | ModelError) -> str:
        """Record what kept a model from answering, and return its code. A call that was given the question's last
        seconds ends the question: the budget failed, not the model."""
        calls = self.desk.calls
        if isinstance(error, Halt):
            calls.halt(error)
        elif calls.spending.out_of_time():
            calls.halt(BudgetSpent("max_seconds"))
        return error.code

    def within_reach(self, videos: Iterable[UUID], most: int) -> list[UUID]:
        """Return at most `most` of the videos, in order of id, and note whether some were left out."""
        ordered = sorted(set(videos))
        if len(ordered) > most:
            self.limit(f"read {most} of {len(ordered)} videos")
        return ordered[:most]

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def limit(self, text: str) -> None:
        """Note what makes every number of this program uncertain."""
        self.note(text)
        if text not in self.limits:
            self.limits.append(text)

"""A question with its graph, models and settings: all that stays fixed while a stage works on it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

from gpu_workers.engine.answering.asking.understood import Understood
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.presets import SearchSettings
from gpu_workers.engine.models.roles import AnswerModels, Entailer
from gpu_workers.engine.ports import KnowledgeGraph


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its graph, models and settings. A stage that asks another question passes a changed copy on
    (dataclasses.replace).

    searched: the question as retrieval takes it. It includes the previous question if this one could not be made to
    stand alone. standalone: the question as it was understood from its history; "" without one. understood: what its
    words ask for. asked_words: the customer's own words before that, "" if they are the question's.
    """

    question: QuestionInput
    graph: KnowledgeGraph
    models: AnswerModels
    settings: SearchSettings
    searched: str
    standalone: str = ""
    understood: Understood = field(default_factory=Understood)
    asked_words: str = ""

    @property
    def own_words(self) -> str:
        """Return the customer's own words. A question that was made to stand alone may hold words of a video."""
        return self.asked_words or self.question.question

    @property
    def entailer(self) -> Entailer | None:
        """Return the entailer that decides in this effort; None without one."""
        return self.models.entailer if self.settings.entailment else None

    def seed_of(self, path: str) -> int:
        """Return the seed of a node: it follows from the question's seed and differs between paths."""
        return (self.question.seed * 1_000_003 + zlib.crc32(path.encode())) % 2**31

"""A question with its graph, models and settings: all that stays fixed while a stage works on it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.presets import SearchSettings
from gpu_workers.engine.answering.understood import Understood
from gpu_workers.engine.answering.wording import titles_of
from gpu_workers.engine.languages.codes import is_english
from gpu_workers.engine.models.roles import AnswerModels, Entailer
from gpu_workers.engine.ports import KnowledgeGraph, Recording
from gpu_workers.engine.retrieval.tri_view import question_text
from gpu_workers.engine.wall_clock import WallClock


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its graph, models and settings. A stage that asks another question passes a changed copy on
    (dataclasses.replace).

    searched: the question as retrieval takes it. It includes the previous question if this one could not be made to
    stand alone, and it is translated if it is in a language that the embedder does not understand. standalone: the
    question as it was understood from its history; "" without one. understood: what its words ask for. asked_words: the
    customer's own words before that, "" if they are the question's. recordings: every video of the scope, or those that
    the question names, before its time narrowed it. question_language: ISO 639-1 code of the language that the question
    is written in, "" if unknown. translated: the question and its choices in English, if it is in another language and
    could be translated, else empty.
    """

    question: QuestionInput
    graph: KnowledgeGraph
    models: AnswerModels
    settings: SearchSettings
    searched: str
    standalone: str = ""
    understood: Understood = field(default_factory=Understood)
    asked_words: str = ""
    recordings: Mapping[UUID, Recording] = field(default_factory=dict)
    translated: tuple[str, ...] = ()
    question_language: str = ""

    @property
    def in_english(self) -> str:
        """Return the question in English, if it could be translated; else its own words."""
        return self.translated[0] if self.translated else self.question.question

    @property
    def query(self) -> str:
        """Return the question with its choices, as retrieval takes them."""
        choices = self.translated[1:] if self.understood.searched and self.translated else self.question.choices
        return question_text(self.searched, choices)

    @property
    def frame_query(self) -> str:
        """Return the query in English, if it was translated: embedders of frames know labels in English best."""
        return question_text(self.translated[0], self.translated[1:]) if self.translated else self.query

    @property
    def answer_language(self) -> str:
        """Return the ISO 639-1 code of the answer's language; "" for English and where the language is unknown."""
        language = self.understood.language
        return "" if is_english(language) else language

    @property
    def clocks(self) -> Mapping[UUID, WallClock]:
        """Return by video when it was recorded, as far as that is known."""
        known = {video_id: recording.clock for video_id, recording in self.recordings.items()}
        return {video_id: clock for video_id, clock in known.items() if clock is not None}

    @property
    def titles(self) -> Mapping[UUID, str]:
        """Return the titles of the videos for a prompt; empty if there is only one video."""
        return titles_of(self.recordings)

    @property
    def video_numbers(self) -> Mapping[UUID, int]:
        """Return the number of each video in scope by which prompts name it: 1 and up, in order of id."""
        return {video_id: number for number, video_id in enumerate(sorted(self.graph.extents()), start=1)}

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

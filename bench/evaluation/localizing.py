"""Finding the moment of a question: the first moment of a program's `localize` against spans that a person marked."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence

from bench.evaluation.captions import CaptionIndex
from bench.evaluation.datasets import ChoiceQuestion, ChoiceSet, Sentence
from bench.evaluation.lexical import Words
from bench.evaluation.models import unlimited_calls
from bench.evaluation.report import ItemResult
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.methods.ravu.finding import localize
from gpu_workers.engine.answering.methods.ravu.values import Moments, Run
from gpu_workers.engine.answering.presets import settings_with
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.roles import AnswerModels, Meter

LOCALIZE_ARMS = ("localize_random", "localize_tfidf", "localize_events", "localize", "localize_ranked")
"""`localize` of frames, of events, and of frames with the reasoner's second ranking; and two ways to compare with: a
caption drawn at random, and the caption with the question's words (cosine of TF-IDF)."""

ASKS_NOBODY = frozenset(LOCALIZE_ARMS) - {"localize_ranked"}


class LocalizeArm:
    """Finds one moment for a question whose answer a person marked in the video.

    A moment is right if the second of the caption that was found overlaps a marked span. An event counts by the caption
    in its middle, because a long event would be right by its length.
    """

    def __init__(
        self, name: str, questions: ChoiceSet, models: AnswerModels, index: CaptionIndex, *, seed: int
    ) -> None:
        if name not in LOCALIZE_ARMS:
            raise ValueError(f"no arm {name!r} that finds moments; there are {', '.join(LOCALIZE_ARMS)}")
        self._name, self._set, self._models, self._index, self._seed = name, questions, models, index, seed
        texts = [caption.text for captions in questions.captions.values() for caption in captions]
        self._words = Words(texts) if name == "localize_tfidf" else None

    def ask(self, question: ChoiceQuestion) -> ItemResult:
        captions = self._set.captions[question.video]
        meter = Meter()
        at = self._found(question, captions, meter)
        asked = [call for call in meter.calls if call.completion_tokens]
        right = at is not None and any(captions[at].span.overlaps(span) for span in question.spans)
        return ItemResult(
            question.id,
            question.kind,
            {1: right},
            at,
            confidence=None,
            calls=len(asked),
            prompt_tokens=sum(call.prompt_tokens for call in asked),
            completion_tokens=sum(call.completion_tokens for call in asked),
            seconds=sum(call.wall_ms for call in meter.calls) / 1000,
            failed_calls=sum(not call.ok for call in meter.calls),
        )

    def _found(self, question: ChoiceQuestion, captions: Sequence[Sentence], meter: Meter) -> int | None:
        """Return the index of the caption that was found."""
        if self._name == "localize_random":
            return random.Random(f"{self._seed} {question.id}").randrange(len(captions))
        if self._words is not None:
            return int(self._words.similarity([question.text], [caption.text for caption in captions])[0].argmax())
        ms = self._moment(question, captions, meter)
        if ms is None:
            return None
        return max(0, bisect_right([caption.span.start_ms for caption in captions], ms) - 1)

    def _moment(self, question: ChoiceQuestion, captions: Sequence[Sentence], meter: Meter) -> int | None:
        settings = settings_with("medium", self._models)
        graph = InMemoryGraph([self._index.of_captions(question.video, captions, profile=self._set.profile)])
        asked = Asked(
            QuestionInput(question.text, profile=self._set.profile, seed=self._seed),
            graph,
            self._models,
            settings,
            searched=question.text,
        )
        toolbox = Toolbox(asked, unlimited_calls(self._models, meter, in_flight=settings.in_flight))
        run = Run(toolbox, self._name == "localize_ranked", 1, lambda: True)
        found = localize(run, question.text, "event" if self._name == "localize_events" else "frame", None)
        assert isinstance(found, Moments)
        if not found.items:
            return None
        first = found.items[0]
        span = first.place.span
        return first.ms if first.ms is not None else (span.start_ms + span.end_ms) // 2

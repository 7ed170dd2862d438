"""The compared ways of answering (arms), over one video's captions or one tape."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from bench.evaluation.captions import CaptionIndex
from bench.evaluation.datasets import ChoiceQuestion, ChoiceSet, Sentence, Tape, TapeQuery
from gpu_workers.engine.answering.answer_question import answer_question
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.choices.support import Support, choice_support
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import Answer, Budget, Effort, QuestionInput
from gpu_workers.engine.answering.methods import METHODS, Method
from gpu_workers.engine.answering.methods.caption_rag import answer_once
from gpu_workers.engine.answering.presets import changed, settings_with
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.summary_answer import show_events
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.roles import AnswerModels, Meter
from gpu_workers.engine.retrieval.frames import all_places
from gpu_workers.engine.retrieval.fusion import RankedEvent
from gpu_workers.engine.retrieval.moments import FoundSpan, moments
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings, ViewQueries, question_text, retrieve

CHOICE_ARMS = ("tfidf", "question_only", "shuffled", "uniform_captions", "caption_rag", "ava_paper", "ava")
"""Arms for every choice set."""

ABLATIONS = ("ava_no_support", "support_only", "oracle_events")
"""Parts of `ava`: without the events' support of the choices; this support alone, without a model; and the reasoner
over the events that a person marked, if the set has such marks."""

TAPE_ARMS = (
    "tfidf",
    "shuffled",
    "uniform_captions",
    "caption_rag",
    "ava_paper",
    "ava_no_graph",
    "ava_no_moments",
    "ava",
)
"""Arms for tapes: all rank spans, and none asks a language model."""

WITHOUT_REASONER = frozenset({"tfidf", "support_only"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """An arm's answer. choice: None if it abstained. seconds: of models and engine, cached calls included."""

    choice: int | None
    confidence: float = 0.0
    finish_reason: str = "answered"
    detail: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    signals: Mapping[str, float] | None = None


# --- choice questions ----------------------------------------------------------------------------------------------


class ChoiceArm:
    """Answers the questions of one set by one arm. models: None for arms without a reasoner. event_words: length of the
    events that captions are joined to; with 0 they are merged like a described video."""

    def __init__(
        self,
        name: str,
        questions: ChoiceSet,
        models: AnswerModels,
        index: CaptionIndex,
        *,
        seed: int = 0,
        event_words: int = 0,
    ) -> None:
        if name not in CHOICE_ARMS + ABLATIONS:
            raise ValueError(f"no arm {name!r} for choice questions; there are {', '.join(CHOICE_ARMS + ABLATIONS)}")
        self._name, self._set, self._models, self._index, self._seed = name, questions, models, index, seed
        self._event_words = event_words
        self._words = _Words([_text(captions) for captions in questions.captions.values()]) if name == "tfidf" else None
        self._other = _derangement(sorted(questions.captions), seed)

    def ask(self, question: ChoiceQuestion) -> Outcome:
        if self._words is not None:
            return self._by_words(question)
        if self._name == "support_only":
            return self._by_support(question)
        video = self._other[question.video] if self._name == "shuffled" else question.video
        effort: Effort = "paper" if self._name == "ava_paper" else "medium"
        settings = settings_with(effort, self._models)
        # Captions have no frames to check.
        settings = changed(settings, check="off", abstain=False)
        if self._name == "ava_no_support":
            settings = changed(settings, weight=0.0)
        answer = answer_question(
            QuestionInput(question.text, question.choices, profile=self._set.profile, effort=effort, seed=self._seed),
            InMemoryGraph([self._memory(video)]),
            self._models,
            settings=settings,
            method=self._method(question),
        )
        return _outcome(answer)

    def _by_support(self, question: ChoiceQuestion) -> Outcome:
        """Return the choice that the events support most."""
        memory = self._memory(question.video)
        support = supported(question, memory, self._models, profile=self._set.profile, judged=False)
        if support is None:
            return Outcome(None, finish_reason="insufficient_evidence", detail="no_support")
        shares = support.shares
        return Outcome(int(np.argmax(shares)), max(shares))

    def _memory(self, video: str) -> MemoryVideo:
        captions = self._set.captions[video]
        if self._event_words:
            return self._index.of_long_events(video, captions, words=self._event_words)
        return self._index.of_captions(video, captions, profile=self._set.profile)

    def _method(self, question: ChoiceQuestion) -> Method:
        if self._name == "question_only":
            return QuestionOnly()
        if self._name == "uniform_captions":
            return UniformCaptions(self._set.captions[question.video])
        if self._name == "oracle_events":
            return OracleEvents(question.spans)
        return METHODS["caption_rag" if self._name == "caption_rag" else "ava"]

    def _by_words(self, question: ChoiceQuestion) -> Outcome:
        """Return the choice whose words, with the question's, are most similar to the captions' (cosine of TF-IDF)."""
        assert self._words is not None
        queries = [f"{question.text} {choice}" for choice in question.choices]
        scores = self._words.similarity(queries, [_text(self._set.captions[question.video])])[:, 0]
        return Outcome(int(scores.argmax()), float(scores.max()))


def supported(
    question: ChoiceQuestion, memory: MemoryVideo, models: AnswerModels, *, profile: str, judged: bool
) -> Support | None:
    """Return the events' support of each choice. judged: whether the reasoner judges each choice."""
    words = QuestionInput(question.text, question.choices, profile=profile)
    settings = settings_with("medium", models)
    if not judged:
        settings = changed(settings, judge_tokens=0)
    meter = Meter()
    spending = Spending(Budget(), meter, clock=time.monotonic, should_stop=lambda: False)
    asked = Asked(words, InMemoryGraph([memory]), models, settings, searched=question.text)
    return choice_support(asked, Calls(models, spending=spending, meter=meter, in_flight=settings.in_flight))


NOTHING = EventContext("(nothing was recorded)", {}, {})


def _of_one_sample(asked: Asked) -> Asked:
    return replace(asked, settings=changed(asked.settings, n=1))


class QuestionOnly:
    """The reasoner without the video: shows how much the question and its choices give away."""

    name, version = "question_only", "1"

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        return answer_once(_of_one_sample(asked), calls, State("", ()), NOTHING)


class UniformCaptions:
    """Evenly spaced captions, as many as the engine reads for an answer; one answer."""

    name, version = "uniform_captions", "1"

    def __init__(self, captions: Sequence[Sentence]) -> None:
        self._captions = captions

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        asked = _of_one_sample(asked)
        if not self._captions:
            return answer_once(asked, calls, State("", ()), NOTHING)
        count = asked.models.reasoner.count_tokens
        low, high = 1, len(self._captions)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high)
                if count(self._spaced(middle)) <= asked.settings.prompt.context_tokens
                else (low, middle - 1)
            )
        return answer_once(asked, calls, State("", ()), EventContext(self._spaced(low), {}, {}))

    def _spaced(self, n: int) -> str:
        positions = np.linspace(0, len(self._captions) - 1, n).round().astype(int)
        chosen = [self._captions[position] for position in dict.fromkeys(positions.tolist())]
        return "\n".join(f"{c.span.start_ms // 60_000:02}:{c.span.start_ms // 1000 % 60:02} {c.text}" for c in chosen)


class OracleEvents:
    """The reasoner over the events in which a person saw the answer: the upper bound for retrieval."""

    name, version = "oracle_events", "1"

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        asked = replace(asked, settings=changed(asked.settings, n=1, sa_ratio=1.0))
        events = [e for e in all_places(asked.graph) if any(e.span.overlaps(span) for span in self._spans)]
        state = State("", tuple(RankedEvent(event.event_id, 1.0) for event in events))
        return answer_once(asked, calls, state, show_events(asked, state))


def _outcome(answer: Answer) -> Outcome:
    calls = answer.usage.calls
    reasoner = [call for call in calls if call.completion_tokens]
    return Outcome(
        answer.choice,
        answer.confidence,
        answer.finish_reason,
        answer.detail,
        len(reasoner),
        sum(call.prompt_tokens for call in reasoner),
        sum(call.cached_tokens for call in reasoner),
        sum(call.completion_tokens for call in reasoner),
        sum(call.wall_ms for call in calls) / 1000,
        {name: value for name, value in answer.signals.items() if isinstance(value, float)},
    )


# --- tapes ---------------------------------------------------------------------------------------------------------

TAPE_RETRIEVAL = RetrievalSettings(events=32, entities=8, frames=0, transcript=0, graph_events=8, rewriting=False)
TAPE_RANKS = 10


class TapeArm:
    """Ranks spans of a tape for a query by one arm."""

    def __init__(self, name: str, tape: Tape, models: AnswerModels, index: CaptionIndex, *, seed: int = 0) -> None:
        if name not in TAPE_ARMS:
            raise ValueError(f"no arm {name!r} for tapes; there are {', '.join(TAPE_ARMS)}")
        self._name, self._tape, self._models, self._seed = name, tape, models, seed
        self._graph: InMemoryGraph | None = None
        self._spans: dict[UUID, Span] = {}
        self._words: NDArray[np.float64] | None = None
        if name == "tfidf":
            texts = [event.text for event in tape.events]
            self._words = _Words(texts).similarity([query.text for query in tape.queries], texts)
            self._rows = {query.id: row for row, query in enumerate(tape.queries)}
        elif name != "uniform_captions":
            memory: MemoryVideo = index.of_events(f"{tape.name}-{seed}", tape.events)
            self._graph = InMemoryGraph([memory])
            self._spans = {record.event.id: record.event.span for record in memory.events}
            self._number = {record.event.id: record.event.n for record in memory.events}
            self._video = memory.video_id
        self._other = _derangement([query.id for query in tape.queries], seed)
        self._texts = {query.id: query.text for query in tape.queries}

    def ask(self, query: TapeQuery) -> list[Span]:
        """Return spans, the best first, at most TAPE_RANKS."""
        if self._words is not None:
            order = np.argsort(-self._words[self._rows[query.id]], kind="stable")[:TAPE_RANKS]
            return [self._tape.events[position].span for position in order]
        if self._graph is None:
            events = range(len(self._tape.events))
            positions = random.Random(f"{self._seed} {query.id}").sample(events, min(TAPE_RANKS, len(events)))
            return [self._tape.events[position].span for position in positions]
        text = self._texts[self._other[query.id]] if self._name == "shuffled" else query.text
        settings = TAPE_RETRIEVAL
        if self._name == "caption_rag":
            settings = replace(settings, entities=0, graph_events=0, context=0.0)
        elif self._name == "ava_paper":
            settings = replace(settings, graph_events=0, context=0.0, fusion="borda", weights={})
        elif self._name == "ava_no_graph":
            settings = replace(settings, graph_events=0)
        retrieved = retrieve(
            self._graph,
            ViewQueries.same(question_text(text, ())),
            settings,
            text_embedder=self._models.text_embedder,
            frame_embedder=self._models.frame_embedder,
            meter=Meter(),
        )
        if self._name not in {"ava", "ava_no_graph", "shuffled"}:
            return [self._spans[event.event_id] for event in retrieved.ranking[:TAPE_RANKS]]
        spans = [
            FoundSpan(
                self._video, event.event_id, self._number[event.event_id], self._spans[event.event_id], event.score
            )
            for event in retrieved.ranking
        ]
        return [moment.span for moment in moments(spans)[:TAPE_RANKS]]


# --- words ---------------------------------------------------------------------------------------------------------


class _Words:
    """TF-IDF over a collection of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._vectors = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit(texts)

    def similarity(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        """Return cosines, shape (len(left), len(right))."""
        product = self._vectors.transform(left) @ self._vectors.transform(right).T
        return np.asarray(product.toarray(), dtype=np.float64)


def _text(captions: Sequence[Sentence]) -> str:
    return " ".join(caption.text for caption in captions)


def _derangement(names: Sequence[str], seed: int) -> dict[str, str]:
    """Return another name for each name: neighbours in a shuffled round, so that no name gets itself."""
    order = list(names)
    random.Random(seed).shuffle(order)
    return dict(zip(order, [*order[1:], order[0]], strict=True))

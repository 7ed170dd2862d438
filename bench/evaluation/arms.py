"""The compared ways of answering choice questions (arms), over one video's captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from backend.questions.cached_tokens import coarse
from bench.evaluation.baselines import OracleEvents, QuestionOnly, UniformCaptions
from bench.evaluation.caption_checker import CaptionChecker
from bench.evaluation.captions import CaptionIndex
from bench.evaluation.datasets import ChoiceQuestion, ChoiceSet, Sentence
from bench.evaluation.deciding import decided_by
from bench.evaluation.lexical import Words, derangement
from bench.evaluation.models import unlimited_calls
from bench.evaluation.report import Measured
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.choices.support import Support, choice_support
from gpu_workers.engine.answering.contract import Answer, Effort, QuestionInput
from gpu_workers.engine.answering.methods import METHODS, Method
from gpu_workers.engine.answering.presets import changed, settings_of_authors, settings_with
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.roles import AnswerModels, Meter

CHOICE_ARMS = ("tfidf", "question_only", "shuffled", "uniform_captions", "caption_rag", "ava_paper", "ava")
"""Arms for every choice set."""

AUTHORS = "ava_authors"
"""`ava` with the settings of its authors' published code, over an index whose events are merged by recall, as there."""

ABLATIONS = ("ava_no_support", "support_only", "oracle_events", AUTHORS)
"""Parts of `ava`: without the events' support of the choices; this support alone, without a model; and the reasoner
over the events that a person marked, if the set has such marks. The last one is no part, but what its authors run."""

CHECKED = frozenset({"ava_paper", AUTHORS})
"""Arms of `ava` whose preset checks answers on frames. A caption stands for each frame, which the reasoner reads."""

WITHOUT_REASONER = frozenset({"tfidf", "support_only"})

FRAME_METHODS = ("uniform", "vector")
"""Baselines that answer from frames, here from their captions. They have no published preset."""

AGENTS = tuple(name for name in METHODS if name not in {"ava", "caption_rag", *FRAME_METHODS})
"""The methods on the layer of tools."""

METHOD_ARMS = (*FRAME_METHODS, *(f"{name}{preset}" for name in AGENTS for preset in ("", "_paper")))
"""The remaining answering methods, each at effort `medium`, and with `_paper` at effort `paper`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An arm's answer. choice: None if it abstained. confidence: None where nothing was calibrated for it. seconds: of
    models, cached calls included. degraded: what the method had to do without (Answer.degraded). failed_calls: calls of
    models that failed, such as those that a busy machine did not answer in time. head: name of the rule that drew the
    answer and its confidence, "" without one. decided: what made the choice. measured: None without an answer of the
    engine. votes: of each SA node, (choice, agreement, thought consistency) of each sample that chose (eq. 4 and 5)."""

    choice: int | None
    confidence: float | None = 0.0
    finish_reason: str = "answered"
    detail: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    signals: Mapping[str, float] | None = None
    degraded: tuple[str, ...] = ()
    failed_calls: int = 0
    head: str = ""
    decided: str = ""
    measured: Measured | None = None
    votes: tuple[tuple[tuple[int, float, float], ...], ...] = ()


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
        arms = CHOICE_ARMS + METHOD_ARMS + ABLATIONS
        if name not in arms:
            raise ValueError(f"no arm {name!r} for choice questions; there are {', '.join(arms)}")
        if name in METHOD_ARMS or name in CHECKED:
            models = replace(models, checker=CaptionChecker(models.reasoner))
        self._name, self._set, self._models, self._index, self._seed = name, questions, models, index, seed
        if name == AUTHORS:
            self._index = index.merged_by_recall()
        self._event_words = event_words
        self._words = Words([_text(captions) for captions in questions.captions.values()]) if name == "tfidf" else None
        self._other = derangement(sorted(questions.captions), seed)

    def ask(self, question: ChoiceQuestion) -> Outcome:
        if self._words is not None:
            return self._by_words(question)
        if self._name == "support_only":
            return self._by_support(question)
        video = self._other[question.video] if self._name == "shuffled" else question.video
        effort: Effort = "paper" if self._name.endswith("_paper") or self._name == AUTHORS else "medium"
        settings = settings_with(effort, self._models)
        if self._name == AUTHORS:
            settings = settings_of_authors(self._models)
        settings = changed(settings, abstain=False)
        if self._name not in CHECKED:
            settings = changed(settings, check="off")
        if self._name == "ava_no_support":
            settings = changed(settings, weight=0.0)
        answer = answer_question(
            QuestionInput(question.text, question.choices, profile=self._set.profile, effort=effort, seed=self._seed),
            InMemoryGraph([self._memory(video)]),
            self._models,
            settings=settings,
            method=self._method(question),
        )
        return outcome_of_answer(answer, question.spans)

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
            return self._index.of_long_events(video, captions, words=self._event_words, profile=self._set.profile)
        return self._index.of_captions(video, captions, profile=self._set.profile)

    def _method(self, question: ChoiceQuestion) -> Method:
        if self._name == "question_only":
            return QuestionOnly()
        if self._name == "uniform_captions":
            return UniformCaptions(self._set.captions[question.video])
        if self._name == "oracle_events":
            return OracleEvents(question.spans)
        return METHODS.get(self._name.removesuffix("_paper"), METHODS["ava"])

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
    asked = Asked(words, InMemoryGraph([memory]), models, settings, searched=question.text)
    return choice_support(asked, unlimited_calls(models, meter, in_flight=settings.in_flight))


def outcome_of_answer(answer: Answer, spans: Sequence[Span] = ()) -> Outcome:
    """Return what an arm's answer counts as. spans: where a person saw the answer."""
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
        answer.degraded,
        sum(not call.ok for call in calls),
        str(answer.signals.get("head", "")),
        decided_by(answer),
        measured_of(answer, spans),
        votes_of(answer),
    )


def votes_of(answer: Answer) -> tuple[tuple[tuple[int, float, float], ...], ...]:
    """Return (choice, agreement, thought consistency) of each sample that chose, by SA node."""
    nodes = (
        tuple(
            (candidate.choice, candidate.agreement, candidate.thought)
            for candidate in node.candidates
            if candidate.choice is not None
        )
        for node in answer.nodes
        if node.action == "SA"
    )
    return tuple(node for node in nodes if node)


def measured_of(answer: Answer, spans: Sequence[Span]) -> Measured:
    """Return what a comparison of the product counts of an answer about one video."""
    calls, cited = answer.usage.calls, answer.citations
    shown = [Span(citation.start_ms, citation.end_ms) for citation in cited]
    return Measured(
        calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        cached_tokens=coarse(sum(call.cached_tokens for call in calls if not call.cache_shared)),
        completion_tokens=sum(call.completion_tokens for call in calls),
        citations=len(cited),
        supported=sum(citation.status == "supported" for citation in cited),
        hit=any(one.overlaps(span) for one in shown for span in spans) if spans else None,
        frames=sum(node.frames_used for node in answer.nodes),
        engine_ms=answer.timings.get("total"),
        llm_ms=sum(call.wall_ms for call in calls if call.completion_tokens),
        version=answer.method_version,
        prompts=answer.prompts,
    )


def _text(captions: Sequence[Sentence]) -> str:
    return " ".join(caption.text for caption in captions)

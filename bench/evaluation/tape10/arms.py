"""The compared ways of answering questions about the tape (arms)."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from bench.evaluation.models import unlimited_calls
from bench.evaluation.report import BEYOND, ItemResult
from bench.evaluation.tape10.index import make_video
from bench.evaluation.tape10.question import Kind, TapeQuestion
from bench.evaluation.tape10.scoring import Reply, named_beyond, number_of, right
from bench.evaluation.tape10.world import World
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.answering.methods import METHODS
from gpu_workers.engine.answering.presets import changed, settings_with
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.roles import AnswerModels, Meter, ModelError

TAPE10_ARMS = ("ava", "search")
"""ava: the engine. search: the same engine without what it reads from the question's words: no time, no exact words,
no route, and no view of words. Every question is searched for by similarity, over all of the tape."""

FOUND_ONLY: frozenset[Kind] = frozenset({"time", "clock", "words"})
"""Kinds that what was understood and found decides. No answer is written for them."""


class Tape10Arm:
    """Answers the questions of one tape by one arm, at effort medium."""

    def __init__(self, name: str, world: World, models: AnswerModels, *, seed: int = 0) -> None:
        if name not in TAPE10_ARMS:
            raise ValueError(f"no arm {name!r} for tape10; there are {', '.join(TAPE10_ARMS)}")
        self._name, self._world, self._models, self._seed = name, world, models, seed
        video = make_video(world, models.text_embedder)
        self._graph = InMemoryGraph([video])
        self._number: dict[UUID, int] = {record.event.id: record.event.n for record in video.events}

    def ask(self, question: TapeQuestion) -> ItemResult:
        answer = self._understood(question) if self._name == "ava" else self._searched(question)
        reply = self._reply(answer)
        calls = answer.usage.calls
        reasoner = [call for call in calls if call.completion_tokens]
        given = number_of(answer.text) if question.rule == "number" else 0 if reply.found or answer.text else None
        return ItemResult(
            question.id,
            question.kind,
            {1: right(self._world, question, reply)},
            given,
            question.number,
            answer.confidence or 0.0,
            answer.finish_reason,
            answer.detail,
            len(reasoner),
            sum(call.prompt_tokens for call in reasoner),
            sum(call.cached_tokens for call in reasoner),
            sum(call.completion_tokens for call in reasoner),
            sum(call.wall_ms for call in calls) / 1000,
            signals=self._signals(question, reply),
            degraded=answer.degraded,
            failed_calls=sum(not call.ok for call in calls),
            question=question.text,
            answer=answer.text,
            understood={**answer.understood, "found": list(reply.found[:10])},
        )

    def _signals(self, question: TapeQuestion, reply: Reply) -> dict[str, float]:
        if question.rule != "topics":
            return {}
        return {BEYOND: float(named_beyond(self._world, question, reply.text))}

    def _understood(self, question: TapeQuestion) -> Answer:
        """Return the engine's answer; of a kind that needs no answer, the outcome of its search."""
        settings = settings_with("medium", self._models)
        found_only = question.kind in FOUND_ONLY
        return answer_question(
            QuestionInput(question.text, seed=self._seed, now=question.now, route="search" if found_only else "auto"),
            self._graph,
            self._models,
            settings=changed(settings, n=0) if found_only else settings,
        )

    def _searched(self, question: TapeQuestion) -> Answer:
        """Return the answer of the search alone: nothing is read from the question's words."""
        settings = settings_with("medium", self._models)
        settings = replace(settings, retrieval=replace(settings.retrieval, words=0))
        if question.kind in FOUND_ONLY:
            settings = changed(settings, n=0)
        meter = Meter()
        asked = Asked(
            QuestionInput(question.text, seed=self._seed), self._graph, self._models, settings, searched=question.text
        )
        calls = unlimited_calls(self._models, meter, in_flight=settings.in_flight)
        try:
            return METHODS["ava"].answer(asked, calls)
        except ModelError as error:
            return Answer("", None, 0.0, "error", usage=calls.spending.usage(), detail=error.code)

    def _reply(self, answer: Answer) -> Reply:
        time_found = answer.understood.get("time")
        spans = tuple(Span(row["start_ms"], row["end_ms"]) for row in time_found["spans"]) if time_found else ()
        found = answer.nodes[0].events if answer.nodes else ()
        return Reply(time_found is not None, spans, tuple(self._number[event.event_id] for event in found), answer.text)

"""The one entry function of the answering engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Allowance, Halt, Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import (
    Answer,
    Budget,
    NodeRecord,
    PartialAnswer,
    Progress,
    QuestionInput,
    VerdictStore,
)
from gpu_workers.engine.answering.ending.final_answer import final_answer, without_text
from gpu_workers.engine.answering.ending.language import in_asked_language
from gpu_workers.engine.answering.ending.notes import QUERY_LANGUAGE, is_unread, notes_of
from gpu_workers.engine.answering.ending.notes import WITHOUT_EYES as WITHOUT_EYES
from gpu_workers.engine.answering.methods import Method, method_named
from gpu_workers.engine.answering.presets import SearchSettings, checking, settings_of_answer, settings_with
from gpu_workers.engine.answering.reading.reading import read_question
from gpu_workers.engine.answering.routes.recordings import length_answer, outside_answer
from gpu_workers.engine.models.roles import AnswerModels, Meter, ModelError
from gpu_workers.engine.ports import KnowledgeGraph, StoredFrame
from gpu_workers.engine.prompts import digest


class RunOptions(TypedDict, total=False):
    """Limits and listeners of one run of answer_question(). Each has a default.

    budget: no limit by default. on_progress: called from this thread. should_stop: called before every model call, from
    any thread; true cancels the question. allowance: returns what a limit shared with other questions leaves for this
    one; called before every model call, too. on_partial: gets the best answer so far after each level of the search
    that has one, from this thread. on_nodes: gets the nodes so far after the first retrieval and each level of the
    search, and after each step of a method that uses tools, from this thread; an answer among them was reported to
    on_partial before. closer: returns stored frames as JPEGs in full, None where there is none; called from this thread
    where a look needs detail. verdicts: keeps what a scan judged, so that it is paid for once. meter: gets every model
    call.
    """

    budget: Budget | None
    on_progress: Progress | None
    should_stop: Callable[[], bool] | None
    allowance: Callable[[], Allowance] | None
    on_partial: Callable[[PartialAnswer], None] | None
    on_nodes: Callable[[Sequence[NodeRecord]], None] | None
    closer: Callable[[Sequence[StoredFrame]], Sequence[bytes | None]] | None
    verdicts: VerdictStore | None
    meter: Meter | None
    clock: Callable[[], float]


def answer_question(
    question: QuestionInput,
    graph: KnowledgeGraph,
    models: AnswerModels,
    *,
    settings: SearchSettings | None = None,
    method: Method | None = None,
    **options: Unpack[RunOptions],
) -> Answer:
    """Answer question from what graph holds.

    graph: already bound to the question's scope, which nothing in here can widen. settings: replace those of the
    question's effort. method: replaces the method that the question names, for a method that is not offered
    (bench.evaluation).

    Returns an Answer for every outcome: model failures, refusals, exhausted budget and cancellation are finish reasons.
    Raises UnknownMethod, and whatever graph or the callbacks raise.
    """
    if method is not None:
        question = replace(question, method=method.name)
    method = method or method_named(question.method)
    settings = checking(settings or settings_with(question.effort, models), question.check)
    asked = Asked(question, graph, models, settings, searched=question.question, asked_words=question.question)
    calls = _calls_of(models, settings, options)
    try:
        calls.spending.check()
        asked = read_question(asked, calls)
        answer = None
        if asked.understood.time is not None or asked.understood.subject != "content":
            answer = outside_answer(asked, calls) or length_answer(asked, calls)
        answer = answer or method.answer(asked, calls)
        if asked.answer_language:
            answer = in_asked_language(asked, calls, answer)
    except Halt as halt:
        calls.halt(halt)
        answer = final_answer(asked, calls, nodes=[], records=[], verdict=None, top_similarity=0.0)
    except ModelError as error:
        answer = without_text(calls, [], "refused" if error.code == "model_refused" else "error", error.code)
    return replace(
        answer,
        standalone=asked.standalone,
        unmeasured=models.calibration.unmeasured,
        degraded=(*answer.degraded, *([QUERY_LANGUAGE] if is_unread(asked) else [])),
        notes=notes_of(asked, answer),
        method_version=method.version,
        prompts=digest()[:16],
        settings=settings_of_answer(settings, method.name),
        understood=asked.understood.record(),
    )


def _calls_of(models: AnswerModels, settings: SearchSettings, options: RunOptions) -> Calls:
    meter = options.get("meter")
    meter = Meter() if meter is None else meter
    spending = Spending(
        options.get("budget") or Budget(),
        meter,
        clock=options.get("clock", time.monotonic),
        should_stop=options.get("should_stop"),
        allowance=options.get("allowance"),
    )
    calls = Calls(
        models,
        spending=spending,
        meter=meter,
        in_flight=settings.in_flight,
        on_progress=options.get("on_progress"),
        on_partial=options.get("on_partial"),
        closer=options.get("closer"),
        verdicts=options.get("verdicts"),
    )
    calls.on_nodes = options.get("on_nodes") or calls.on_nodes
    return calls

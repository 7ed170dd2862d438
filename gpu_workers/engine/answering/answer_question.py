"""The one entry function of the answering engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from gpu_workers.engine.answering.budget import Allowance, Halt, Spending
from gpu_workers.engine.answering.conclusion import conclude
from gpu_workers.engine.answering.contract import Answer, Budget, PartialAnswer, Progress, QuestionInput
from gpu_workers.engine.answering.follow_up import stand_alone
from gpu_workers.engine.answering.methods import Method, method_named
from gpu_workers.engine.answering.presets import SearchSettings, checking, settings_for
from gpu_workers.engine.answering.run import QuestionRun
from gpu_workers.engine.models.roles import AnswerModels, Meter, ModelError
from gpu_workers.engine.ports import KnowledgeGraph, StoredFrame


def answer_question(
    question: QuestionInput,
    graph: KnowledgeGraph,
    models: AnswerModels,
    *,
    budget: Budget | None = None,
    on_progress: Progress | None = None,
    should_stop: Callable[[], bool] | None = None,
    allowance: Callable[[], Allowance] | None = None,
    on_partial: Callable[[PartialAnswer], None] | None = None,
    closer: Callable[[StoredFrame], bytes | None] | None = None,
    meter: Meter | None = None,
    settings: SearchSettings | None = None,
    method: Method | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """Answers question from what graph holds.

    graph: already bound to the question's scope, which nothing in here can widen. budget: None is no limit.
    on_progress: called from this thread. should_stop: asked before every model call, from any thread. allowance: asked
    there too, what a limit shared with other questions leaves for this one.
    on_partial: told the best answer so far after each level of the search that has one, from this thread. closer: a
    stored frame as a JPEG in full, None if there is none to be had; asked from this thread where a look needs detail.
    meter: gets every model call; settings: instead of those of the question's effort; method: instead of the one that
    the question names, for one that is not offered (bench.evaluation).

    Returns an Answer for every outcome: model failures, refusals, exhausted budget and cancellation are finish reasons.
    Raises UnknownMethod, and whatever graph or the callbacks raise.
    """
    method = method or method_named(question.method)
    meter = meter if meter is not None else Meter()
    run = QuestionRun(
        question,
        graph,
        models,
        checking(settings or settings_for(question.effort, models.calibration), question.check),
        spending=Spending(
            budget or Budget(), meter, clock=clock, should_stop=should_stop or _never, allowance=allowance
        ),
        meter=meter,
        on_progress=on_progress or _silent,
        on_partial=on_partial,
        closer=closer,
    )
    standalone = ""
    try:
        run.spending.check()
        standalone = stand_alone(run)
        answer = method.answer(run)
    except Halt as halt:
        run.halt(halt)
        answer = conclude(run, nodes=[], records=[], verdict=None, top_similarity=0.0)
    except ModelError as error:
        answer = Answer(
            text="",
            choice=None,
            confidence=0.0,
            finish_reason="refused" if error.code == "model_refused" else "error",
            usage=run.spending.usage(),
            timings={**run.timings, "total": run.spending.elapsed_ms()},
            detail=error.code,
        )
    return replace(answer, standalone=standalone, unmeasured=models.calibration.unmeasured)


def _never() -> bool:
    return False


def _silent(stage: str, done: int, total: int, detail: str) -> None:
    """Progress that nobody follows."""

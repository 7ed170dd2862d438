"""The one entry function of the answering engine."""

from __future__ import annotations

import time
from collections.abc import Callable

from gpu_workers.answering.budget import Halt, Spending
from gpu_workers.answering.conclusion import conclude
from gpu_workers.answering.contract import Answer, Budget, Progress, QuestionInput
from gpu_workers.answering.methods import method_named
from gpu_workers.answering.presets import SearchSettings, settings_for
from gpu_workers.answering.run import QuestionRun
from gpu_workers.models.roles import AnswerModels, Meter, ModelError
from gpu_workers.ports import KnowledgeGraph


def answer_question(
    question: QuestionInput,
    graph: KnowledgeGraph,
    models: AnswerModels,
    *,
    budget: Budget | None = None,
    on_progress: Progress | None = None,
    should_stop: Callable[[], bool] | None = None,
    meter: Meter | None = None,
    settings: SearchSettings | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """Answers question from what graph holds.

    graph: already bound to the question's scope, which nothing in here can widen. budget: None is no limit.
    on_progress: called from this thread. should_stop: asked before every model call, from any thread.
    meter: gets every model call; settings: instead of those of the question's effort.

    Returns an Answer for every outcome: model failures, refusals, exhausted budget and cancellation are finish reasons.
    Raises UnknownMethod, and whatever graph, on_progress or should_stop raise.
    """
    method = method_named(question.method)
    meter = meter if meter is not None else Meter()
    run = QuestionRun(
        question,
        graph,
        models,
        settings or settings_for(question.effort, models_profile=models.profile),
        spending=Spending(budget or Budget(), meter, clock=clock, should_stop=should_stop or _never),
        meter=meter,
        on_progress=on_progress or _silent,
    )
    try:
        run.spending.check()
        return method.answer(run)
    except Halt as halt:
        run.halt(halt)
        return conclude(run, nodes=[], records=[], verdict=None, top_similarity=0.0)
    except ModelError as error:
        return Answer(
            text="",
            choice=None,
            confidence=0.0,
            finish_reason="refused" if error.code == "model_refused" else "error",
            usage=run.spending.usage(),
            timings={**run.timings, "total": run.spending.elapsed_ms()},
            detail=error.code,
        )


def _never() -> bool:
    return False


def _silent(stage: str, done: int, total: int, detail: str) -> None:
    """Progress that nobody follows."""

"""Answers one question over its scope and commits the answer with its tree, evidence, usage and webhook at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from django.db import connection
from django.utils import timezone

from backend.billing.models import UsageMeter
from backend.billing.rates import Rates, rates_at
from backend.ekg.kept_verdicts import KeptVerdicts
from backend.ekg.models import Frame
from backend.ekg.queries import frames_with_videos
from backend.ekg.reader import PostgresGraph, Scope
from backend.jobs.commits import DATABASE_ERRORS, connection_broke
from backend.jobs.services import JobFailed, Lease, LeaseLost
from backend.library.recording import RecordedPiece, piece_at
from backend.library.storage import ObjectMissing, ObjectStorage, evidence_key
from backend.observability.metrics import observe_stages
from backend.questions.models import Question
from backend.questions.queries.pinned_versions import profile_of, videos_of_question
from backend.questions.queries.sessions import history_of
from backend.questions.services import questions
from backend.questions.services.paces import StageClock, add_pace
from backend.tenancy.context import tenant_scope
from backend.tenancy.sandboxes import is_sandbox
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.budget import Allowance
from gpu_workers.engine.answering.contract import (
    TOKEN_CEILING,
    Answer,
    Budget,
    CheckMode,
    Effort,
    NodeRecord,
    PartialAnswer,
    Price,
    QuestionInput,
    RouteWish,
    Turn,
)
from gpu_workers.engine.indexing.sampling import SourceUnreadable
from gpu_workers.engine.indexing.stills import still
from gpu_workers.engine.models.roles import AnswerModels, ModelCall
from gpu_workers.engine.models.scripted import ANSWER_MODELS
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.retrieval.frames import in_parallel
from gpu_workers.tasks.failures import failing_job, unavailable
from gpu_workers.tasks.models import answer_models
from gpu_workers.tasks.sandbox import scripted_answer
from gpu_workers.tasks.scopes import scope_of, under_way
from gpu_workers.tasks.shared_budget import SharedBudget, allowance_for
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.answers")


def handle(work: Work) -> FollowUp | None:
    sandbox = is_sandbox(work.lease.tenant_id)
    with failing_job(work, message="the models do not answer"):
        models = ANSWER_MODELS if sandbox else answer_models()
    begun = work.commit(lambda: _begin(work, models))
    if begun is None:
        return None
    question, scope = begun.question, begun.scope
    meter, objects = work.meter(), work.objects()
    stages = StageClock()

    def report_progress(stage: str, done: int, total: int, detail: str) -> None:
        stages.enter(stage)
        work.progress(stage, done, total)

        def write() -> None:
            work.record_progress()
            questions.set_progress(question_id=question.id, stage=stage, detail=detail)

        _show(work, write)

    def best_so_far(partial: PartialAnswer) -> None:
        _show(work, lambda: questions.set_partial(question_id=question.id, partial=partial))

    def nodes_so_far(nodes: Sequence[NodeRecord]) -> None:
        _show(work, lambda: questions.add_nodes(question=question, nodes=nodes))

    def closer(frames: Sequence[StoredFrame]) -> Sequence[bytes | None]:
        with tenant_scope(work.lease.tenant_id):
            rows = frames_with_videos([frame.id for frame in frames])
            pieces = {row.id: piece_at(row.video, row.ms) for row in rows.values()}
        # The pool asks storage and ffmpeg alone: a database connection belongs to one thread.
        known = [frame for frame in frames if frame.id in rows]
        pictures = in_parallel(lambda frame: _read_picture(objects, rows[frame.id], pieces[frame.id]), known)
        by_id = {frame.id: picture for frame, picture in zip(known, pictures, strict=True)}
        return [by_id.get(frame.id) for frame in frames]

    with (
        PostgresGraph(
            scope,
            text_model=models.text_embedder.name,
            frame_model=models.frame_embedder.name,
            storage=objects,
        ) as graph,
        SharedBudget(
            work,
            question.id,
            first=begun.allowance,
            meter=meter,
            rates=begun.rates,
            limited=not question.asked_by_operator,
        ) as shared,
    ):
        asked = QuestionInput(
            question=question.text,
            choices=tuple(question.choices),
            profile=begun.profile,
            method=question.method,
            effort=cast(Effort, question.effort),
            seed=question.seed,
            history=begun.history,
            check=cast(CheckMode, question.check_mode),
            language=question.language,
            now=question.created_at,
            route=cast(RouteWish, question.route),
        )
        answer = (
            scripted_answer(asked, graph)
            if sandbox
            else answer_question(
                asked,
                graph,
                models,
                budget=begun.budget,
                on_progress=report_progress,
                on_partial=best_so_far,
                on_nodes=nodes_so_far,
                closer=closer,
                verdicts=KeptVerdicts(scope, alone_for=question.id if question.comparison_id else None),
                should_stop=work.should_stop,
                allowance=shared,
                meter=meter,
            )
        )
    if begun.under_way:
        answer = replace(answer, notes=(begun.under_way, *answer.notes))
    if work.should_stop():
        raise LeaseLost(f"question {question.id} was canceled or taken over")
    if meter.outage is not None and answer.finish_reason in ("error", "insufficient_evidence"):
        # What a model server that is away did not answer is no lack of evidence.
        raise unavailable(work, meter.outage)
    if answer.finish_reason == "error":
        # Another attempt may be answered. Only the last attempt's failure fails the question.
        raise JobFailed(answer.detail or "answer_failed", "the question could not be answered", retryable=True)
    frames = _keep_evidence(work, question.id, answer)
    left_ms = stages.left_ms()

    def store() -> None:
        work.bill(meter)
        stored = questions.store_answer(
            question=question, answer=answer, model_names=_roles(models, answer), frame_keys=frames
        )
        work.complete()
        if stored.finish_reason == "answered":
            add_pace(stored, left_ms)

    work.commit(store)
    observe_stages("answer", answer.timings)
    return None


@dataclass(frozen=True, slots=True)
class Begun:
    """What an attempt reads before it answers. scope: the hard filter of all its reads. profile: the scenario of the
    scope's first video. under_way: the note on what is not indexed yet, "" if all is."""

    question: Question
    scope: Scope
    profile: str
    under_way: str
    history: tuple[Turn, ...]
    rates: Rates
    budget: Budget
    allowance: Allowance


def _begin(work: Work, models: AnswerModels) -> Begun | None:
    """Mark the question as running; None if it is over, and its job with it."""
    question = questions.begin(question_id=work.lease.subject_id, reasoner=models.reasoner.name)
    if question is None:
        work.complete()
        return None
    rows = videos_of_question(question)
    scope = scope_of(question.tenant_id, rows, start_ms=question.start_ms, end_ms=question.end_ms)
    rates = rates_at(timezone.now())
    return Begun(
        question=question,
        scope=scope,
        profile=profile_of(rows),
        under_way=under_way(rows),
        history=tuple(Turn(text, answer) for text, answer in history_of(question)),
        rates=rates,
        budget=budget_of(question.budget, rates, _names(models), effort=cast(Effort, question.effort)),
        allowance=Allowance() if question.asked_by_operator else allowance_for(question.id),
    )


def _show(work: Work, write: Callable[[], None]) -> None:
    """Write for clients that watch the question, while the lease is held: a worker that lost it shows nothing."""
    try:
        with work.checkpoint():
            write()
    except LeaseLost:
        work.lost.set()
    except DATABASE_ERRORS as error:
        if not connection_broke(error):
            raise
        connection.close()


def _roles(models: AnswerModels, answer: Answer) -> dict[str, str]:
    """Return the model of each role, "" for none, and what the answer had to do without."""
    return {
        "reasoner": models.reasoner.name,
        "text_embedder": models.text_embedder.name,
        "frame_embedder": models.frame_embedder.name,
        "similarity": models.similarity.name,
        "checker": models.checker.name if models.checker else "",
        "reranker": models.reranker.name if models.reranker else "",
        "entailer": models.entailer.name if models.entailer else "",
        "unmeasured": "; ".join(answer.unmeasured),
        "notes": "; ".join(answer.notes),
    }


def _names(models: AnswerModels) -> list[str]:
    """Return the names of all models in use. Each model's device time costs something, even without tokens."""
    roles = (
        models.reasoner,
        models.checker,
        models.text_embedder,
        models.frame_embedder,
        models.similarity,
        models.reranker,
        models.entailer,
    )
    return [role.name for role in roles if role is not None]


def budget_of(limits: dict[str, Any], rates: Rates, model_names: Sequence[str], *, effort: Effort) -> Budget:
    """Return the question's limits, with the current costs of the models in use from the cost book.

    Tokens are limited by the effort, too.
    """
    cost, ceiling = limits.get("max_cost"), TOKEN_CEILING[effort]

    def per_million(meter: UsageMeter, model: str) -> Decimal:
        return rates.unit("cost", meter, model) * 1_000_000

    return Budget(
        max_calls=limits.get("max_calls"),
        max_tokens=min(limits.get("max_tokens") or ceiling, ceiling),
        max_seconds=limits.get("max_seconds"),
        max_cost=None if cost is None else Decimal(str(cost)),
        prices={
            model: Price(
                prompt_per_million=per_million(UsageMeter.INPUT_TOKENS, model),
                cached_per_million=per_million(UsageMeter.CACHED_TOKENS, model),
                completion_per_million=per_million(UsageMeter.OUTPUT_TOKENS, model),
                per_second=rates.unit("cost", UsageMeter.DEVICE_SECONDS, model),
            )
            for model in model_names
        },
    )


def _keep_evidence(work: Work, question_id: UUID, answer: Answer) -> dict[UUID, str]:
    """Copy each cited frame under its video's folder of the question, so that evidence outlives the index version.

    Returns the object key of each copied frame by frame id.
    """
    tenant_id = work.lease.tenant_id
    cited_ids = list(dict.fromkeys(citation.frame_id for citation in answer.citations if citation.frame_id))

    def read() -> list[tuple[Frame, RecordedPiece | None]]:
        frames = frames_with_videos(cited_ids)
        cited = (frames[frame_id] for frame_id in cited_ids if frame_id in frames)
        return [(frame, piece_at(frame.video, frame.ms)) for frame in cited]

    frame_keys, objects = {}, work.objects()
    for frame, piece in work.reading(read):
        picture = _read_picture(objects, frame, piece)
        if picture is not None:
            frame_keys[frame.id] = evidence_key(tenant_id, frame.video_id, question_id, frame.id, picture)
            # Frames of a video that is deleted meanwhile must not appear after its purge.
            work.require_lease()
            work.stores_under(frame.video_id)
            objects.put(frame_keys[frame.id], picture, content_type="image/jpeg")
    return frame_keys


def _read_picture(storage: ObjectStorage, frame: Frame, piece: RecordedPiece | None) -> bytes | None:
    """Return the frame in full size from the source, or else its thumbnail; reads no row.

    Returns None if the video was purged meanwhile; a citation then keeps its words and times.
    """
    if piece is not None:
        try:
            url = storage.presign_get(piece.object_key)
            return still(url, frame.ms - piece.start_ms, clock=piece.clock)
        except SourceUnreadable as error:
            logger.warning("frame %s is shown as its thumbnail: %s", frame.id, error)
    try:
        return storage.get(frame.thumbnail_key)
    except ObjectMissing:
        return None


def failed(lease: Lease, error: JobFailed) -> None:
    questions.fail_question(question_id=lease.subject_id, code=error.code, message=str(error))


def waste(lease: Lease, calls: Sequence[ModelCall], reason: str) -> None:
    """Record the calls of an attempt without an outcome: attributed to the question, never billed."""
    questions.record_wasted(question_id=lease.subject_id, calls=calls, reason=reason)

"""Making a comparison: its items, questions, pinned videos, charges and jobs, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from backend.billing.services.limits import budgets
from backend.jobs.deadlines import INDEX
from backend.jobs.models import JobKind
from backend.jobs.services import enqueue_many
from backend.library.models import Video, VideoStatus
from backend.questions.models import (
    Comparison,
    ComparisonItem,
    ComparisonVideo,
    Grading,
    Question,
    QuestionVideo,
)
from backend.questions.queries.questions import job_key
from backend.questions.services.charging import charge_all
from backend.questions.services.comparison_drafts import ComparisonRefused, Draft, draft, latin_square
from backend.questions.services.drafts import new_question
from backend.questions.services.holds import hold_questions
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import invalid

# Nobody waits for a comparison, so batches and questions asked alone go first.
PRIORITY = -10


def create_comparison(
    *,
    questions: Sequence[Mapping[str, Any]],
    arms: Sequence[Mapping[str, str]],
    name: str = "",
    seed: int = 0,
    repeats: int = 1,
    budget: Mapping[str, Any] | None = None,
    max_total_charge: Decimal | None = None,
    grading: str = Grading.CHOICE,
    external_id: str = "",
    metadata: Mapping[str, str] | None = None,
    api_key_id: UUID | None = None,
) -> Comparison:
    """Create a comparison with its items, questions, pinned videos, charges and jobs, in a fixed number of statements.

    questions, arms: as comparison_drafts.draft() takes them. budget: of each question. max_total_charge: charge of all
    answers above which open questions are canceled, in the currency of the prices. Each question is billed as any
    other. Raises ComparisonRefused with every fault, and MonthlyBudgetExhausted; nothing is written then.
    """
    parts = draft(questions=questions, arms=arms, repeats=repeats)
    budgets.require_left()
    pins = _pins(parts)
    comparison: Comparison = Comparison.objects.create(
        tenant_id=current_tenant_id(),
        name=name,
        arms=parts.arms,
        seed=seed,
        repeats=repeats,
        budget=dict(budget or {}),
        max_total_charge=max_total_charge,
        grading=grading,
        total=len(parts.items) * len(parts.arms) * repeats,
        external_id=external_id,
        metadata=dict(metadata or {}),
        api_key_id=api_key_id,
    )
    for item in parts.items:
        item.comparison = comparison
    ComparisonItem.objects.bulk_create(parts.items)
    ComparisonVideo.objects.bulk_create(
        [
            ComparisonVideo(
                tenant_id=comparison.tenant_id,
                comparison=comparison,
                video=video,
                index_version=video.active_index_version,
                indexed_until_ms=video.indexed_until_ms,
            )
            for video in pins.values()
        ]
    )
    _ask(comparison, parts, pins)
    return comparison


def _pins(parts: Draft) -> dict[UUID, Video]:
    """Lock the videos of all scopes and return them as they are now, with the versions and extents to pin.

    The lock holds until the questions that pin a version are committed: a version is replaced either before it is read
    here, or after a retirement can see its questions. Raises ComparisonRefused if a video is deleted meanwhile.
    """
    ids = sorted({video.id for scope in parts.scopes for video in scope})
    present = Video.objects.select_for_update(no_key=True).exclude(status=VideoStatus.DELETING)
    videos = {video.id: video for video in present.filter(id__in=ids).order_by("id")}
    faults = [
        invalid(pointer=f"/questions/{n}/video_ids", code="unknown_video", detail="A video was deleted meanwhile.")
        for n, scope in enumerate(parts.scopes)
        if any(video.id not in videos for video in scope)
    ]
    if faults:
        raise ComparisonRefused(faults)
    return videos


def _ask(comparison: Comparison, parts: Draft, pins: Mapping[UUID, Video]) -> None:
    """Write the questions and queue them: each repeat once through all items, the arms of an item in Latin squares.

    The first arm of an item warms the server's prefix cache for the next, so every arm comes first equally often.
    """
    square = latin_square(len(parts.arms), comparison.seed)
    rows: list[Question] = []
    scopes: list[QuestionVideo] = []
    for repeat in range(comparison.repeats):
        for item, videos in zip(parts.items, parts.scopes, strict=True):
            for arm in square[(item.position + repeat) % len(square)]:
                question = _question(comparison, item, arm, repeat)
                rows.append(question)
                scopes.extend(_pinned(question, pins[video.id]) for video in videos)
    charge_all(rows, api_key_id=comparison.api_key_id)
    Question.objects.bulk_create(rows)
    QuestionVideo.objects.bulk_create(scopes)
    enqueue_many(
        kind=JobKind.ANSWER_QUESTION,
        subjects={job_key(row.id): row.id for row in rows},
        priority=PRIORITY,
        deadline=INDEX,
    )
    hold_questions(rows, api_key_id=comparison.api_key_id)


def _question(comparison: Comparison, item: ComparisonItem, arm: int, repeat: int) -> Question:
    """Return the unsaved question of one item and arm. It holds nothing of the item's labels."""
    chosen = comparison.arms[arm]
    question = new_question(
        text=item.text,
        choices=item.choices,
        start_ms=item.start_ms,
        end_ms=item.end_ms,
        method=chosen["method"],
        effort=chosen["effort"],
        check=chosen["check"],
        budget=comparison.budget,
        # A repeat samples again; the arms of one repeat share the seed.
        seed=(comparison.seed + repeat) % 2**31,
        external_id=item.external_id,
    )
    question.comparison, question.comparison_item = comparison, item
    question.comparison_arm, question.repeat = arm, repeat
    return question


def _pinned(question: Question, video: Video) -> QuestionVideo:
    return QuestionVideo(
        tenant_id=question.tenant_id,
        question=question,
        video=video,
        index_version=video.active_index_version,
        indexed_until_ms=video.indexed_until_ms,
    )

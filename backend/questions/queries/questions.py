"""Reads of questions and of what led to their answers, within the entered tenant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import QuerySet

from backend.jobs.models import Job
from backend.questions.models import (
    Candidate,
    Evidence,
    Feedback,
    Node,
    Question,
    QuestionBatch,
    QuestionStatus,
    QuestionVideo,
)
from backend.questions.services.questions import job_key

TERMINAL = frozenset({QuestionStatus.SUCCEEDED, QuestionStatus.FAILED, QuestionStatus.CANCELED})


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a question stands: units of its stage, as its job last said; total 0 is unknown."""

    stage: str
    done: int
    total: int
    attempt: int


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question with the rows that its representation shows."""

    question: Question
    videos: tuple[UUID, ...]
    evidence: tuple[Evidence, ...]
    progress: Progress | None = None
    feedback: Feedback | None = None
    nodes: tuple[tuple[Node, tuple[Candidate, ...]], ...] | None = field(default=None)


def questions(
    *,
    status: str = "",
    external_id: str = "",
    video_id: UUID | None = None,
    batch_id: UUID | None = None,
    session_id: UUID | None = None,
    verdict: str = "",
) -> QuerySet[Question]:
    found: QuerySet[Question] = Question.objects.all()
    if status:
        found = found.filter(status=status)
    if external_id:
        found = found.filter(external_id=external_id)
    if video_id is not None:
        found = found.filter(id__in=QuestionVideo.objects.filter(video_id=video_id).values("question_id"))
    if batch_id is not None:
        found = found.filter(batch_id=batch_id)
    if session_id is not None:
        found = found.filter(session_id=session_id)
    if verdict:
        found = found.filter(id__in=Feedback.objects.filter(verdict=verdict).values("question_id"))
    return found


def batches(*, status: str = "", external_id: str = "") -> QuerySet[QuestionBatch]:
    found: QuerySet[QuestionBatch] = QuestionBatch.objects.all()
    if status:
        found = found.filter(status=status)
    return found.filter(external_id=external_id) if external_id else found


def feedback_of(question_ids: Sequence[UUID]) -> dict[UUID, Feedback]:
    return {given.question_id: given for given in Feedback.objects.filter(question_id__in=question_ids)}


def views_of(rows: Sequence[Question], *, trace: bool = False) -> list[QuestionView]:
    """Everything the representations of these questions need, in a fixed number of queries."""
    ids = [row.id for row in rows]
    videos: dict[UUID, list[UUID]] = defaultdict(list)
    for question_id, video_id in (
        QuestionVideo.objects.filter(question_id__in=ids).order_by("id").values_list("question_id", "video_id")
    ):
        videos[question_id].append(video_id)
    evidence: dict[UUID, list[Evidence]] = defaultdict(list)
    for item in Evidence.objects.filter(question_id__in=ids).order_by("question_id", "ordinal"):
        evidence[item.question_id].append(item)
    progress = _progress_of([row.id for row in rows if row.status not in TERMINAL])
    feedback = feedback_of(ids)
    nodes = {row.id: nodes_of(row.id) for row in rows} if trace else {}
    return [
        QuestionView(
            question=row,
            videos=tuple(videos[row.id]),
            evidence=tuple(evidence[row.id]),
            progress=progress.get(row.id),
            feedback=feedback.get(row.id),
            nodes=nodes.get(row.id),
        )
        for row in rows
    ]


def view_of(question: Question, *, trace: bool = False) -> QuestionView:
    return views_of([question], trace=trace)[0]


def nodes_of(question_id: UUID) -> tuple[tuple[Node, tuple[Candidate, ...]], ...]:
    """The search tree in the engine's order, each node with its candidates."""
    nodes = list(Node.objects.filter(question_id=question_id).order_by("ordinal"))
    candidates: dict[UUID, list[Candidate]] = defaultdict(list)
    for candidate in Candidate.objects.filter(node_id__in=[node.id for node in nodes]).order_by("node_id", "ordinal"):
        candidates[candidate.node_id].append(candidate)
    return tuple((node, tuple(candidates[node.id])) for node in nodes)


def _progress_of(question_ids: Iterable[UUID]) -> dict[UUID, Progress]:
    keys = [job_key(question_id) for question_id in question_ids]
    if not keys:
        return {}
    return {
        job.subject_id: Progress(job.progress_stage, job.progress_done, job.progress_total, job.attempt)
        for job in Job.objects.filter(dedupe_key__in=keys)
    }

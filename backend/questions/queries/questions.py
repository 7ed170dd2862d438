"""Reads of questions and of the rows behind their answers, within the entered tenant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.jobs.models import Job, JobRank, JobState
from backend.questions.models import (
    OPEN,
    Candidate,
    Evidence,
    Failure,
    Feedback,
    Node,
    Question,
    QuestionVideo,
    failure_of,
)
from backend.questions.queries.paces import seconds_left


def job_key(question_id: UUID) -> str:
    """Return the dedupe key of a question's job."""
    return f"question:{question_id}"


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a question's job within its stage, in the stage's units, and what people decided about the job.

    total: 0 if unknown. detail: what is worked on, in words.
    seconds_left: None while nothing can be said (backend.questions.queries.paces).
    """

    stage: str
    done: int
    total: int
    attempt: int
    rank: JobRank = JobRank.NORMAL
    deadline_at: datetime | None = None
    paused_at: datetime | None = None
    seconds_left: int | None = None
    detail: str = ""

    @property
    def percent(self) -> int | None:
        """Return the percentage that is done; None if the total is unknown."""
        return round(100 * self.done / self.total) if self.total else None


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """An event of a node's event list. rank: from 1. views: the retrieval views that found the event."""

    event_id: UUID
    rank: int
    score: float
    views: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node of the search tree with its candidates."""

    node: Node
    candidates: tuple[Candidate, ...]

    @property
    def events(self) -> tuple[NodeEvent, ...]:
        """Return the event list of the node, in the order of the ranks."""
        return tuple(
            NodeEvent(UUID(event["event_id"]), event["rank"], event["score"], tuple(event.get("views", ())))
            for event in self.node.events
        )

    @property
    def reused_from(self) -> str | None:
        """Return the path of the node whose answer this node shares; None if it has its own."""
        return self.node.reused_from or None

    @property
    def error_code(self) -> str | None:
        """Return the code of the error that ended the node; None without an error."""
        return self.node.error_code or None

    def without_words(self) -> NodeView:
        """Return the node with its scores and events, and without what models wrote."""
        node, abstained = copy(self.node), self.node.answer == "insufficient"
        node.answer, node.seen = self.node.answer if abstained else None, []
        node.detail = {**node.detail, "observation": "", "thought": ""} if node.detail else {}
        candidates = [copy(candidate) for candidate in self.candidates]
        for candidate in candidates:
            candidate.answer, candidate.choice, candidate.reasoning = "", None, ""
        return replace(self, node=node, candidates=tuple(candidates))


@dataclass(frozen=True, slots=True)
class Stretch:
    """The stretch of a video that the time of a question means, in milliseconds."""

    video_id: UUID
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question with the rows that are shown with it. nodes: the search tree, None if it was not read."""

    question: Question
    video_ids: tuple[UUID, ...]
    evidence: tuple[Evidence, ...]
    progress: Progress | None = None
    feedback: Feedback | None = None
    nodes: tuple[NodeView, ...] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the question has no outcome."""
        return self.question.status in OPEN

    @property
    def rank(self) -> JobRank | None:
        """Return the position of an open question among those of its tenant; None once it has an outcome."""
        return self.progress.rank if self.progress else None

    @property
    def deadline_at(self) -> datetime | None:
        """Return when an open question fails without an answer."""
        return self.progress.deadline_at if self.progress else None

    @property
    def paused_at(self) -> datetime | None:
        """Return when an open question was paused; None if it is not."""
        return self.progress.paused_at if self.progress else None

    @property
    def understood(self) -> dict[str, Any] | None:
        """Return what the words were taken to ask for, its time as Stretches of videos; None without an answer."""
        stored = self.question.understood
        if not stored:
            return None
        time = stored.get("time")
        if time is not None:
            spans = [Stretch(UUID(span["video_id"]), span["start_ms"], span["end_ms"]) for span in time["spans"]]
            time = {**time, "spans": spans}
        return {**stored, "time": time, "videos": [UUID(video_id) for video_id in stored.get("videos", ())]}

    @property
    def standalone_question(self) -> str | None:
        """Return the wording of a follow-up that the search used; None if that is the question itself."""
        return self.question.standalone or None

    @property
    def finish_reason(self) -> str | None:
        """Return why the search ended; None while it runs."""
        return self.question.finish_reason or None

    @property
    def finish_detail(self) -> str | None:
        """Return the code behind a finish reason other than answered."""
        return self.question.finish_detail or None

    @property
    def composition(self) -> dict[str, Any] | None:
        """Return the answer in parts: {shape, columns, parts}; None for a sentence."""
        return self.question.composition or None

    @property
    def partial_answer(self) -> dict[str, Any] | None:
        """Return the best answer so far of a question without an answer: {text, choice, score, path, level}.

        Only a question that is marked as shown has one (services.shown), because it is charged then.
        """
        return (self.question.partial or None) if self.question.shown else None

    @property
    def usage(self) -> dict[str, Any] | None:
        """Return the consumption of the answer's model calls; None while there is no answer."""
        return self.question.usage or None

    @property
    def timings(self) -> dict[str, int] | None:
        """Return durations in ms; None while there is no answer."""
        return self.question.timings or None

    @property
    def error(self) -> Failure | None:
        """Return why the question failed; None if it did not."""
        return failure_of(self.question)


def questions(
    *,
    status: str = "",
    external_id: str = "",
    video_id: UUID | None = None,
    batch_id: UUID | None = None,
    comparison_id: UUID | None = None,
    session_id: UUID | None = None,
    verdict: str = "",
) -> QuerySet[Question]:
    """Return the questions of the entered tenant. An argument that is empty or None restricts nothing."""
    rows: QuerySet[Question] = Question.objects.all()
    if status:
        rows = rows.filter(status=status)
    if external_id:
        rows = rows.filter(external_id=external_id)
    if video_id is not None:
        rows = rows.filter(id__in=QuestionVideo.objects.filter(video_id=video_id).values("question_id"))
    if batch_id is not None:
        rows = rows.filter(batch_id=batch_id)
    if comparison_id is not None:
        rows = rows.filter(comparison_id=comparison_id)
    if session_id is not None:
        rows = rows.filter(session_id=session_id)
    if verdict:
        rows = rows.filter(id__in=Feedback.objects.filter(verdict=verdict).values("question_id"))
    return rows


def questions_over(*, since: datetime | None, verdict: str, after: UUID | None, size: int) -> list[Question]:
    """Return the next questions that have an outcome, in the order in which they were asked. since: none asked before.
    verdict: of their feedback, "" for any. after: id of the question before them."""
    rows = questions(verdict=verdict).exclude(status__in=OPEN)
    if since is not None:
        rows = rows.filter(created_at__gte=since)
    if after is not None:
        rows = rows.filter(id__gt=after)
    return list(rows.order_by("id")[:size])


def is_over(question_id: UUID) -> bool:
    """Whether a question has an outcome."""
    return Question.objects.filter(id=question_id).exclude(status__in=OPEN).exists()


def views_of(rows: Sequence[Question], *, trace: bool = False) -> list[QuestionView]:
    """Return the questions with the rows that are shown with them, in a fixed number of statements.

    trace: also read the search trees, with two statements for each question.
    """
    ids = [row.id for row in rows]
    videos: dict[UUID, list[UUID]] = defaultdict(list)
    scopes = QuestionVideo.objects.filter(question_id__in=ids).order_by("id")
    for question_id, video_id in scopes.values_list("question_id", "video_id"):
        videos[question_id].append(video_id)
    evidence: dict[UUID, list[Evidence]] = defaultdict(list)
    cited = Evidence.objects.filter(question_id__in=ids).select_related("video").order_by("question_id", "ordinal")
    for item in cited:
        evidence[item.question_id].append(item)
    progress = progress_of([row for row in rows if row.status in OPEN])
    feedback = feedback_of(ids)
    nodes = {row.id: shown_nodes(row, nodes_of(row.id)) for row in rows} if trace else {}
    return [
        QuestionView(
            question=row,
            video_ids=tuple(videos[row.id]),
            evidence=tuple(evidence[row.id]),
            progress=progress.get(row.id),
            feedback=feedback.get(row.id),
            nodes=nodes.get(row.id),
        )
        for row in rows
    ]


def view_of(question: Question, *, trace: bool = False) -> QuestionView:
    """Return one question with the rows that are shown with it. trace: also read its search tree."""
    return views_of([question], trace=trace)[0]


def shown_nodes(question: Question, nodes: Sequence[NodeView]) -> tuple[NodeView, ...]:
    """Return nodes of a search, without what models wrote in them if the question ended free, or may still do so."""
    paid = question.shown if question.status in OPEN else question.has_answer or bool(question.charge_amount)
    if paid or question.asked_by_operator:
        return tuple(nodes)
    return tuple(node.without_words() for node in nodes)


def nodes_of(question_id: UUID, *, first: int = 0) -> tuple[NodeView, ...]:
    """Return the search tree in the engine's order, each node with its candidates. first: ordinal of the first node."""
    nodes = list(Node.objects.filter(question_id=question_id, ordinal__gte=first).order_by("ordinal"))
    if not nodes:
        return ()
    candidates: dict[UUID, list[Candidate]] = defaultdict(list)
    for candidate in Candidate.objects.filter(node_id__in=[node.id for node in nodes]).order_by("node_id", "ordinal"):
        candidates[candidate.node_id].append(candidate)
    return tuple(NodeView(node, tuple(candidates[node.id])) for node in nodes)


def progress_of(rows: Sequence[Question]) -> dict[UUID, Progress]:
    """Return the progress of each open question's job, in at most two statements."""
    jobs = Job.objects.filter(dedupe_key__in=[job_key(row.id) for row in rows]) if rows else ()
    by_question = {job.subject_id: job for job in jobs}
    worked_on = [row for row in rows if row.id in by_question and by_question[row.id].state == JobState.RUNNING]
    left = seconds_left(worked_on)
    details = {row.id: row.stage_detail for row in worked_on}
    return {
        question_id: Progress(
            job.progress_stage,
            job.progress_done,
            job.progress_total,
            job.attempt,
            JobRank(job.rank),
            job.deadline_at,
            job.paused_at,
            left.get(question_id),
            details.get(question_id, ""),
        )
        for question_id, job in by_question.items()
    }


def feedback_of(question_ids: Iterable[UUID]) -> dict[UUID, Feedback]:
    """Return the feedback of these questions by question id; a question without feedback is left out."""
    return {row.question_id: row for row in Feedback.objects.filter(question_id__in=question_ids)}

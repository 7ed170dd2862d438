"""Reads of one question, its search, its evidence and its batch."""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.api.public_ids import encode, parse
from backend.billing.models import QUESTION, ModelCall
from backend.console.queries.role import across_tenants, rows
from backend.jobs.models import Job
from backend.questions.models import Candidate, Evidence, Feedback, Node, Question, QuestionBatch, QuestionVideo
from backend.questions.services.again import ASKED_AGAIN


def nodes_with_candidates(question_id: UUID) -> list[tuple[Node, list[Candidate]]]:
    """Return the nodes of a question's search in order, each with its candidates, in two queries."""
    nodes: list[Node] = list(across_tenants(Node).filter(question_id=question_id).order_by("ordinal"))
    candidates: defaultdict[UUID, list[Candidate]] = defaultdict(list)
    of_nodes = across_tenants(Candidate).filter(node_id__in=[node.id for node in nodes])
    for candidate in of_nodes.order_by("node_id", "ordinal"):
        candidates[candidate.node_id].append(candidate)
    return [(node, candidates[node.id]) for node in nodes]


def evidence(question_id: UUID) -> QuerySet[Any]:
    """Return the evidence of a question's answer, in order."""
    return across_tenants(Evidence).filter(question_id=question_id).select_related("video").order_by("ordinal")


def videos(question_id: UUID) -> QuerySet[Any]:
    """Return the scope of a question: its videos with their pinned versions."""
    return across_tenants(QuestionVideo).filter(question_id=question_id).select_related("video")


def feedback(question_id: UUID) -> Feedback | None:
    """Return the customer's judgement of the answer, if any."""
    row: Feedback | None = across_tenants(Feedback).filter(question_id=question_id).first()
    return row


def questions_judged(verdict: str) -> QuerySet[Any]:
    """Return the ids of the questions whose answer has this verdict."""
    return across_tenants(Feedback).filter(verdict=verdict).values("question_id")


def latest_job(question_id: UUID) -> Job | None:
    """Return the latest job of a question, if any."""
    row: Job | None = across_tenants(Job).filter(subject_id=question_id).order_by("-id").first()
    return row


def batch(batch_id: UUID) -> QuestionBatch:
    """Return the batch. Raises QuestionBatch.DoesNotExist."""
    row: QuestionBatch = across_tenants(QuestionBatch).get(id=batch_id)
    return row


def batch_counts(batch_id: UUID) -> list[dict[str, Any]]:
    """Count the questions of a batch by status."""
    return rows(
        "SELECT q.status, count(*) AS n FROM questions_questionbatch b "
        "JOIN questions_question q ON q.tenant_id = b.tenant_id AND q.batch_id = b.id "
        "WHERE b.id = %(batch)s GROUP BY 1 ORDER BY 2 DESC, 1",
        {"batch": batch_id},
    )


def model_calls(question: Question) -> QuerySet[Any]:
    """Return the first 300 model calls of a question, in their order."""
    calls = across_tenants(ModelCall).filter(tenant_id=question.tenant_id, source_type=QUESTION, source_id=question.id)
    return calls.order_by("ordinal")[:300]


def asked_again(question: Question) -> list[Question]:
    """Return the questions that repeat this one, or the one that it repeats with its other repetitions."""
    first = parse("qst", question.metadata.get(ASKED_AGAIN, "")) or question.id
    same = across_tenants(Question).filter(tenant_id=question.tenant_id)
    # Ids grow with time, so a copy lies behind its original, and only later questions are read.
    copies = same.filter(id__gt=first, **{f"metadata__{ASKED_AGAIN}": encode("qst", first)}).order_by("id")[:9]
    return [*same.filter(id=first), *copies]

"""Reads of one question, its search, its evidence and its batch."""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.api.public_ids import encode, parse
from backend.billing.models import QUESTION, ModelCall
from backend.console.queries.role import across_tenants, joined, of_same_tenant, rows
from backend.jobs.models import Job
from backend.questions.models import Candidate, Evidence, Feedback, Node, Question, QuestionBatch, QuestionVideo
from backend.questions.services.again import ASKED_AGAIN


def nodes_with_candidates(question: Question) -> list[tuple[Node, list[Candidate]]]:
    """Return the nodes of a question's search in order, each with its candidates, in two queries."""
    of_question = of_same_tenant(Node, question).filter(question_id=question.id)
    nodes: list[Node] = list(of_question.order_by("ordinal"))
    candidates: defaultdict[UUID, list[Candidate]] = defaultdict(list)
    of_nodes = of_same_tenant(Candidate, question).filter(node_id__in=[node.id for node in nodes])
    for candidate in of_nodes.order_by("node_id", "ordinal"):
        candidates[candidate.node_id].append(candidate)
    return [(node, candidates[node.id]) for node in nodes]


def evidence(question: Question) -> QuerySet[Any]:
    """Return the evidence of a question's answer, in order."""
    return joined(of_same_tenant(Evidence, question), "video").filter(question_id=question.id).order_by("ordinal")


def videos(question: Question) -> QuerySet[Any]:
    """Return the scope of a question: its videos with their pinned versions."""
    return joined(of_same_tenant(QuestionVideo, question), "video").filter(question_id=question.id)


def feedback(question: Question) -> Feedback | None:
    """Return the customer's judgement of the answer, if any."""
    row: Feedback | None = of_same_tenant(Feedback, question).filter(question_id=question.id).first()
    return row


def questions_judged(verdict: str) -> QuerySet[Any]:
    """Return the ids of the questions whose answer has this verdict."""
    return across_tenants(Feedback).filter(verdict=verdict).values("question_id")


def latest_job(question: Question) -> Job | None:
    """Return the latest job of a question, if any."""
    row: Job | None = of_same_tenant(Job, question).filter(subject_id=question.id).order_by("-id").first()
    return row


def batch(question: Question) -> QuestionBatch | None:
    """Return the batch that a question was asked in, if any."""
    row: QuestionBatch | None = of_same_tenant(QuestionBatch, question).filter(id=question.batch_id).first()
    return row


def batch_counts(question: Question) -> list[dict[str, Any]]:
    """Count the questions of a question's batch by status."""
    return rows(
        "SELECT status, count(*) AS n FROM questions_question WHERE tenant_id = %(tenant)s AND batch_id = %(batch)s "
        "GROUP BY 1 ORDER BY 2 DESC, 1",
        {"tenant": question.tenant_id, "batch": question.batch_id},
    )


def model_calls(question: Question) -> QuerySet[Any]:
    """Return the model calls of a question, in their order."""
    calls = of_same_tenant(ModelCall, question).filter(source_type=QUESTION, source_id=question.id)
    return calls.order_by("ordinal")


def asked_again(question: Question) -> list[Question]:
    """Return the questions that repeat this one, or the one that it repeats with its other repetitions."""
    first = parse("qst", question.metadata.get(ASKED_AGAIN, "")) or question.id
    same = of_same_tenant(Question, question)
    # Ids grow with time, so a copy lies behind its original, and only later questions are read.
    copies = same.filter(id__gt=first, **{f"metadata__{ASKED_AGAIN}": encode("qst", first)}).order_by("id")[:9]
    return [*same.filter(id=first), *copies]

"""Writes of feedback: a customer's verdict on an answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from backend.questions.models import OPEN, Feedback, Question, QuestionStatus
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused, invalid


def give_feedback(
    *,
    question: Question,
    verdict: str,
    note: str = "",
    correct_answer: str = "",
    correct_choice: int | None = None,
    api_key_id: UUID | None = None,
    person_id: UUID | None = None,
) -> Feedback:
    """Store the verdict on an answer; it replaces an earlier verdict.

    verdict: a value of Verdict. api_key_id, person_id: the key or the member that gives it.
    Raises Refused: question_open, question_unanswered (the question failed or was canceled), unknown_choice.
    """
    if question.status in OPEN:
        raise Refused("question_open", "The question has no outcome yet. Give feedback once it has an answer.")
    if question.status == QuestionStatus.FAILED:
        raise Refused("question_unanswered", "The question failed, so there is no answer to judge.")
    if question.status == QuestionStatus.CANCELED:
        raise Refused("question_unanswered", "The question was canceled, so there is no answer to judge.")
    if correct_choice is not None and correct_choice >= len(question.choices):
        raise invalid(
            pointer="/correct_choice",
            code="unknown_choice",
            detail="Give the index of one of the question's choices, counted from 0.",
        )
    values: dict[str, Any] = {
        "verdict": verdict,
        "note": note,
        "correct_answer": correct_answer,
        "correct_choice": correct_choice,
        "api_key_id": api_key_id,
        "person_id": person_id,
    }
    feedback: Feedback
    feedback, _ = Feedback.objects.update_or_create(
        tenant_id=current_tenant_id(), question_id=question.id, defaults=values
    )
    return feedback


def withdraw_feedback(*, question_id: UUID) -> bool:
    """Delete the feedback of a question. Returns whether there was any."""
    removed, _ = Feedback.objects.filter(question_id=question_id).delete()
    return bool(removed)

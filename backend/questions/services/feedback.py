"""What customers say of answers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from backend.questions.models import OPEN, Feedback, Question, QuestionStatus
from backend.questions.refusals import QuestionRefused, invalid
from backend.tenancy.context import current_tenant_id

VERDICTS = ("right", "wrong")


def give_feedback(
    *,
    question: Question,
    verdict: str,
    note: str = "",
    correct_answer: str = "",
    correct_choice: int | None = None,
    api_key_id: UUID | None = None,
) -> Feedback:
    """Store the verdict on an answer, in place of an earlier one.

    Raises QuestionRefused: question_open, question_unanswered (it failed or was canceled: there is nothing to judge),
    unknown_choice.
    """
    if question.status in OPEN:
        raise QuestionRefused("question_open", "The question has no outcome yet.")
    if question.status != QuestionStatus.SUCCEEDED:
        raise QuestionRefused("question_unanswered", f"The question has {question.status}: it has no answer to judge.")
    if correct_choice is not None and correct_choice >= len(question.choices):
        raise invalid("unknown_choice", "correct_choice is an index into the question's choices.", "/correct_choice")
    values: dict[str, Any] = {
        "verdict": verdict,
        "note": note,
        "correct_answer": correct_answer,
        "correct_choice": correct_choice,
        "api_key_id": api_key_id,
    }
    given: Feedback
    given, _ = Feedback.objects.update_or_create(
        tenant_id=current_tenant_id(), question_id=question.id, defaults=values
    )
    return given


def withdraw_feedback(*, question_id: UUID) -> bool:
    """False when there was none."""
    removed, _ = Feedback.objects.filter(question_id=question_id).delete()
    return bool(removed)

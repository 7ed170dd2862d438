"""Reads of feedback, within the entered tenant."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from backend.questions.models import Feedback


def feedback_of(question_ids: Iterable[UUID]) -> dict[UUID, Feedback]:
    """Return the feedback of these questions by question id; a question without feedback is left out."""
    return {row.question_id: row for row in Feedback.objects.filter(question_id__in=question_ids)}

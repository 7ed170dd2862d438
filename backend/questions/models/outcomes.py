"""Statuses and failures that questions and searches share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from backend.questions.models.questions import Question
    from backend.questions.models.searches import Search


class QuestionStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"


OPEN = (QuestionStatus.QUEUED, QuestionStatus.RUNNING)
"""Statuses without an outcome, of questions and of searches."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a question or a search failed. code: stable. message: a sentence for the customer."""

    code: str
    message: str


def failure_of(row: Question | Search) -> Failure | None:
    """Return why a question or a search failed; None if it did not."""
    return Failure(row.error_code, row.error_message) if row.status == QuestionStatus.FAILED else None

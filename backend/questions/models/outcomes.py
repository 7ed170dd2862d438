"""Statuses and failures that questions and searches share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from django.db import models


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


class Asked(Protocol):
    """What a question and a search have in common."""

    @property
    def status(self) -> str: ...
    @property
    def error_code(self) -> str: ...
    @property
    def error_message(self) -> str: ...


def failure_of(row: Asked) -> Failure | None:
    """Return why a question or a search failed; None if it did not."""
    return Failure(row.error_code, row.error_message) if row.status == QuestionStatus.FAILED else None

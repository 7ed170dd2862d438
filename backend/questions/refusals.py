"""Why a question cannot be asked as it stands."""

from __future__ import annotations

from backend.tenancy.refusals import Refused


class QuestionRefused(Refused):
    """A question that cannot be asked as it stands."""


def invalid(code: str, detail: str, pointer: str) -> QuestionRefused:
    """A refusal that is about one value of the request."""
    return QuestionRefused(code, detail, status=400, pointer=pointer)

"""Questions before they are saved: their words, choices and spans checked, their rows built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.library.models import Video
from backend.questions.models import Question, QuestionVideo
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused, invalid
from gpu_workers.engine.answering.contract import MAX_CHOICES, ROUTED_METHOD

CHECKING_METHOD = "ava"
"""The method whose doubtful answers `check` decides about."""


def new_question(
    *,
    text: str,
    choices: Sequence[str] = (),
    start_ms: int | None = None,
    end_ms: int | None = None,
    method: str = "ava",
    effort: str = "medium",
    check: str = "auto",
    route: str = "auto",
    language: str = "",
    budget: Mapping[str, Any] | None = None,
    seed: int = 0,
    external_id: str = "",
    metadata: Mapping[str, str] | None = None,
) -> Question:
    """Return the row of a question, checked and not yet saved.

    start_ms, end_ms: the span of every video that may be read. language: ISO 639-1 code of the answer, "" for the
    question's own. budget: {max_calls, max_tokens, max_seconds, max_cost}.
    Raises Refused: empty_question, invalid_choices, invalid_span, check_not_applicable, route_not_applicable.
    """
    options = check_choices(choices)
    text = check_text(text)
    check_span(start_ms, end_ms)
    check_method(method, check)
    check_route(method, route)
    return Question(
        tenant_id=current_tenant_id(),
        text=text,
        choices=options,
        method=method,
        effort=effort,
        check_mode=check,
        route=route,
        language=language,
        start_ms=start_ms,
        end_ms=end_ms,
        budget=dict(budget or {}),
        seed=seed,
        external_id=external_id,
        metadata=dict(metadata or {}),
    )


def scope_rows(question: Question, videos: Sequence[Video]) -> list[QuestionVideo]:
    """Return the unsaved rows of a question's scope."""
    return [QuestionVideo(tenant_id=question.tenant_id, question=question, video=video) for video in videos]


def check_text(text: str) -> str:
    """Return the words of a question without surrounding space. Raises Refused empty_question."""
    text = text.strip()
    if not text:
        raise invalid(pointer="/question", code="empty_question", detail="Write a question of at least one word.")
    return text


def check_choices(choices: Sequence[str]) -> list[str]:
    """Return the choices without surrounding space. Raises Refused invalid_choices."""
    options = [choice.strip() for choice in choices]
    if options and not 2 <= len(options) <= MAX_CHOICES:
        raise _invalid_choices(f"Give 2 to {MAX_CHOICES} choices, or leave choices out.")
    if not all(options):
        raise _invalid_choices("Write at least one word for every choice.")
    if len({option.casefold() for option in options}) != len(options):
        raise _invalid_choices("Give choices that differ from each other.")
    return options


def check_span(start_ms: int | None, end_ms: int | None) -> None:
    """Check the span of a scope. Raises Refused invalid_span when it is empty."""
    if start_ms is not None and end_ms is not None and start_ms >= end_ms:
        raise invalid(pointer="/end_ms", code="invalid_span", detail="end_ms must be greater than start_ms.")


def check_method(method: str, check: str) -> None:
    """Check that the method looks again as a request wants. Raises Refused check_not_applicable."""
    if check != "auto" and method != CHECKING_METHOD:
        detail = f"Only method {CHECKING_METHOD} looks again. Leave `check` out, or set it to auto."
        raise invalid(pointer="/check", code="check_not_applicable", detail=detail)


def check_route(method: str, route: str) -> None:
    """Check that the method has routes where a request wants one. Raises Refused route_not_applicable."""
    if route != "auto" and method != ROUTED_METHOD:
        detail = f"Only method {ROUTED_METHOD} has routes. Leave `route` out, or set it to auto."
        raise invalid(pointer="/route", code="route_not_applicable", detail=detail)


def _invalid_choices(detail: str) -> Refused:
    return invalid(pointer="/choices", code="invalid_choices", detail=detail)

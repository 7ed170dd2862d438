"""Reads of how long open questions will still take, within the entered tenant."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models.functions import Now

from backend.questions.models import Question, QuestionPace, QuestionStatus


def seconds_left(rows: Sequence[Question]) -> dict[UUID, int]:
    """Return the seconds until the answer of each question that is worked on, in at most one statement.

    They are what answers by the same method, effort and model took from the beginning of the present stage, less what
    the stage has taken; 0 once it takes longer. A question is left out while no such answer was measured.
    """
    begun = [row for row in rows if row.status == QuestionStatus.RUNNING and row.stage_at is not None]
    if not begun:
        return {}
    paces = QuestionPace.objects.filter(
        method__in={row.method for row in begun},
        effort__in={row.effort for row in begun},
        model__in={_model_of(row) for row in begun},
        stage__in={row.stage for row in begun},
    ).values_list("method", "effort", "model", "stage", "left_ms", Now())
    known = {(method, effort, model, stage): (left_ms, now) for method, effort, model, stage, left_ms, now in paces}
    left: dict[UUID, int] = {}
    for row in begun:
        left_ms, now = known.get((row.method, row.effort, _model_of(row), row.stage), (None, None))
        if left_ms is not None:
            left[row.id] = max(0, round(left_ms / 1000 - (now - row.stage_at).total_seconds()))
    return left


def _model_of(row: Question) -> str:
    return str(row.model_names.get("reasoner", ""))

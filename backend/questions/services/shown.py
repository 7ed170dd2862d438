"""Questions as their customer sees them: a partial answer that is shown is marked, because it is charged then."""

from __future__ import annotations

from collections.abc import Sequence

from backend.questions.models import OPEN, Question
from backend.questions.queries.questions import QuestionView, views_of


def shown_views_of(rows: Sequence[Question], *, trace: bool = False) -> list[QuestionView]:
    """Return the questions with the rows that are shown with them, and mark partial answers as shown.

    trace: as in queries.questions.views_of().
    """
    mark_shown(rows)
    return views_of(rows, trace=trace)


def mark_shown(rows: Sequence[Question]) -> None:
    """Mark the open questions that show a partial answer, here and in the table.

    A question that has got its outcome meanwhile is not marked: whoever wrote the outcome did not charge for it.
    """
    waiting = [row for row in rows if row.partial and not row.shown and row.status in OPEN]
    if not waiting:
        return
    still_open = Question.objects.select_for_update(no_key=True).filter(
        id__in=[row.id for row in waiting], status__in=OPEN
    )
    ids = set(still_open.order_by("id").values_list("id", flat=True))
    Question.objects.filter(id__in=ids).update(shown=True)
    for row in waiting:
        row.shown = row.id in ids

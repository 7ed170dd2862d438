"""Grades of a comparison's answers: by the index of a choice, by exact words, or by a judge that reads the answer.

A grade is written once and stays. Feedback overrides it where the figures are read, so that a withdrawn verdict leaves
the grade as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

from backend.billing.models import GRADE
from backend.billing.services.usage import ledger
from backend.questions.figures.grading import same_choice, same_words
from backend.questions.models import (
    Comparison,
    ComparisonItem,
    ComparisonStatus,
    Grade,
    Grader,
    Grading,
    Question,
    QuestionStatus,
)

if TYPE_CHECKING:
    from gpu_workers.engine.models.roles import ModelCall


def grade_without_model(question: Question, item: ComparisonItem, grading: str) -> tuple[str, str]:
    """Return (grade, graded by) of a question with its outcome; ("", "") if it has none or a judge must read it.

    grading: a value of Grading. A labeled choice is compared by its index, whatever the grading. A judge reads only
    answers whose words differ from the right answer.
    """
    if question.status != QuestionStatus.SUCCEEDED:
        return "", ""
    by = Grader.CHOICE if item.correct_choice is not None else Grader.EXACT
    if by == Grader.EXACT and (not item.correct_answer or grading == Grading.CHOICE):
        return "", ""
    if not question.has_answer:
        return Grade.ABSTAINED, by
    if item.correct_choice is not None:
        right = same_choice(question.choice, item.correct_choice)
    else:
        right = same_words(question.answer, item.correct_answer)
        if not right and grading == Grading.JUDGE:
            return "", ""
    return (Grade.RIGHT if right else Grade.WRONG), by


def grade_question(question: Question) -> None:
    """Grade a question of a comparison that has its outcome, as far as no model is needed.

    Call this in the transaction that stores the outcome. A question outside comparisons stays as it is.
    """
    if question.comparison_item_id is None or question.grade:
        return
    item = ComparisonItem.objects.get(id=question.comparison_item_id)
    grading = Comparison.objects.values_list("grading", flat=True).get(id=question.comparison_id)
    question.grade, question.graded_by = grade_without_model(question, item, grading)
    if question.grade:
        question.save(update_fields=["grade", "graded_by"])


@dataclass(frozen=True, slots=True)
class Ungraded:
    """An answer for the judge, with the right answer of its item."""

    question_id: UUID
    item_id: UUID
    question: str
    truth: str
    given: str


def next_ungraded(comparison_id: UUID) -> Ungraded | None:
    """Return the first answer that waits for the judge, by item, arm and repeat; None if there is none.

    An item that some arm could not be asked leaves every arm's figures, so the judge is not paid for it.
    """
    unasked = Question.objects.filter(comparison_id=comparison_id, status=QuestionStatus.CANCELED)
    waiting = (
        Question.objects.filter(
            comparison_id=comparison_id, status=QuestionStatus.SUCCEEDED, grade="", graded_by="",
            comparison_item__correct_choice=None, comparison_item__left_out="",
        )
        .exclude(comparison_item_id__in=unasked.values("comparison_item_id"))
        .exclude(comparison_item__correct_answer="")
        .exclude(answer="")
    )  # fmt: skip
    row = (
        waiting.select_related("comparison_item")
        .order_by("comparison_item__position", "comparison_arm", "repeat")
        .first()
    )
    if row is None:
        return None
    item = row.comparison_item
    return Ungraded(row.id, item.id, item.text, item.correct_answer, row.answer)


def same_answer_graded(ungraded: Ungraded) -> str | None:
    """Return the judge's grade of the same words to the same item, "" if the judge declined; None if it has not read
    them.

    Two arms that answer alike get one grade, and the judge is paid once.
    """
    read = Question.objects.filter(
        comparison_item_id=ungraded.item_id, graded_by=Grader.JUDGE, answer=ungraded.given
    ).order_by("-grade")
    found: str | None = read.values_list("grade", flat=True).first()
    return found


def store_judgement(*, question_id: UUID, grade: str, calls: Sequence[ModelCall]) -> bool:
    """Write the judge's grade of one answer and the calls that it took, once. Returns whether the grade was written.

    grade: a value of Grade, "" if the judge declined or its reply could not be read; the answer then stays without a
    grade, and the judge does not read it again. The calls are a ledger source of their own, which belongs to no
    question, so that no arm's charge holds them.
    """
    row: Question = Question.objects.select_for_update().get(id=question_id)
    ledger.record_model_calls(
        source_type=GRADE, source_id=question_id, calls=calls, api_key_id=ledger.api_key_of_question(question_id)
    )
    if row.grade or row.graded_by:
        return False
    row.grade, row.graded_by = grade, Grader.JUDGE
    row.save(update_fields=["grade", "graded_by"])
    return True


def grading_charge(comparison_id: UUID) -> Decimal:
    """Return what the judge is charged so far, in the currency of the prices."""
    ids = Question.objects.filter(comparison_id=comparison_id).values_list("id", flat=True)
    return ledger.charge_of_sources(source_type=GRADE, source_ids=list(ids))


def is_grading(comparison_id: UUID) -> bool:
    """Whether a judge may read the comparison's answers. Locks the comparison."""
    rows = Comparison.objects.select_for_update(no_key=True).filter(id=comparison_id, status=ComparisonStatus.GRADING)
    return rows.first() is not None


def charge_passed(comparison_id: UUID) -> bool:
    """Whether the answers and the judge are charged more than the comparison may be charged altogether."""
    comparison = Comparison.objects.get(id=comparison_id)
    limit: Decimal | None = comparison.max_total_charge
    return limit is not None and comparison.spent + grading_charge(comparison_id) > limit

"""Which questions are charged: those that were answered. docs/billing.md says it to customers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from backend.billing.charges import NOTHING, Charge
from backend.billing.services.usage import ledger
from backend.billing.services.usage.ledger import Asked
from backend.questions.models import Question, QuestionStatus

CHARGED = frozenset({"answered", "insufficient_evidence"})
"""Finish reasons of an answer that is charged: it names its evidence, or says that the recordings hold none."""

OF_OPERATORS = "asked_by_operator"
"""Reason in the ledger why a question that staff asked is not charged."""

MODELS_FAILED = frozenset({"no_consensus", "unreadable", "contradicted"})
"""Details of `insufficient_evidence` that say nothing of the recordings: the models drew no answer to give."""


def is_charged(question: Question) -> bool:
    """Whether the outcome of a question is charged.

    A search that its budget ended is charged if it left an answer. What was refused, canceled or failed is not, nor is
    a search whose models drew no answer that can be given.
    """
    if question.status != QuestionStatus.SUCCEEDED:
        return False
    if question.finish_reason == "budget":
        return bool(question.answer) or question.choice is not None
    return question.finish_reason in CHARGED and question.finish_detail not in MODELS_FAILED


def charge_all(
    questions: Sequence[Question],
    *,
    api_key_id: UUID | None,
    person_id: UUID | None = None,
    collections: Mapping[UUID, UUID] | None = None,
) -> None:
    """Bill accepted questions, and set their charge; the caller writes the rows. collections: by question, if any."""
    asked = [
        Asked(row.id, row.method, row.effort, (collections or {}).get(row.id), row.retries, free=reason_free(row))
        for row in questions
    ]
    charges = ledger.charge_questions(asked, api_key_id=api_key_id, person_id=person_id)
    for row, charge in zip(questions, charges, strict=True):
        set_charge(row, charge)


def reason_free(question: Question) -> str:
    """Return the ledger's reason why a question is not charged, whatever its outcome; "" if an answer is charged."""
    return OF_OPERATORS if question.asked_by_operator else ""


def set_charge(question: Question, charge: Charge) -> None:
    """Set the charge of a question on its unsaved row."""
    question.charge_amount, question.charge_currency = charge.amount, charge.currency
    question.price_version = charge.price_version


def settle_charge(question: Question) -> None:
    """Reverse the charge of a locked question whose outcome is not charged; the caller writes the row afterwards.

    Not the other way round: a row that is written twice in one transaction has its foreign keys checked, which would
    lock its batch before the others that settle it.
    """
    if is_charged(question):
        return
    reason = question.error_code or question.finish_detail or question.finish_reason
    ledger.reverse_question(question_id=question.id, reason=reason)
    set_charge(question, Charge(NOTHING.amount, question.charge_currency))

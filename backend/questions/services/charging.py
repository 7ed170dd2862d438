"""Which questions are charged, decided here and nowhere else; docs/billing.md says it to customers, ADR 53 why.

- An answer is charged.
- A customer who has seen a partial answer and ends the question is charged: it got what it came for.
- What the service takes back is free within a share, whatever was shown of it: an abstention, an answer of which no
  statement is supported, an answer that adds nothing to the question, a refusal. The customer cannot bring it about.
- Other work that was begun is free within the same share. Beyond the share both are charged.
- What was not begun, what failed by a fault of ours and what staff asked is not charged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from backend.billing.charges import NOTHING, Charge
from backend.billing.models import Ended
from backend.billing.services.limits import quotas
from backend.billing.services.limits.free_work import Ending, free_endings
from backend.billing.services.usage import ledger
from backend.billing.services.usage.ledger import Asked
from backend.questions.models import Question, QuestionStatus

OF_OPERATORS = "asked_by_operator"
"""Reason in the ledger why a question that staff asked is not charged."""


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
    """Settle the charge of a locked question that has its outcome; the caller writes the row afterwards.

    Not the other way round: a row that is written twice in one transaction has its foreign keys checked, which would
    lock its batch before the others that settle it.
    """
    charged = settle_charges([question])[question.id] == Ended.CHARGED
    if question.has_answer or not charged:
        question.partial = {}
    if charged:
        return
    reason = question.error_code or question.finish_detail or question.finish_reason
    ledger.reverse_question(question_id=question.id, reason=reason)
    set_charge(question, Charge(NOTHING.amount, question.charge_currency))


def settle_charges(questions: Sequence[Question]) -> dict[UUID, Ended]:
    """Return how each of locked questions ended for its money, and settle their reservations.

    The outcomes are set on the rows. The rules are those of this module's docstring; the share is that of
    billing.services.limits.free_work. The caller reverses what is not charged.
    """
    endings = {row.id: _ending_of(row) for row in questions}
    unpaid = [Ending(row.id, row.charge) for row in questions if endings[row.id] == Ended.FREE]
    free = free_endings(unpaid)
    for ending in unpaid:
        if ending.source_id not in free:
            endings[ending.source_id] = Ended.CHARGED
    for ended in Ended:
        quotas.settle([id for id, mine in endings.items() if mine == ended], ended=ended)
    return endings


def _ending_of(question: Question) -> Ended:
    """Return how a question ended; FREE if the share of free work decides."""
    if question.has_answer:
        return Ended.CHARGED
    if question.asked_by_operator:
        return Ended.VOID
    ours = question.status == QuestionStatus.FAILED and not (
        question.own_deadline and question.error_code == "deadline_exceeded"
    )
    if ours or question.started_at is None:
        return Ended.VOID
    return Ended.CHARGED if question.shown and not question.taken_back else Ended.FREE

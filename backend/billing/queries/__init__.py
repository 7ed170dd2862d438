"""Reads of the usage ledger, of its sums, and of what work is charged."""

from backend.billing.queries.ledger import (
    Mismatch,
    calls_kept_since,
    cost_of_question,
    cost_of_video,
    event,
    events,
    mismatches,
    question_mismatches,
)
from backend.billing.queries.usage import SHOWN_METERS

__all__ = [
    "SHOWN_METERS",
    "Mismatch",
    "calls_kept_since",
    "cost_of_question",
    "cost_of_video",
    "event",
    "events",
    "mismatches",
    "question_mismatches",
]

"""Bills questions in tests of the ledger."""

from __future__ import annotations

from datetime import datetime
from unittest.mock import patch
from uuid import UUID

from django.utils import timezone

from backend.billing.rates import Cost
from backend.billing.services.usage import ledger


def record_question(*, question_id: UUID, api_key_id: UUID | None, occurred_at: datetime | None = None) -> Cost:
    """Bill one accepted question of no method, once, and return what it costs."""
    with patch.object(timezone, "now", return_value=occurred_at or timezone.now()):
        ledger.charge_questions([ledger.Asked(question_id)], api_key_id=api_key_id)
    return ledger.recorded_cost(source_type=ledger.QUESTION, source_id=str(question_id))

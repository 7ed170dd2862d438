"""No sequence of requests gets model output unpaid, or more than the stated share of model work (docs/billing.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from backend.billing.models import Ended
from backend.billing.services.usage import ledger
from backend.questions.models import Question
from backend.questions.services import charging
from gpu_workers.tasks import answer_question as task
from gpu_workers.tasks import shared_budget
from tests.questions.money_machine import MODELS, SHARE, Money

pytestmark = pytest.mark.slow

SEARCH = settings(max_examples=10, stateful_step_count=10, derandomize=True, database=None, phases=[Phase.generate])
"""About a hundred acts: half a minute on a free core. A failure is not shrunk, which would take minutes."""


@pytest.fixture(autouse=True)
def _scripted_engine(database: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(task, "answer_models", lambda: MODELS)
    monkeypatch.setattr(task, "answer_question", lambda *given, **options: Money.script(*given, **options))
    monkeypatch.setattr(shared_budget, "LOOK_EVERY_SECONDS", 0.0)
    monkeypatch.setattr("backend.jobs.leases.RETRY_BASE_SECONDS", 0)
    with override_settings(FREE_WORK_PER_HOUR=SHARE, RATE_LIMIT_PER_MINUTE=10**9):
        yield


def test_no_sequence_gets_output_or_more_than_the_share_of_the_work_unpaid() -> None:
    run_state_machine_as_test(Money, settings=SEARCH)


def _charged_if_answered(question: Question) -> Ended:
    return Ended.CHARGED if question.has_answer else Ended.VOID


@pytest.mark.parametrize(
    ("where", "name", "fault", "found"),
    [
        (charging, "_ending_of", _charged_if_answered, "(were shown, and|is unpaid, and)"),
        (ledger, "free_reason_of_question", lambda question_id: charging.OF_OPERATORS, "budgets count"),
    ],
)
def test_the_search_finds_the_fault_when_a_mend_is_switched_off(
    monkeypatch: pytest.MonkeyPatch, where: Any, name: str, fault: Any, found: str
) -> None:
    monkeypatch.setattr(where, name, fault)
    with pytest.raises(AssertionError, match=found):
        run_state_machine_as_test(Money, settings=SEARCH)

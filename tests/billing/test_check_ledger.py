"""manage.py check_ledger: the ledger of all tenants against the model calls behind it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.billing.models import UsageEvent
from backend.billing.services.usage import ledger
from gpu_workers.engine.models.roles import ModelCall
from tests.billing.questions import record_question

CALL = ModelCall("answer", "qwen", wall_ms=2_000, prompt_tokens=100, completion_tokens=10)


def check(**options: Any) -> list[str]:
    """The lines of a check that finds nothing wrong."""
    out = StringIO()
    call_command("check_ledger", stdout=out, **options)
    return out.getvalue().splitlines()


def faults(**options: Any) -> tuple[list[str], str]:
    """The lines of a check that fails, and its error."""
    out = StringIO()
    with pytest.raises(CommandError) as failed:
        call_command("check_ledger", stdout=out, **options)
    return out.getvalue().splitlines(), str(failed.value)


def record(cast: Any, question_id: UUID) -> None:
    with cast.scope():
        record_question(question_id=question_id, api_key_id=cast.key_id)
        ledger.record_model_calls(source_type="question", source_id=question_id, calls=[CALL], question_id=question_id)


def add_token(cast: Any, question_id: UUID) -> None:
    """Write a ledger row that no model call is behind."""
    with cast.scope():
        UsageEvent.objects.create(
            tenant_id=cast.tenant_id, meter="output_tokens", quantity=1, occurred_at=datetime.now(UTC),
            source_type="question", source_id=str(question_id), stage="elsewhere",
        )  # fmt: skip


def test_it_reads_all_tenants_and_finds_a_sound_ledger_sound(acme: Any, globex: Any) -> None:
    record(acme, uuid7())
    record(globex, uuid7())

    assert check() == ["the ledger agrees with the model calls"]


def test_it_names_tenant_source_and_meter_of_each_fault(acme: Any, globex: Any) -> None:
    mine, theirs = uuid7(), uuid7()
    record(acme, mine)
    record(globex, theirs)
    add_token(globex, theirs)

    assert faults() == (
        [f"{encode('tnt', globex.tenant_id)} question {theirs}: output_tokens billed 11, metered 10"],
        "quantities that differ from the model calls: 1",
    )


def test_it_checks_one_question_and_prints_its_cost(acme: Any) -> None:
    sound, wrong = uuid7(), uuid7()
    for question_id in (sound, wrong):
        record(acme, question_id)
    add_token(acme, wrong)

    assert check(question=encode("qst", sound)) == [
        f"{encode('qst', sound)}: cost 0.0004444444, price 0.02 USD",
        "the ledger agrees with the model calls",
    ]
    lines, _ = faults(question=encode("qst", wrong))
    assert len(lines) == 2


def test_it_prints_the_cost_of_a_video(acme: Any) -> None:
    video_id = uuid7()
    with acme.scope():
        ledger.record_media_seconds(segment_id=uuid7(), video_id=video_id, seconds=Decimal(30))

    assert check(video=encode("vid", video_id)) == [
        f"{encode('vid', video_id)}: cost 0, price 0.021 USD",
        "the ledger agrees with the model calls",
    ]


@pytest.mark.parametrize("options", [{"question": "nonsense"}, {"video": "qst_nonsense"}])
def test_an_id_of_another_kind_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(CommandError, match="not an id of the kind"):
        call_command("check_ledger", **options)

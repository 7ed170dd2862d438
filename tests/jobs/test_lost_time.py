"""A process that is killed in the middle of a call: what it used is bounded, and the day adds up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.models import MachineDay
from backend.billing.services.machines.reconciliation import Attributed, Lost, costs_of, reconcile_day
from backend.billing.services.usage import ledger
from backend.jobs import services
from backend.jobs.dispatching import claim_next, lost_seconds
from backend.jobs.models import Job, JobKind, LostAttempt
from gpu_workers.engine.models import roles
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser
from tests.scripted_openai import Reply, ScriptedOpenAIServer

D = Decimal

# A worker that claims a job, has one call answered, and dies before it has reported it.
_KILLED = """
import os, signal, sys
import django
django.setup()
from backend.jobs.dispatching import claim_next
from gpu_workers.engine.models.roles import ChatCapabilities, Message, Meter
from gpu_workers.engine.models.served.chat import OpenAIChatModel
lease = claim_next("gpu.query", worker="killed")
assert lease is not None
model = OpenAIChatModel(base_url=sys.argv[1], model="scripted", capabilities=ChatCapabilities(8_192))
model.sample([Message("user", ("What is seen?",))], stage="answer", meter=Meter())
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _nothing_lost_before(database: None) -> None:
    with superuser() as server:
        server.execute("DELETE FROM jobs_lostattempt")


def enqueued(cast: Cast) -> None:
    subject = uuid4()
    with cast.scope():
        services.enqueue(kind=JobKind.ANSWER_QUESTION, subject_id=subject, dedupe_key=f"answer:{subject}")


def held_for(cast: Cast, seconds: int, *, until: datetime) -> None:
    """Let the lease of the running job have ended at a time, so many seconds after its claim."""
    with superuser() as server:
        server.execute(
            "UPDATE jobs_job SET lease_until = %s, started_at = %s::timestamptz - %s * interval '1 second' "
            "WHERE tenant_id = %s AND state = 'running'",
            [until, until, seconds, cast.tenant_id],
        )


@pytest.mark.long
def test_attributed_lost_and_idle_add_up_to_what_was_paid_over_a_kill(acme: Cast) -> None:
    enqueued(acme)
    with ScriptedOpenAIServer(Reply("yes", prompt_tokens=100)) as server:
        killed = subprocess.run(
            [sys.executable, "-c", _KILLED, server.url], cwd=Path(__file__).parents[2], env={**os.environ}, check=False
        )
        assert killed.returncode == -signal.SIGKILL
        assert len(server.requests) == 1
    ended = timezone.now().replace(microsecond=0)
    day = ended.astimezone(UTC).date()
    held_for(acme, 100, until=ended)

    again = claim_next("gpu.query", worker="next")
    assert again is not None
    with acme.scope():
        assert Job.objects.get().attempt == 2
        # The second attempt reports its call.
        ledger.record_model_calls(
            source_type="question",
            source_id=uuid7(),
            calls=[roles.ModelCall("answer", "scripted", wall_ms=1, device_ms=900_000.0)],
            question_id=uuid7(),
            occurred_at=ended,
        )
    assert lost_seconds(day) == (1, D(100))
    MachineDay.objects.using("staff").create(
        day=day, machine="g6", devices=2, hours=D(1), usd_per_hour=D(3), author="alice"
    )
    row = reconcile_day(day)

    # One machine with two devices for an hour at 3 USD.
    assert (row.paid_seconds, row.attributed_seconds, row.overhead_seconds) == (D(7_200), D(900), D(6_300))
    assert (row.lost_attempts, row.lost_seconds, row.idle_seconds) == (1, D(200), D(6_100))
    assert row.attributed_seconds + row.lost_seconds + row.idle_seconds == row.paid_seconds
    assert row.attributed_usd + row.lost_usd + row.idle_usd == row.paid_usd
    assert row.lost_usd == (row.overhead_usd * 200 / 6_300).quantize(D("1e-10"))


def test_only_attempts_that_use_devices_and_were_lost_count(acme: Cast) -> None:
    enqueued(acme)
    first = claim_next("gpu.query", worker="w")
    assert first is not None
    with acme.scope():
        subject = uuid4()
        services.enqueue(kind=JobKind.PROBE_VIDEO, subject_id=subject, dedupe_key=f"probe:{subject}")
    assert claim_next("cpu.probe", worker="w") is not None
    # A lease in force is not lost.
    assert claim_next("gpu.query", worker="w") is None
    assert not LostAttempt.objects.exists()
    held_for(acme, 30, until=datetime(2026, 3, 1, 0, 0, 10, tzinfo=UTC))
    assert claim_next("cpu.probe", worker="w") is not None
    assert not LostAttempt.objects.exists()
    assert claim_next("gpu.query", worker="w") is not None
    held_for(acme, 12, until=datetime(2026, 3, 1, 23, 0, tzinfo=UTC))
    assert claim_next("gpu.query", worker="w") is not None
    day = datetime(2026, 3, 1, tzinfo=UTC).date()
    assert lost_seconds(day) == (2, D(42))
    assert set(LostAttempt.objects.values_list("day", flat=True)) == {day}


def test_a_claim_that_takes_over_waits_for_no_other_that_does(acme: Cast) -> None:
    for _ in range(2):
        enqueued(acme)
        assert claim_next("gpu.query", worker="w") is not None
    held_for(acme, 30, until=datetime(2026, 3, 1, 12, 0, tzinfo=UTC))
    with psycopg.connect(os.environ["DATABASE_DISPATCH_URL"]) as stopped:
        # A claim that stands still before its commit, with what it writes of the day.
        stopped.execute("INSERT INTO jobs_lostattempt (id, day, seconds) VALUES (gen_random_uuid(), '2026-03-01', 30)")
        assert claim_next("gpu.query", worker="next") is not None
        stopped.rollback()


def test_what_was_lost_is_never_more_than_the_overhead() -> None:
    day = datetime(2026, 3, 1, tzinfo=UTC).date()
    busy = Attributed(seconds=D(3_590), device_usd=D("2.99"))
    row = costs_of(day, busy, paid_seconds=D(3_600), paid_usd=D(3), lost=Lost(1, D(500)))
    assert (row.lost_seconds, row.idle_seconds, row.lost_usd, row.idle_usd) == (D(10), D(0), D("0.01"), D(0))
    unpaid = costs_of(day, busy, paid_seconds=D(0), paid_usd=D(0), lost=Lost(1, D(500)))
    assert (unpaid.lost_seconds, unpaid.lost_usd, unpaid.lost_attempts) == (0, 0, 1)

"""Several processes and tenants on one model server: each pays for its tokens, and all together for no more than it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from uuid6 import uuid7

from backend.billing.models import UsageEvent
from backend.billing.services.usage import ledger
from bench.device_time import LOAD, PROCESSES, PROMPTS, RATES, SLOTS, ask, ask_by_processes, reply
from bench.model_server import ModelServer
from tests.conftest import make_tenant


@pytest.mark.long
def test_four_tenants_in_parallel_are_attributed_no_more_than_the_server_worked(database: None) -> None:
    with ModelServer(RATES, slots=SLOTS, words=reply) as server:
        alone = ask(server.url, "alone")
    with ModelServer(RATES, slots=SLOTS, words=reply) as server:
        crowd = ask_by_processes(server.url, load=LOAD, processes=PROCESSES)
        served = server.served()
    assert served.requests == LOAD * len(PROMPTS) == sum(len(asked.calls) for asked in crowd)
    # The same question costs the same alone and among sixteen.
    assert [asked.device_ms for asked in crowd] == pytest.approx([alone.device_ms] * LOAD, rel=0.1)
    assert alone.device_ms > 0

    booked = []
    tenants = [make_tenant(f"tenant-{k}") for k in range(4)]
    for k, asked in enumerate(crowd):
        with tenants[k % 4].scope():
            cost = ledger.record_model_calls(source_type="question", source_id=uuid7(), calls=asked.calls)
        booked.append(float(cost.amount))
    assert booked == pytest.approx([booked[0]] * LOAD, rel=0.1)
    seconds = Decimal(0)
    for tenant in tenants:
        with tenant.scope():
            rows = UsageEvent.objects.filter(meter="device_seconds")
            assert rows.count() == LOAD / 4
            seconds += sum(row.quantity for row in rows)
    # Wall times would have booked several times as much.
    assert 0 < seconds <= Decimal(str(served.busy_s)) < Decimal(sum(asked.wall_ms for asked in crowd)) / 1000

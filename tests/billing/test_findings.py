"""What the sweeps about money find, and that a relay exports it for the alerts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.exports import transfer
from backend.billing.models import ExportState, InvariantResult, MachineDay, UsageEvent
from backend.billing.services.findings import (
    EXPORT_DIFFERENCES,
    EXPORT_FAILURES,
    EXPORT_SKIPPED,
    EXPORT_UNCOMPARED,
    HOURS_MISSING,
    OVERSPENT_DAYS,
    UNRATED_MODELS,
    last_findings,
    store_findings,
)
from backend.billing.services.machines.device_time import append_rate
from backend.billing.services.nightly import last_results
from backend.billing.services.usage.rollups import rebuild_stale
from gpu_workers.engine.models.device_rates import DeviceRate
from tests.billing.invoices.billing_server import KEY, serving
from tests.billing.invoices.ledger import use
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser
from workers.billing import export_billing, reconcile_costs
from workers.metrics.queue_gauges import QueueGauges

NOTHING = {EXPORT_DIFFERENCES: 0, EXPORT_FAILURES: 0, EXPORT_SKIPPED: 0, EXPORT_UNCOMPARED: 0}
"""What a sweep of exports finds if all is well."""


class Sweep:
    """The part of a job that these sweeps use."""

    finished = False

    def finish(self) -> None:
        self.finished = True

    def should_stop(self) -> bool:
        return False

    def require_lease(self) -> None:
        return None


@pytest.fixture(autouse=True)
def clean(database: None) -> Iterator[None]:
    yield
    with superuser() as server:
        for table in ("billing_invariantresult", "billing_machineday", "billing_costday", "billing_modelrate"):
            server.execute(f"DELETE FROM {table}")


def exported() -> dict[str, float]:
    """Return what a scrape shows of the findings."""
    samples = [sample for family in QueueGauges().collect() for sample in family.samples]
    return {sample.labels["finding"]: sample.value for sample in samples if sample.name == "ava_money_findings"}


def test_findings_are_replaced_and_are_no_invariants() -> None:
    store_findings(UNRATED_MODELS, ["a", "b"])
    assert exported() == last_findings() == {UNRATED_MODELS: 2}
    store_findings(UNRATED_MODELS, [])

    assert exported() == {UNRATED_MODELS: 0}
    assert UNRATED_MODELS not in last_results()
    with pytest.raises(ValueError, match="unknown finding"):
        store_findings("wishes", [])


def test_the_comparison_with_a_billing_system_is_found_and_ends(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    # Rows of the last minute are not exported yet, so the system lacks this one.
    row = use(acme, timezone.now() - timedelta(days=1), 3)
    with serving() as (url, server), override_settings(BILLING_SINK="openmeter", BILLING_SINK_URL=url):
        monkeypatch.setattr(settings, "BILLING_SINK_KEY", KEY)
        export_billing.handle(_sweep())
        assert exported() == {**NOTHING, EXPORT_DIFFERENCES: 1}
        # A comparison follows after a day; until then its result stays.
        export_billing.handle(_sweep())
        assert exported() == {**NOTHING, EXPORT_DIFFERENCES: 1}
        compared(acme, timedelta(hours=25))
        # Nothing can be compared with a wrong key, so the difference stays.
        monkeypatch.setattr(settings, "BILLING_SINK_KEY", "expired")
        export_billing.handle(_sweep())
        assert exported() == {**NOTHING, EXPORT_DIFFERENCES: 1, EXPORT_FAILURES: 1}
        compared(acme, timedelta(hours=49))
        export_billing.handle(_sweep())
        assert exported() == {**NOTHING, EXPORT_DIFFERENCES: 1, EXPORT_FAILURES: 1, EXPORT_UNCOMPARED: 1}
        monkeypatch.setattr(settings, "BILLING_SINK_KEY", KEY)
        server.events[str(row.id)] = {
            "meter": row.meter, "customer": encode("tnt", acme.tenant_id), "at": row.occurred_at.timestamp(),
            "value": "3",
        }  # fmt: skip
        export_billing.handle(_sweep())

    assert exported() == NOTHING


def compared(cast: Cast, ago: timedelta) -> None:
    """Put the last comparison of cast's usage back."""
    with cast.scope():
        ExportState.objects.filter(subject="usage").update(compared_at=timezone.now() - ago)


def test_usage_that_is_too_old_for_stripe_is_a_finding_for_a_while(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    old = use(acme, timezone.now() - timedelta(days=36), 2)
    with acme.scope():
        # Recorded a minute ago, so that it may be sent.
        state = ExportState.objects.create(
            tenant_id=acme.tenant_id, sink="stripe", subject="usage", exported_until=old.recorded_at - timedelta(days=1)
        )
    monkeypatch.setattr(transfer, "SETTLE", timedelta(0))
    monkeypatch.setattr(settings, "BILLING_SINK_KEY", KEY)
    with serving() as (url, _), override_settings(BILLING_SINK="stripe", BILLING_SINK_URL=url):
        export_billing.handle(_sweep())
        assert exported() == {**NOTHING, EXPORT_SKIPPED: 1}
        words = InvariantResult.objects.get(name=EXPORT_SKIPPED).examples
        assert words[0].startswith(f"{encode('tnt', acme.tenant_id)}: 1 rows of usage were too old for stripe")
        with acme.scope():
            ExportState.objects.filter(id=state.id).update(skipped_at=timezone.now() - timedelta(days=36))
        export_billing.handle(_sweep())
    assert exported() == NOTHING


def test_a_wrong_key_is_found_by_tenant_in_each_sweep_until_it_is_replaced(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as (url, _), override_settings(BILLING_SINK="stripe", BILLING_SINK_URL=url):
        monkeypatch.setattr(settings, "BILLING_SINK_KEY", "expired")
        export_billing.handle(_sweep())

        found = InvariantResult.objects.using("dispatch").get(name=EXPORT_FAILURES)
        tenant = encode("tnt", acme.tenant_id)
        assert [words for words in found.examples if tenant in words] == [
            f"{tenant}: export to stripe failed: POST /v1/customers: 401"
        ]
        assert exported() == {**NOTHING, EXPORT_FAILURES: found.violations}
        with acme.scope():
            state = ExportState.objects.get(subject="customer")
        assert (state.failures > 0, state.last_error) == (True, "POST /v1/customers: 401")
        monkeypatch.setattr(settings, "BILLING_SINK_KEY", KEY)
        export_billing.handle(_sweep())

    assert exported() == NOTHING
    with acme.scope():
        state = ExportState.objects.get(subject="customer")
    assert (state.failures, state.last_error) == (0, "")


def test_days_with_too_few_machine_hours_and_models_without_a_rate_are_found(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REASONER_URL", raising=False)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    _device(acme, yesterday, "qwen-served", seconds=7_200, tokens=100)
    _device(acme, yesterday, "clip-in-process", seconds=1, tokens=0)
    with superuser() as server:
        server.execute(
            "INSERT INTO billing_machineday (id, day, machine, devices, hours, usd_per_hour, author, note, entered_at) "
            "VALUES (gen_random_uuid(), %s, 'g6', 1, 1, 0.8, 'x', '', now())", [yesterday.date()],
        )  # fmt: skip

    assert MachineDay.objects.count() == 1
    reconcile_costs.handle(_sweep())

    assert last_findings() == {HOURS_MISSING: 0, OVERSPENT_DAYS: 1, UNRATED_MODELS: 1}
    assert InvariantResult.objects.get(name=UNRATED_MODELS).examples == ["qwen-served"]
    append_rate("qwen-served", DeviceRate(1, 0, 1), author="x", note="", using="staff")
    reconcile_costs.handle(_sweep())
    assert last_findings()[UNRATED_MODELS] == 0


def test_a_served_model_without_a_rate_is_found_before_it_has_worked(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REASONER_URL", "http://vllm-llm:8000/v1")
    monkeypatch.setenv("REASONER_MODEL", "qwen-served")
    monkeypatch.setenv("TEXT_EMBEDDER_URL", "http://vllm-embedder:8000/v1")
    monkeypatch.setenv("TEXT_EMBEDDER_MODEL", "e5-served")
    reconcile_costs.handle(_sweep())
    assert InvariantResult.objects.get(name=UNRATED_MODELS).examples == ["qwen-served"]
    append_rate("qwen-served", DeviceRate(1, 0, 1), author="x", note="", using="staff")
    reconcile_costs.handle(_sweep())
    assert last_findings()[UNRATED_MODELS] == 0


def test_days_on_which_served_models_worked_and_nobody_entered_hours_are_found_after_some_days(acme: Cast) -> None:
    today = datetime.now(UTC)
    for ago in (3, 4, 5, 34):
        _device(acme, today - timedelta(days=ago), "qwen-served", seconds=10, tokens=100)
    _device(acme, today - timedelta(days=6), "clip-in-process", seconds=10, tokens=0)
    _device(acme, today - timedelta(days=7), "gpt-hosted", seconds=0, tokens=100)
    days = {ago: (today - timedelta(days=ago)).date() for ago in (4, 5, 34)}

    reconcile_costs.handle(_sweep())

    found = InvariantResult.objects.get(name=HOURS_MISSING)
    assert (found.violations, found.examples) == (3, [str(days[ago]) for ago in (34, 5, 4)]), "not yet of day 3"
    assert exported()[HOURS_MISSING] == 3
    MachineDay.objects.using("staff").bulk_create(
        MachineDay(day=day, machine="g6", devices=1, hours=1, usd_per_hour=1, author="x") for day in days.values()
    )
    reconcile_costs.handle(_sweep())
    assert last_findings()[HOURS_MISSING] == 0


def test_the_age_of_the_oldest_comparison_is_exported() -> None:
    names = [sample.name for family in QueueGauges().collect() for sample in family.samples]
    assert "ava_money_findings_checked_seconds" not in names
    store_findings(UNRATED_MODELS, [])
    store_findings(OVERSPENT_DAYS, [])
    InvariantResult.objects.using("dispatch").filter(name=OVERSPENT_DAYS).update(
        checked_at=timezone.now() - timedelta(hours=60)
    )
    ages = {sample.name: sample.value for family in QueueGauges().collect() for sample in family.samples}
    assert ages["ava_money_findings_checked_seconds"] // 3600 == 60


def _sweep() -> Any:
    return Sweep()


def _device(cast: Cast, at: datetime, model: str, *, seconds: int, tokens: int) -> None:
    """Book device time of a model, and tokens unless it has none."""
    amounts = {"device_seconds": seconds, "output_tokens": tokens}
    with cast.scope():
        for meter, quantity in amounts.items():
            if quantity:
                UsageEvent.objects.create(
                    tenant_id=cast.tenant_id, meter=meter, quantity=quantity, occurred_at=at, source_type="question",
                    source_id=f"{model}:{meter}", model=model,
                )  # fmt: skip
    rebuild_stale(cast.tenant_id)

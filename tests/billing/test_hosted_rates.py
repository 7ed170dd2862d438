"""`manage.py check --deploy` names the hosted models whose tokens would cost nothing."""

from __future__ import annotations

import os
import sys
import threading
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.utils import timezone

from backend.billing.hosted_rates import HOSTED, require_hosted_rates
from backend.billing.models import Price, PriceBook
from backend.billing.rates import Rate, Rates
from backend.billing.services.machines.device_time import MEASURED_ROLES, append_rate, forget_device_rates
from gpu_workers.engine.models.device_rates import DeviceRate
from gpu_workers.engine.models.model_table import ROLES, table
from gpu_workers.engine.models.roles import ModelError
from tests.conftest import Cast
from workers import liveness, loading
from workers.liveness import Beat


def check() -> str:
    out = StringIO()
    try:
        call_command("check", deploy=True, databases=["default"], stdout=out, stderr=out)
    except SystemCheckError as error:
        return str(error)
    return out.getvalue()


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_PRESET", "hosted")
    monkeypatch.setenv("REASONER_MODEL", "test-reasoner")
    monkeypatch.setenv("DESCRIBER_MODEL", "test-describer")


def test_models_on_own_devices_need_no_token_rates(acme: Cast) -> None:
    assert "billing." not in check()


def test_a_hosted_model_without_token_rates_is_an_error(acme: Cast, hosted: None) -> None:
    found = check()
    assert "no input_tokens and output_tokens of the hosted model test-reasoner" in found
    assert "no input_tokens and output_tokens of the hosted model test-describer" in found


def served_by(monkeypatch: pytest.MonkeyPatch, preset: str, role: str, url: str, model: str = "test-reasoner") -> None:
    monkeypatch.setenv("MODEL_PRESET", preset)
    for name in ROLES:
        for part in ("URL", "MODEL"):
            monkeypatch.delenv(f"{name.upper()}_{part}", raising=False)
    monkeypatch.setenv(f"{role.upper()}_URL", url)
    monkeypatch.setenv(f"{role.upper()}_MODEL", model)


@pytest.mark.parametrize("preset", sorted(table().presets))
@pytest.mark.parametrize("role", ROLES)
def test_a_provider_is_refused_under_any_preset_and_in_any_role(
    acme: Cast, monkeypatch: pytest.MonkeyPatch, preset: str, role: str
) -> None:
    served_by(monkeypatch, preset, role, "https://api.provider.example/v1")
    meters = "input_tokens and output_tokens" if role in MEASURED_ROLES else "input_tokens"

    with pytest.raises(ModelError, match=f"no {meters} of the hosted model test-reasoner") as refused:
        require_hosted_rates()
    assert refused.value.code == "unpriced_model"

    monkeypatch.setenv("OWN_MODEL_HOSTS", "other.example, API.provider.example")
    require_hosted_rates()


@pytest.mark.parametrize("preset", sorted(table().presets))
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/v1", "http://10.0.3.7:8000/v1", "http://vllm-llm:8000/v1", "http://[::1]:8000/v1",
        "http://internal-models-1.eu-central-1.elb.amazonaws.com:8001/v1",
    ],
)  # fmt: skip
def test_a_server_of_this_network_needs_no_rates_unless_the_preset_says_hosted(
    acme: Cast, monkeypatch: pytest.MonkeyPatch, preset: str, url: str
) -> None:
    served_by(monkeypatch, preset, "text_embedder", url)
    require_hosted_rates()
    served_by(monkeypatch, preset, "reasoner", url)
    if preset == HOSTED:
        with pytest.raises(ModelError, match="test-reasoner"):
            require_hosted_rates()
    else:
        require_hosted_rates()


def test_a_provider_with_token_rates_a_measured_rate_or_no_name(
    acme: Cast, monkeypatch: pytest.MonkeyPatch, database: None
) -> None:
    served_by(monkeypatch, "embedded", "reasoner", "https://api.provider.example/v1", model="")
    assert "REASONER_MODEL is not set" in check()
    served_by(monkeypatch, "embedded", "reasoner", "https://api.provider.example/v1")
    assert "no input_tokens and output_tokens of the hosted model test-reasoner" in check()
    add_rates()
    try:
        assert "billing." not in check()
    finally:
        remove_rates()
    assert "billing." in check()
    append_rate("test-reasoner", DeviceRate(1.0, 0.1, 9.0), author="tests", note="measured", using="staff")
    try:
        assert "billing." not in check()
    finally:
        remove_rates()


def add_rates() -> None:
    book = PriceBook.objects.get(kind="cost")
    rows = [
        Price(
            book=book,
            meter=meter,
            model=model,
            unit_amount=Decimal("0.000001"),
            version=1,
            effective_from=timezone.now(),
            author="tests",
        )
        for meter in ("input_tokens", "output_tokens")
        for model in ("test-reasoner", "test-describer")
    ]
    Price.objects.using("staff").bulk_create(rows)


def test_a_hosted_model_with_token_rates_is_fine(acme: Cast, hosted: None) -> None:
    add_rates()
    try:
        assert "billing." not in check()
    finally:
        remove_rates()


def test_a_worker_waits_until_its_hosted_models_have_rates(
    acme: Cast, hosted: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, waited = list[str](), list[str]()
    monkeypatch.setitem(loading.LOADERS, "gpu.query", (__name__, "load"))
    monkeypatch.setitem(loading.CHECKS, "gpu.query", (__name__, "check_nothing"))
    monkeypatch.setattr(sys.modules[__name__], "load", lambda: loaded.append("models"))

    def wait(seconds: float) -> None:
        (state,) = liveness.states_of(tmp_path, [os.getpid()], forked_at=0.0)
        waited.append(state.detail)
        assert loaded == []
        add_rates()

    try:
        loading.prepare(["gpu.query"], Beat(tmp_path), wait=wait, pause=wait_for_ever)
    finally:
        remove_rates()

    assert loaded == ["models"]
    assert len(waited) == 1
    assert "no input_tokens and output_tokens of the hosted model test-reasoner" in waited[0]


def test_a_worker_whose_connection_broke_reads_the_cost_book_again(
    acme: Cast, hosted: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(loading.LOADERS, "gpu.query", (__name__, "load"))
    monkeypatch.setitem(loading.CHECKS, "gpu.query", (__name__, "check_nothing"))
    waited = list[str]()

    def wait(seconds: float) -> None:
        (state,) = liveness.states_of(tmp_path, [os.getpid()], forked_at=0.0)
        waited.append(state.detail)
        assert len(waited) < 3, "the connection is never opened again"

    add_rates()
    try:
        connection.ensure_connection()
        connection.connection.close()
        loading.prepare(["gpu.query"], Beat(tmp_path), wait=wait, pause=wait_for_ever)
    finally:
        remove_rates()
    assert len(waited) == 1
    assert "cost_book_away" in waited[0]


def test_a_worker_of_sweeps_calls_no_model_and_does_not_wait(hosted: None, acme: Cast, tmp_path: Path) -> None:
    loading.prepare(["system.sweep"], Beat(tmp_path), pause=wait_for_ever)

    (state,) = liveness.states_of(tmp_path, [os.getpid()], forked_at=0.0)
    assert state.state == liveness.READY


def test_cached_tokens_of_a_priced_model_cost_what_its_prompt_costs_unless_they_have_a_price() -> None:
    def rate(amount: str) -> Rate:
        return Rate(Decimal(amount))

    general = {("cost", meter, "", ""): rate("0") for meter in ("input_tokens", "cached_tokens")}
    named = {("cost", "input_tokens", "gpt", ""): rate("0.5")}
    own = {("cost", "cached_tokens", "gpt", ""): rate("0.1")}
    sold = {("price", meter, "", ""): rate(amount) for meter, amount in (("input_tokens", "2"), ("cached_tokens", "1"))}
    sold |= {("price", "input_tokens", "gpt", ""): rate("3")}

    assert Rates(general | named, {}).unit("cost", "cached_tokens", "gpt") == Decimal("0.5")
    assert Rates(general | named | own, {}).unit("cost", "cached_tokens", "gpt") == Decimal("0.1")
    assert Rates(general | named, {}).unit("cost", "cached_tokens", "local") == 0
    assert Rates(sold, {}).unit("price", "cached_tokens", "gpt") == 1


def wait_for_ever(seconds: float) -> None:
    threading.Event().wait()


def load() -> None:
    return None


def check_nothing() -> list[str]:
    return []


def remove_rates() -> None:
    import psycopg
    from django.conf import settings

    url = f"{os.environ['DATABASE_SUPERUSER_URL'].rpartition('/')[0]}/{settings.DATABASES['default']['NAME']}"
    with psycopg.connect(url, autocommit=True) as superuser:
        superuser.execute("DELETE FROM billing_price WHERE model LIKE 'test-%'")
        superuser.execute("DELETE FROM billing_modelrate WHERE model LIKE 'test-%'")
    forget_device_rates()


def test_a_worker_names_the_served_models_without_a_rate_when_it_starts(
    acme: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    served_by(monkeypatch, "embedded", "reasoner", "http://vllm-llm:8000/v1")
    monkeypatch.setitem(loading.LOADERS, "gpu.query", (__name__, "load"))
    monkeypatch.setitem(loading.CHECKS, "gpu.query", (__name__, "check_nothing"))
    loading.prepare(["gpu.query"], Beat(tmp_path), pause=wait_for_ever)
    assert "no rate is measured for test-reasoner" in caplog.text

    caplog.clear()
    loading.prepare(["system.sweep"], Beat(tmp_path), pause=wait_for_ever)
    append_rate("test-reasoner", DeviceRate(1.0, 0.1, 9.0), author="tests", note="measured", using="staff")
    try:
        loading.prepare(["gpu.query"], Beat(tmp_path), pause=wait_for_ever)
    finally:
        remove_rates()
    assert "no rate is measured" not in caplog.text

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
from django.utils import timezone

from backend.billing.models import Price, PriceBook
from backend.billing.rates import Rate, Rates
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

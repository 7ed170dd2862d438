"""`manage.py check --deploy` names the hosted models whose tokens would cost nothing."""

from __future__ import annotations

from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.utils import timezone

from backend.billing.models import Price, PriceBook
from tests.conftest import Cast


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


def test_a_hosted_model_with_token_rates_is_fine(acme: Cast, hosted: None) -> None:
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
    try:
        assert "billing." not in check()
    finally:
        remove_rates()


def remove_rates() -> None:
    import os

    import psycopg
    from django.conf import settings

    url = os.environ["DATABASE_SUPERUSER_URL"].rpartition("/")[0] + "/" + settings.DATABASES["default"]["NAME"]
    with psycopg.connect(url, autocommit=True) as superuser:
        superuser.execute("DELETE FROM billing_price WHERE model LIKE 'test-%'")

"""The lists and pages of rows that the console has: groups of fields, in words, with the acts that fit."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from backend.console.admin import site
from backend.console.base import ReadOnlyPage
from backend.jobs import breakers
from backend.jobs.models import Breaker
from backend.webhooks.models import Delivery, Endpoint
from backend.webhooks.services import create_endpoint, send_test
from gpu_workers.engine.answering.methods import METHODS
from tests.conftest import Cast
from tests.console.furnished import furnish
from tests.console.signing_in import open_content

ICONS = re.compile(r"<span[^>]*material-symbols[^>]*>.*?</span>", re.S)
NAMES = re.compile(r"<(th|dt|label|h2|h3|legend|button)\b[^>]*>(.*?)</\1>", re.S)
BADGES = re.compile(r'<span class="(c-badge[^"]*)">(.*?)</span>', re.S)
LABELS = re.compile(r'<div class="[^"]*font-semibold[^"]*">(.*?)</div>', re.S)


def raw_names(page: str) -> list[str]:
    """Return the headings, labels, buttons and states of a page that are names of the program."""
    page = ICONS.sub("", page)
    found = [text for _, text in NAMES.findall(page) + BADGES.findall(page)] + LABELS.findall(page)
    shown = {re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", text))).strip() for text in found}
    # Methods have the names that customers write in their requests, and arms of comparisons are named after them.
    return sorted(text for text in shown if set(re.findall(r"\b[a-z]+_[a-z]+\b", text)) - set(METHODS))


def test_no_list_and_no_page_of_a_row_shows_a_name_of_the_program(staff: Client, acme: Cast) -> None:
    furnish(acme)
    open_content(staff, acme)
    Breaker.objects.using("dispatch").update(state="half_open")
    with acme.scope():
        Endpoint.objects.update(state="auto_disabled", disabled_reason="dead_deliveries", disabled_at=timezone.now())
    found: dict[str, list[str]] = {}
    empty = []
    for model in site._registry:
        rows: Any = getattr(model, "unscoped", model._default_manager)
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        addresses = [reverse(f"{name}_changelist") + (f"?tenant={acme.tenant_id}" if hasattr(model, "tenant") else "")]
        row = rows.using("console").order_by("-pk").filter(**_of(acme, model)).first()
        if row is None:
            empty.append(model.__name__)
        else:
            addresses.append(reverse(f"{name}_change", args=[row.pk]))
        for address in addresses:
            reply = staff.get(address)
            assert reply.status_code == 200, address
            found[address] = raw_names(reply.content.decode())

    assert [(address, names) for address, names in found.items() if names] == []
    assert (empty, len(found)) == ([], 2 * len(site._registry))


def _of(cast: Cast, model: type[Model]) -> dict[str, Any]:
    return {"tenant_id": cast.tenant_id} if any(field.name == "tenant" for field in model._meta.fields) else {}


def test_the_search_for_raw_names_finds_them() -> None:
    page = (
        '<th scope="col"><a href="?o=1">dead_deliveries</a></th><span class="c-badge c-bad">half_open</span><dt>ok</dt>'
    )
    assert raw_names(page) == ["dead_deliveries", "half_open"]


def test_each_page_of_a_row_groups_its_fields() -> None:
    plain = [
        model.__name__
        for model, page in site._registry.items()
        if isinstance(page, ReadOnlyPage) and not page.sections and "change_view" not in type(page).__dict__
    ]
    assert plain == []


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("enabled", ["disable", "send_test", "replay_since"]),
        ("disabled", ["enable"]),
        ("auto_disabled", ["enable"]),
    ],
)
def test_an_endpoint_offers_the_acts_that_fit(staff: Client, acme: Cast, state: str, offered: list[str]) -> None:
    with acme.scope():
        endpoint, _ = create_endpoint(url="https://example.com/hook")
        Endpoint.objects.update(state=state)
    open_content(staff, acme)
    assert verbs(staff, endpoint) == offered


@pytest.mark.parametrize(("state", "offered"), [("pending", []), ("succeeded", ["replay"]), ("dead", ["replay"])])
def test_a_delivery_offers_the_acts_that_fit(staff: Client, acme: Cast, state: str, offered: list[str]) -> None:
    with acme.scope():
        endpoint, _ = create_endpoint(url="https://example.com/hook")
        delivery = send_test(endpoint=endpoint)
        Delivery.objects.update(state=state)
    open_content(staff, acme)
    assert verbs(staff, delivery) == offered


@pytest.mark.parametrize(("state", "offered"), [("closed", ["hold"]), ("open", ["close", "hold"])])
def test_an_outage_offers_the_acts_that_fit(staff: Client, state: str, offered: list[str]) -> None:
    breakers.opened("describer", code="model_unavailable", message="no answer")
    Breaker.objects.using("dispatch").update(state=state)
    assert verbs(staff, Breaker.objects.get()) == offered


def verbs(staff: Client, row: Model) -> list[str]:
    page = staff.get(reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk]))
    assert page.status_code == 200
    return re.findall(r'<button name="verb" value="(\w+)">', page.content.decode())

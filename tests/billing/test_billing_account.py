"""The billing account over HTTP: who reads and changes it, what is valid, what invoices make of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from backend.billing.models import BillingAccount
from backend.people.roles import SCOPES_OF
from tests.billing.test_budgets import client_with
from tests.conftest import Cast

PATH = "/v1/billing-account"
ADDRESS = {
    "legal_name": "Acme Lager GmbH", "address_line_1": "Hafenstraße 1", "address_line_2": "Tor 3",
    "postal_code": "20457", "city": "Hamburg", "region": "", "country": "DE", "tax_id": "DE 123456789",
    "email": "rechnung@acme.example", "time_zone": "Europe/Berlin",
}  # fmt: skip


def patch(cast: Cast, **values: Any) -> Any:
    return cast.client.patch(PATH, values, format="json")


def test_a_tenant_without_a_row_has_an_account_in_its_own_name(acme: Cast) -> None:
    body = acme.client.get(PATH).json()

    assert (body["object"], body["legal_name"], body["time_zone"], body["currency"]) == (
        "billing_account", "Acme", "UTC", "USD",
    )  # fmt: skip
    assert (body["tax_rate"], body["updated_at"]) == ("0", None)
    with acme.scope():
        assert BillingAccount.objects.count() == 0


def test_every_field_is_changed_and_read_again(acme: Cast, globex: Cast) -> None:
    reply = patch(acme, **ADDRESS)

    assert reply.status_code == 200, reply.content
    assert {name: reply.json()[name] for name in ADDRESS} == ADDRESS
    assert acme.client.get(PATH).json() == reply.json()
    assert reply.json()["updated_at"] is not None
    assert globex.client.get(PATH).json()["legal_name"] == "Globex"
    with globex.scope():
        assert BillingAccount.objects.count() == 0


def test_a_field_that_is_left_out_stays(acme: Cast) -> None:
    patch(acme, **ADDRESS)
    with acme.scope():
        BillingAccount.objects.update(tax_rate=Decimal("0.19"))

    body = patch(acme, city="Bremen", tax_id="").json()

    assert {name: body[name] for name in ADDRESS} == {**ADDRESS, "city": "Bremen", "tax_id": ""}
    assert body["tax_rate"] == "0.19"
    with acme.scope():
        assert BillingAccount.objects.count() == 1


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("legal_name", "", "blank"), ("legal_name", "x" * 201, "max_length"), ("country", "Germany", "invalid"),
        ("country", "de", "invalid"), ("tax_id", "DE<1>", "invalid"), ("tax_id", "x", "invalid"),
        ("email", "nobody", "invalid"), ("time_zone", "Europe/Atlantis", "unknown_time_zone"),
        ("time_zone", "../../etc/passwd", "unknown_time_zone"), ("postal_code", "1" * 21, "max_length"),
        ("tax_rate", "0", "unknown_field"), ("currency", "EUR", "unknown_field"), ("city", None, "null"),
    ],
)  # fmt: skip
def test_a_value_that_is_not_valid_changes_nothing(acme: Cast, field: str, value: Any, code: str) -> None:
    reply = patch(acme, city="Bremen", **{field: value}) if field != "city" else patch(acme, city=value)

    assert reply.status_code == 400
    assert [(error["pointer"], error["code"]) for error in reply.json()["errors"]] == [(f"/{field}", code)]
    with acme.scope():
        assert BillingAccount.objects.count() == 0


def test_reading_and_changing_are_two_scopes_which_roles_of_money_have(acme: Cast) -> None:
    reader, writer = client_with(acme, "usage:read"), client_with(acme, "billing:write")

    assert (reader.get(PATH).status_code, reader.patch(PATH, {}, format="json").status_code) == (200, 403)
    assert (writer.get(PATH).status_code, writer.patch(PATH, {}, format="json").status_code) == (403, 200)
    may = {role for role, scopes in SCOPES_OF.items() if scopes & {"*", "billing:write"}}
    assert may == {"owner", "admin", "billing"}


def test_a_change_is_recorded_by_its_fields_without_their_values(acme: Cast) -> None:
    patch(acme, tax_id="DE123456789", city="Bremen")

    (event,) = acme.client.get("/v1/audit-events", {"action": "billing_account.updated"}).json()["data"]
    assert event["details"] == {"fields": ["city", "tax_id"]}
    assert "123456789" not in str(event)

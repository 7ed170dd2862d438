"""Staff whose second factor is hours old: a session that was left open erases, grants and reads nothing."""

from __future__ import annotations

import time
from typing import Any

import pytest

from backend.billing.models import CreditGrant
from backend.console.acting import tenant_acts
from backend.staff import sign_in
from backend.staff.models import ContentAccess
from backend.tenancy.models import Tenant
from tests.conftest import Cast
from tests.console.signing_in import staff_events

ACTS: dict[str, dict[str, str]] = {
    "erase": {},
    "credit": {"amount": "12.50", "currency": "EUR"},
    "sign-in-as": {"minutes": "60"},
}


def left_open(client: Any) -> Any:
    """A session whose factor was verified too long ago."""
    session = client.session
    session[sign_in.VERIFIED] = time.time() - sign_in.FRESH.total_seconds() - 1
    session.save()
    return client


@pytest.mark.parametrize("name", ACTS)
def test_a_session_that_was_left_open_does_nothing_that_cannot_be_undone(staff_as: Any, acme: Cast, name: str) -> None:
    client = staff_as("operator")
    form = {"reason": "Ticket 4711, asked by the customer", "slug": acme.slug, **ACTS[name]}
    page = f"/console/tenancy/tenant/{acme.tenant_id}/act/{name}/"

    refused = left_open(client).post(page, form)
    assert (refused.status_code, "Confirm your second factor" in refused.content.decode()) == (400, True)
    assert staff_events(acme) == []
    assert not ContentAccess.objects.exists()
    with acme.scope():
        assert not CreditGrant.objects.exists()
        assert Tenant.objects.get().suspended_at is None

    session = client.session
    session[sign_in.VERIFIED] = time.time()
    session.save()
    assert client.post(page, form).status_code == 302


def test_the_acts_that_need_a_fresh_factor_are_these() -> None:
    assert {act.name for act in tenant_acts.ACTS.values() if act.fresh} == set(ACTS)

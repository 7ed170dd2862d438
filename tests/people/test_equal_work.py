"""Signing in costs the same work whether an address is known, so the time of a refusal says nothing about it.

The work is counted in iterations of the password's hash, which take nearly all of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import hashers
from django.core.cache import cache
from django.test import Client, override_settings

from backend.console.site_settings import console_settings
from backend.people.models import Person
from backend.staff import services
from backend.staff.models import Role
from tests.people.cast import PASSWORD, make_staff, person


@pytest.fixture(autouse=True)
def _no_attempts(database: None) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def iterations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The iterations of each hash that is computed from now on; the hashes stay what they are."""
    counted: list[int] = []
    real = hashers.pbkdf2

    def counting(password: Any, salt: Any, rounds: int, *args: Any, **options: Any) -> bytes:
        counted.append(rounds)
        return real(password, salt, rounds, *args, **options)  # type: ignore[no-any-return]

    monkeypatch.setattr(hashers, "pbkdf2", counting)
    return counted


def known() -> dict[str, str]:
    """Addresses by what is known of their holders, who may not sign in with the password that is tried."""
    provided, closed, staff = person("provided"), person("closed"), person("staff")
    provided.set_unusable_password()
    provided.save()
    Person.objects.filter(id=closed.id).update(is_active=False)
    make_staff(staff)
    return {"known": person("known").email, "provided": provided.email, "closed": closed.email, "staff": staff.email}


def test_a_refused_sign_in_costs_one_hash_for_every_address(iterations: list[int]) -> None:
    addresses = {**known(), "unknown": "nobody@example.org"}
    cost = {}
    for name, email in addresses.items():
        iterations.clear()
        reply = Client().post("/accounts/login/", {"login": email, "password": "wrong " + PASSWORD})
        assert reply.status_code == 200, name
        cost[name] = sum(iterations)

    assert set(cost.values()) == {hashers.PBKDF2PasswordHasher.iterations}, cost


def test_asking_for_a_new_password_costs_no_hash(iterations: list[int]) -> None:
    for email in (*known().values(), "nobody@example.org"):
        iterations.clear()
        assert Client().post("/accounts/password/reset/", {"email": email}).status_code == 302
        assert iterations == []


def test_a_refused_sign_in_at_the_console_costs_one_hash_for_every_address(iterations: list[int]) -> None:
    services.appoint(email="operator@example.org", role=Role.OPERATOR)
    staff = Person.objects.using("staff").get(email="operator@example.org")
    staff.set_password(PASSWORD)
    staff.save(using="staff")
    customer = person("customer").email
    with override_settings(**console_settings("http://testserver", settings.MIDDLEWARE)):
        cost = {}
        for email in ("operator@example.org", customer, "nobody@example.org"):
            iterations.clear()
            form = {"username": email, "password": "wrong " + PASSWORD, "next": "/console/"}
            assert Client().post("/console/login/?next=/console/", form).status_code == 200
            cost[email] = sum(iterations)

    assert set(cost.values()) == {hashers.PBKDF2PasswordHasher.iterations}, cost

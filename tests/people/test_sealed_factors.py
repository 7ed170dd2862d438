"""Whoever reads the database of members' second factors can compute no code of theirs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.conf import settings
from django.core.cache import cache
from django.db import router, transaction
from django.test import Client, override_settings

from backend.people.models import Person
from backend.tenancy.secrets import open_sealed
from tests.people.cast import PASSWORD, person

KINDS = {"totp": "secret", "recovery_codes": "seed"}
"""What codes are computed from, by kind of factor."""


@pytest.fixture(autouse=True)
def _no_attempts(database: None) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def factors_of(who: Person) -> dict[str, str]:
    """Make an app and recovery codes on the pages of a browser. Returns what an app read, and a recovery code."""
    browser = Client()
    browser.post("/accounts/login/", {"login": who.email, "password": PASSWORD})
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    page = browser.get("/accounts/2fa/totp/activate/").content.decode()
    (secret,) = re.findall(r'id="authenticator_secret"[^>]*value="(\w+)"', page)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("allauth.mfa.totp.internal.auth.time.time", lambda: 30.0)
        code = format_hotp_value(hotp_value(secret, 1))
        assert browser.post("/accounts/2fa/totp/activate/", {"code": code}).status_code == 302
    return {"totp": secret, "recovery_codes": RecoveryCodes.activate(who).get_unused_codes()[0]}


def test_no_seed_of_a_code_lies_open_in_the_database() -> None:
    ada = person()
    factors_of(ada)
    stored = dict(Authenticator.objects.filter(user=ada).values_list("type", "data"))
    assert set(stored) == set(KINDS)
    for kind, name in KINDS.items():
        opened = open_sealed(stored[kind][name].encode()).decode()
        assert len(opened) >= 32
        assert opened not in json.dumps(stored)


def test_sealed_factors_are_accepted_also_after_another_key_has_come() -> None:
    ada = person()
    made = factors_of(ada)
    cache.clear()
    app = Authenticator.objects.get(user=ada, type="totp")
    assert app.data["secret"] != made["totp"]
    keys = {**settings.ENCRYPTION_KEYS, 99: "a newer key of thirty-two characters or more"}
    with override_settings(ENCRYPTION_KEYS=keys), pytest.MonkeyPatch.context() as patch:
        patch.setattr("allauth.mfa.totp.internal.auth.time.time", lambda: 30.0)
        assert TOTP(app).validate_code(format_hotp_value(hotp_value(made["totp"], 1)))
        with transaction.atomic(using=router.db_for_write(Person)):
            codes = RecoveryCodes.activate(ada)
            assert codes.validate_code(made["recovery_codes"])

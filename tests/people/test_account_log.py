"""Sign-ins, lock-outs, passwords and factors of members are in the audit log of their tenants, without secrets."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.core.cache import cache
from django.test import Client

from backend.api.public_ids import encode
from backend.people.models import Membership, Person
from tests.conftest import Cast
from tests.people.cast import PASSWORD, invited, member_of, person

NEW = "a new horse battery staple"
ADDRESS = "198.51.100.7"


@pytest.fixture(autouse=True)
def _no_attempts(database: None) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def member(acme: Cast) -> tuple[Person, Membership]:
    ada = person()
    return ada, member_of(acme, "developer", ada)


def browser() -> Client:
    return Client(REMOTE_ADDR=ADDRESS)


def sign_in(client: Client, email: str, password: str = PASSWORD) -> Any:
    return client.post("/accounts/login/", {"login": email, "password": password})


def events(cast: Cast) -> list[dict[str, Any]]:
    """What people did, oldest first."""
    reply = cast.client.get("/v1/audit-events", {"actor_type": "person"})
    found: list[dict[str, Any]] = reply.json()["data"]
    assert PASSWORD not in reply.content.decode()
    return found[::-1]


def acts(cast: Cast) -> list[tuple[str, dict[str, Any]]]:
    return [(event["action"], event["details"]) for event in events(cast)]


def code_of(secret: str) -> str:
    code: str = format_hotp_value(hotp_value(secret, int(time.time()) // 30))
    return code


def test_a_sign_in_is_recorded_with_the_person_the_address_and_the_request(
    acme: Cast, globex: Cast, member: tuple[Person, Membership]
) -> None:
    ada, membership = member
    browser().post("/accounts/login/", {"login": ada.email, "password": PASSWORD}, headers={"X-Request-Id": "mine"})

    (event,) = events(acme)

    assert event.pop("id").startswith("aud_")
    assert event.pop("occurred_at")
    assert event == {
        "object": "audit_event",
        "action": "member.signed_in",
        "actor": {"type": "person", "id": encode("per", ada.id), "name": ada.email},
        "resource_id": encode("mem", membership.id),
        "reason": "",
        "address": ADDRESS,
        "request_id": "mine",
        "details": {"methods": ["password"]},
    }
    assert events(globex) == []


def test_each_tenant_of_a_person_sees_the_sign_in(acme: Cast, globex: Cast, member: tuple[Person, Membership]) -> None:
    member_of(globex, "viewer", member[0])
    sign_in(browser(), member[0].email)
    assert acts(acme) == acts(globex) == [("member.signed_in", {"methods": ["password"]})]


def test_wrong_passwords_and_the_lock_out_are_recorded(acme: Cast, member: tuple[Person, Membership]) -> None:
    for _ in range(8):
        sign_in(browser(), f" {member[0].email.upper()} ", "wrong")
    sign_in(browser(), member[0].email)
    sign_in(browser(), "nobody@example.org", "wrong")

    failed = ("member.sign_in_failed", {"factor": "password"})
    assert acts(acme) == [*[failed] * 5, ("member.locked_out", {"factor": "password"})]
    assert {(event["address"], event["actor"]["name"]) for event in events(acme)} == {(ADDRESS, member[0].email)}


def test_wrong_codes_and_their_lock_out_are_recorded(acme: Cast, member: tuple[Person, Membership]) -> None:
    secret = generate_totp_secret()
    TOTP.activate(member[0], secret)
    client = browser()
    sign_in(client, member[0].email)
    assert acts(acme) == [], "half a sign-in is none"
    for _ in range(7):
        client.post("/accounts/2fa/authenticate/", {"code": "000000"})

    failed = ("member.sign_in_failed", {"factor": "totp"})
    assert acts(acme) == [*[failed] * 5, ("member.locked_out", {"factor": "mfa"})]


def test_a_passkey_that_is_not_accepted_is_recorded(acme: Cast, member: tuple[Person, Membership]) -> None:
    TOTP.activate(member[0], generate_totp_secret())
    client = browser()
    sign_in(client, member[0].email)
    client.post("/accounts/2fa/authenticate/", {"credential": json.dumps({"id": "none"})})
    assert acts(acme) == [("member.sign_in_failed", {"factor": "webauthn"})]


@pytest.mark.parametrize("reply", [{"id": "none"}, {}, [], 7, {"response": {"userHandle": 3}}])
def test_an_odd_reply_of_a_browser_is_a_refusal(acme: Cast, reply: Any) -> None:
    refused = browser().post("/accounts/2fa/webauthn/login/", {"credential": json.dumps(reply)})
    assert refused.status_code < 500
    assert acts(acme) == []


def test_a_changed_password_is_recorded(acme: Cast, member: tuple[Person, Membership]) -> None:
    client = browser()
    sign_in(client, member[0].email)
    form = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    assert client.post("/accounts/password/change/", form).status_code == 302

    (_, changed) = events(acme)
    assert (changed["action"], changed["details"]) == ("member.password_changed", {"by_mail": False})
    assert (changed["address"], NEW in json.dumps(changed)) == (ADDRESS, False)


def test_a_password_that_is_reset_by_mail_is_recorded(acme: Cast, member: tuple[Person, Membership]) -> None:
    link = f"{user_pk_to_url_str(member[0])}-{default_token_generator.make_token(member[0])}"
    client = browser()
    page = client.get(f"/accounts/password/reset/key/{link}/").headers["Location"]
    assert client.post(page, {"password1": NEW, "password2": NEW}).status_code == 302
    assert acts(acme) == [("member.password_changed", {"by_mail": True})]


def test_factors_are_recorded_when_they_come_are_renewed_and_go(acme: Cast, member: tuple[Person, Membership]) -> None:
    client = browser()
    sign_in(client, member[0].email)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    page = client.get("/accounts/2fa/totp/activate/").content.decode()
    (secret,) = re.findall(r'id="authenticator_secret"[^>]*value="(\w+)"', page)
    assert client.post("/accounts/2fa/totp/activate/", {"code": code_of(secret)}).status_code == 302
    assert client.post("/accounts/2fa/recovery-codes/generate/").status_code == 302
    assert client.post("/accounts/2fa/totp/deactivate/").status_code == 302

    assert acts(acme)[1:] == [
        ("member.factor_added", {"factor": "totp"}),
        ("member.factor_added", {"factor": "recovery_codes"}),
        ("member.factor_renewed", {"factor": "recovery_codes"}),
        ("member.factor_removed", {"factor": "totp"}),
        ("member.factor_removed", {"factor": "recovery_codes"}),
    ]
    assert secret not in json.dumps(events(acme))


def test_a_sign_in_with_a_second_factor_names_both_methods(acme: Cast, member: tuple[Person, Membership]) -> None:
    secret = generate_totp_secret()
    TOTP.activate(member[0], secret)
    client = browser()
    sign_in(client, member[0].email)
    client.post("/accounts/2fa/authenticate/", {"code": code_of(secret)})
    assert acts(acme) == [("member.signed_in", {"methods": ["password", "totp"]})]


def test_a_recovery_code_signs_in_once(acme: Cast, member: tuple[Person, Membership]) -> None:
    TOTP.activate(member[0], generate_totp_secret())
    code = RecoveryCodes.activate(member[0]).get_unused_codes()[0]
    for _ in range(2):
        client = browser()
        sign_in(client, member[0].email)
        client.post("/accounts/2fa/authenticate/", {"code": code})

    assert acts(acme) == [
        ("member.signed_in", {"methods": ["password", "recovery_codes"]}),
        ("member.sign_in_failed", {"factor": "totp"}),
    ]


def test_an_accepted_invitation_is_recorded(acme: Cast, globex: Cast) -> None:
    eve = person("eve")
    invitation, page = invited(acme, eve.email, "analyst")
    client = browser()
    client.force_login(eve)
    client.post(page)

    (event,) = events(acme)
    with acme.scope():
        membership = Membership.objects.get(person_id=eve.id)
    assert (event["action"], event["resource_id"]) == ("invitation.accepted", encode("inv", invitation.id))
    assert event["details"] == {"member_id": encode("mem", membership.id), "role": "analyst"}
    assert (event["actor"]["name"], event["address"]) == (eve.email, ADDRESS)
    assert events(globex) == []

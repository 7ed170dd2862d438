"""The pages of accounts as plain forms: sign-up by invitation, sign-in, lock-out, reset, second factor."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from backend.people.models import Invitation, Membership, Person
from backend.tenancy.context import tenant_scope
from tests.conftest import Cast
from tests.people.cast import PASSWORD, Browser, invited, make_staff, member_of, person


@pytest.fixture(autouse=True)
def _no_attempts(database: None) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def text(reply: Any) -> str:
    return re.sub(r"\s+", " ", reply.content.decode())


def sign_in(client: Client, email: str, password: str = PASSWORD) -> Any:
    return client.post("/accounts/login/", {"login": email, "password": password})


def memberships(cast: Cast) -> list[tuple[str, str]]:
    with cast.scope():
        rows = list(Membership.objects.order_by("id"))
    people = {row.id: row.email for row in Person.objects.all()}
    return [(people[row.person_id], row.role) for row in rows]


def test_an_invited_person_makes_an_account_and_joins(acme: Cast) -> None:
    _, page = invited(acme, "eve@example.org", "analyst")
    client = Client()
    shown = text(client.get(page))
    for words in ("Invitation to Acme", "Analyst", "eve@example.org", "Ada", "Create an account"):
        assert words in shown
    form = client.get(f"/accounts/signup/?next={page}")
    assert 'value="eve@example.org"' in text(form)
    made = client.post(
        f"/accounts/signup/?next={page}", {"email": "eve@example.org", "password1": PASSWORD, "next": page}
    )
    assert (made.status_code, made.headers["Location"]) == (302, page), text(made)
    accepted = client.post(page)
    assert accepted.headers["Location"] == f"/app/{acme.slug}/"
    assert "Acme" in text(client.get("/accounts/"))
    assert memberships(acme) == [("eve@example.org", "analyst")]
    assert client.get(page).status_code == 404, "an invitation is used once"


def test_the_form_of_an_invitation_takes_no_other_address(acme: Cast) -> None:
    _, page = invited(acme, "eve@example.org")
    client = Client()
    client.get(page)
    refused = client.post("/accounts/signup/", {"email": "mallory@example.org", "password1": PASSWORD})
    assert "The invitation is for another address." in text(refused)
    assert not Person.objects.exists()


def test_nobody_signs_up_without_an_invitation(acme: Cast) -> None:
    client = Client()
    client.post("/accounts/signup/", {"email": "mallory@example.org", "password1": PASSWORD})
    assert not Person.objects.exists()


@pytest.mark.parametrize("password", ["short", "password1234", "736251846253", "eve@example.org"])
def test_weak_passwords_are_refused(acme: Cast, password: str) -> None:
    _, page = invited(acme, "eve@example.org")
    client = Client()
    client.get(page)
    client.post("/accounts/signup/", {"email": "eve@example.org", "password1": password})
    assert not Person.objects.exists()


def test_a_wrong_account_is_named_and_cannot_accept(acme: Cast) -> None:
    bob = person("bob")
    _, page = invited(acme, "eve@example.org")
    client = Client()
    client.force_login(bob)
    shown = text(client.get(page))
    assert f"You are signed in as {bob.email}. This invitation is for eve@example.org." in shown
    refused = client.post(page)
    assert (refused.status_code, memberships(acme)) == (403, [])


def test_ended_invitations_are_one_page(acme: Cast, globex: Cast) -> None:
    pages = []
    for change in (
        {"revoked_at": timezone.now()},
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"accepted_at": timezone.now()},
    ):
        invitation, page = invited(acme)
        with acme.scope():
            Invitation.objects.filter(id=invitation.id).update(**change)
        pages.append(page)
    pages.append("/accounts/invitations/never-made/")
    replies = {(Client().get(page).status_code, text(Client().get(page))) for page in pages}
    assert len(replies) == 1
    assert next(iter(replies))[0] == 404


def test_staff_cannot_accept_an_invitation(acme: Cast) -> None:
    staff = person("staff")
    _, page = invited(acme, staff.email)
    client = Client()
    client.force_login(staff)
    make_staff(staff)
    assert "Sign in to accept" in text(client.post(page))
    form = client.post("/accounts/signup/", {"email": staff.email, "password1": PASSWORD})
    assert (form.status_code, "cannot be used here" in text(form)) == (200, True)
    assert memberships(acme) == []


def test_guesses_are_slowed_and_then_refused_for_the_account(acme: Cast) -> None:
    ada = person()
    client = Client()
    for _ in range(5):
        assert "not correct" in text(sign_in(client, ada.email, "wrong"))
    assert "Too many failed login attempts" in text(sign_in(client, ada.email, "wrong"))
    assert "Too many failed login attempts" in text(sign_in(Client(), ada.email))
    assert sign_in(Client(), person("bob").email).status_code == 302, "another account is not locked"


def test_nobody_locks_a_person_out_who_knows_the_address_alone(acme: Cast) -> None:
    ada = person()
    home = {"REMOTE_ADDR": "203.0.113.9"}
    at_home = Client(**home)
    sign_in(at_home, ada.email)
    for _ in range(6):
        refused = sign_in(Client(), ada.email, "wrong")
    assert "Too many failed login attempts" in text(refused)
    assert "Too many failed login attempts" in text(sign_in(Client(REMOTE_ADDR="198.51.100.7"), ada.email))
    assert sign_in(Client(**home), ada.email).status_code == 302
    for _ in range(6):
        refused = sign_in(Client(**home), ada.email, "wrong")
    assert "Too many failed login attempts" in text(refused)


def test_unknown_addresses_are_answered_like_known_ones(acme: Cast) -> None:
    ada = person()
    wrong = [text(sign_in(Client(), email, "wrong")) for email in (ada.email, "nobody@example.org")]
    assert re.sub(r'value="[^"]*"', "", wrong[0]) == re.sub(r'value="[^"]*"', "", wrong[1])
    resets = [Client().post("/accounts/password/reset/", {"email": email}) for email in (ada.email, "no@example.org")]
    assert [(reply.status_code, reply.headers["Location"]) for reply in resets] == [
        (302, "/accounts/password/reset/done/")
    ] * 2


def test_a_second_factor_is_asked_for_and_counts(acme: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    acme.client.patch("/v1/sign-in-settings", {"require_second_factor": True})
    secret = generate_totp_secret()
    TOTP.activate(ada, secret)
    client = Client()
    assert sign_in(client, ada.email).headers["Location"].startswith("/accounts/2fa/authenticate/")
    assert client.get("/v1/me").status_code == 401, "half a sign-in is none"
    wrong = client.post("/accounts/2fa/authenticate/", {"code": "000000"})
    assert (wrong.status_code, client.get("/v1/me").status_code) == (200, 401)
    code = format_hotp_value(hotp_value(secret, int(time.time()) // 30))
    assert client.post("/accounts/2fa/authenticate/", {"code": code}).status_code == 302
    assert client.get("/v1/me").json()["second_factor"] is True
    assert client.get("/v1/videos", headers={"AVA-Tenant": acme.slug}).status_code == 200
    assert Authenticator.objects.filter(user=ada).exists()


def test_a_session_is_listed_and_ended_from_another(acme: Cast) -> None:
    ada = person()
    first, second = Client(), Client()
    for client in (first, second):
        sign_in(client, ada.email)
    assert "127.0.0.1" in text(first.get("/accounts/sessions/"))
    first.post("/accounts/sessions/")
    assert [client.get("/v1/me").status_code for client in (first, second)] == [200, 401]


def test_a_session_of_a_provider_cannot_change_the_account(acme: Cast) -> None:
    ada = person()
    browser = Browser(ada, method="socialaccount")
    session = browser.session
    session["account_authentication_methods"][0]["provider"] = "tnt_1111111111111111"
    session.save()
    for page in ("/accounts/password/change/", "/accounts/2fa/", "/accounts/email/", "/accounts/password/set/"):
        assert browser.get(page).status_code == 403, page
    assert browser.get("/accounts/").status_code == 200
    with tenant_scope(acme.tenant_id):
        assert not Membership.objects.exists()


def test_cookies_are_for_this_site_alone(acme: Cast) -> None:
    ada = person()
    reply = sign_in(Client(), ada.email)
    cookie = reply.cookies["ava_session"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "Lax", "/", "")
    assert int(cookie["max-age"]) == 12 * 3600

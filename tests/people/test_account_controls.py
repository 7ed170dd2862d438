"""Controls of accounts that django-allauth and Django give, held here because settings can switch them off."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core.cache import cache
from django.test import Client, override_settings

from backend.people.models import Person
from tests.people.cast import PASSWORD, person
from tests.webhooks.mailbox import mailbox
from tests.webhooks.sending import until

SMTP = "django.core.mail.backends.smtp.EmailBackend"
LONG = "ein sehr langes Passwort aus Wörtern, das niemand errät 你好 " + "x" * 64


@pytest.fixture(autouse=True)
def _no_attempts(database: None) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def sign_in(client: Client, who: Person, password: str = PASSWORD) -> None:
    assert client.post("/accounts/login/", {"login": who.email, "password": password}).status_code == 302


def reset(who: Person, password: str) -> None:
    link = f"{user_pk_to_url_str(who)}-{default_token_generator.make_token(who)}"
    client = Client()
    page = client.get(f"/accounts/password/reset/key/{link}/").headers["Location"]
    assert client.post(page, {"password1": password, "password2": password}).status_code == 302


def test_a_sign_in_gives_the_browser_a_new_session() -> None:
    client, ada = Client(), person()
    client.get("/accounts/login/")
    session = client.session
    session["before"] = True
    session.save()
    client.cookies["ava_session"] = session.session_key or ""
    planted = session.session_key
    sign_in(client, ada)
    assert client.cookies["ava_session"].value != planted
    stolen = Client()
    stolen.cookies["ava_session"] = planted or ""
    assert stolen.get("/v1/me").status_code == 401


def test_a_session_that_was_signed_out_is_no_session() -> None:
    client, thief = Client(), Client()
    sign_in(client, person())
    thief.cookies["ava_session"] = client.cookies["ava_session"].value
    assert thief.get("/v1/me").status_code == 200
    client.post("/accounts/logout/")
    assert thief.get("/v1/me").status_code == 401


def test_a_new_password_needs_the_present_one_and_ends_other_sessions() -> None:
    client, other, ada = Client(), Client(), person()
    sign_in(client, ada)
    sign_in(other, ada)
    for present, accepted in (("wrong", False), (PASSWORD, True)):
        client.post("/accounts/password/change/", {"oldpassword": present, "password1": LONG, "password2": LONG})
        ada.refresh_from_db()
        assert ada.check_password(LONG) is accepted
    assert other.get("/v1/me").status_code == 401


def test_long_passwords_of_any_characters_are_taken_as_they_are() -> None:
    ada = person()
    reset(ada, LONG)
    sign_in(Client(), ada, LONG)
    for other in (LONG[:-1], LONG.lower(), LONG[:72]):
        refused = Client().post("/accounts/login/", {"login": ada.email, "password": other})
        assert refused.status_code == 200


def test_a_password_by_mail_does_not_pass_the_second_factor() -> None:
    ada = person()
    TOTP.activate(ada, generate_totp_secret())
    reset(ada, LONG)
    client = Client()
    asked = client.post("/accounts/login/", {"login": ada.email, "password": LONG})
    assert asked.headers["Location"].startswith("/accounts/2fa/authenticate/")
    assert client.get("/v1/me").status_code == 401


def test_a_link_for_a_new_password_works_once() -> None:
    ada = person()
    link = f"{user_pk_to_url_str(ada)}-{default_token_generator.make_token(ada)}"
    first = Client()
    page = first.get(f"/accounts/password/reset/key/{link}/").headers["Location"]
    first.post(page, {"password1": LONG, "password2": LONG})
    again = Client().get(f"/accounts/password/reset/key/{link}/")
    assert again.status_code == 200
    assert "invalid" in again.content.decode().lower() or "Bad Token" in again.content.decode()


def test_a_code_by_mail_is_good_for_the_browser_that_asked_and_is_not_guessed() -> None:
    client, other, ada = Client(), Client(), person()
    confirm = "/accounts/login/code/confirm/"
    with mailbox() as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        client.post("/accounts/login/code/", {"email": ada.email})
        until(lambda: bool(box.mails))
    (code,) = re.findall(r"^([A-Z0-9-]{6,9})\s*$", str(box.mails[0].get_payload()), re.MULTILINE)
    other.post(confirm, {"code": code})
    assert other.get("/v1/me").status_code == 401
    for _ in range(3):
        client.post(confirm, {"code": "AAAA-AAAA"})
    client.post(confirm, {"code": code})
    assert client.get("/v1/me").status_code == 401, "three wrong codes end the right one"


def test_password_fields_are_masked_and_filled_by_managers() -> None:
    page = Client().get("/accounts/login/").content.decode()
    (field,) = re.findall(r'<input[^>]*name="password"[^>]*>', page)
    assert 'type="password"' in field
    assert 'autocomplete="current-password"' in field
    assert "onpaste" not in page


@pytest.mark.parametrize("path", ["/v1/videos", "/accounts/login/", "/static/", "/"])
def test_trace_is_not_answered_and_no_folder_is_listed(path: str) -> None:
    client = Client()
    traced = client.generic("TRACE", path, headers={"X-Secret": "vk_live_x"})
    assert traced.status_code in {401, 404, 405}
    assert "vk_live_x" not in traced.content.decode()
    if path == "/static/":
        assert client.get(path).status_code == 404

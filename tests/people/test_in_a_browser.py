"""The pages of accounts in Chromium: by keyboard, without JavaScript, with a passkey, with axe and an empty console.

`make test-browser` runs these; without a Chromium they are skipped (`apt-get install chromium`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.test import override_settings
from oidc_provider_mock import User, run_server_in_thread
from rest_framework.test import APIClient

from backend.people.models import Membership
from tests.browser.chromium import (
    PATIENCE_MS,
    in_a_thread,
    in_chromium,
    launched,
    listened,
    out_of_reach,
    overhang,
    pictured,
    serious_faults,
    served,
    with_authenticator,
)
from tests.conftest import Cast
from tests.people.cast import PASSWORD, invited, member_of, person

pytestmark = in_chromium

CONTROLS = "main :is(a, button, input, select, textarea)"


@pytest.fixture
def site(database: None) -> Iterator[str]:
    cache.clear()
    with served() as address:
        # A passkey belongs to a host name, and an address is none.
        named = address.replace("127.0.0.1", "localhost")
        with override_settings(CSRF_TRUSTED_ORIGINS=[named], PUBLIC_URL=named):
            yield named


@pytest.fixture
def chromium() -> Iterator[Any]:
    with launched() as browser:
        yield browser


def opened(chromium: Any, **settings: Any) -> Any:
    context = chromium.new_context(reduced_motion="reduce", **settings)
    context.set_default_timeout(PATIENCE_MS)
    return context.new_page()


def checked(page: Any) -> None:
    """Check the open page in both themes: axe finds nothing serious, a phone holds it, and Tab reaches each control."""
    for scheme, width in (("dark", 390), ("light", 1280)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        pictured(page, f"{re.sub('[^a-z]+', '-', urlsplit(page.url).path.lower())[:40]}-{width}")
        assert serious_faults(page) == [], (page.url, scheme)
        assert overhang(page) <= 0, page.url
    assert out_of_reach(page, CONTROLS) == [], page.url


def signed_in(page: Any, site: str, email: str) -> None:
    page.goto(f"{site}/accounts/login/")
    page.get_by_label("Email").focus()
    page.keyboard.type(email)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_text(f"You are signed in as {email}").wait_for()


def confirmed(page: Any, site: str) -> None:
    """Confirm by the password that it is still the same person, before the second factor is changed."""
    page.goto(f"{site}/accounts/reauthenticate/?next=/accounts/2fa/")
    checked(page)
    page.get_by_label("Password").focus()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site}/accounts/2fa/")


def test_an_invitation_is_accepted_by_keyboard(acme: Cast, site: str, chromium: Any) -> None:
    _, path = in_a_thread(lambda: invited(acme, "eve@example.org", "analyst"))
    page = opened(chromium)
    said = listened(page)

    page.goto(site + path)
    checked(page)
    page.get_by_role("link", name="Create an account").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/accounts/signup/**")
    checked(page)
    page.get_by_label("Password").focus()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{path}")
    checked(page)
    page.get_by_role("button", name="Accept as eve@example.org").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/app/{acme.slug}/**")
    page.goto(f"{site}/accounts/")
    checked(page)
    assert page.get_by_role("cell", name="Acme", exact=True).is_visible()
    confirmed(page, site)
    for where in ("2fa/", "2fa/totp/activate/", "2fa/webauthn/", "sessions/", "password/change/", "logout/"):
        page.goto(f"{site}/accounts/{where}")
        assert page.url == f"{site}/accounts/{where}"
        checked(page)
    assert said == []

    def members() -> list[str]:
        with acme.scope():
            return list(Membership.objects.values_list("role", flat=True))

    assert in_a_thread(members) == ["analyst"]


def test_an_invited_owner_makes_a_key_by_keyboard(acme: Cast, site: str, chromium: Any) -> None:
    _, path = in_a_thread(lambda: invited(acme, "eve@example.org", "owner"))
    page = opened(chromium)
    said = listened(page)
    page.goto(site + path)
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Accept as eve@example.org").click()
    page.wait_for_url(f"**/app/{acme.slug}/**")
    page.goto(f"{site}/accounts/")
    checked(page)
    page.get_by_label("Name, by what will use it").focus()
    page.keyboard.type("Laptop")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Your key Laptop").wait_for()
    checked(page)
    key = page.locator("pre.key").inner_text()
    assert said == []
    assert in_a_thread(lambda: APIClient().get("/v1/videos", HTTP_AUTHORIZATION=f"Bearer {key}").status_code) == 200
    page.get_by_role("link", name="Back to Acme").click()
    row = page.get_by_role("listitem").filter(has_text="Laptop")
    row.locator("summary").focus()
    page.keyboard.press("Enter")
    checked(page)
    row.get_by_role("button", name="Revoke Laptop").focus()
    page.keyboard.press("Enter")
    row.wait_for(state="detached")
    assert in_a_thread(lambda: APIClient().get("/v1/videos", HTTP_AUTHORIZATION=f"Bearer {key}").status_code) == 401


@pytest.mark.parametrize("path", ["/", "/errors", "/docs/api", "/docs/errors", "/docs/quickstart", "/accounts/signup/"])
def test_pages_for_anybody_are_accessible(site: str, chromium: Any, path: str) -> None:
    page = opened(chromium)
    said = listened(page)
    page.goto(site + path)
    checked(page)
    assert said == []


def test_an_ended_invitation_says_so(acme: Cast, site: str, chromium: Any) -> None:
    invitation, path = in_a_thread(lambda: invited(acme, "eve@example.org", "analyst"))

    def withdraw() -> None:
        with acme.scope():
            invitation.delete()

    in_a_thread(withdraw)
    page = opened(chromium)
    page.goto(site + path)
    page.get_by_role("heading", level=1).wait_for()
    assert page.get_by_role("button", name="Accept").count() == 0
    checked(page)


def test_a_passkey_is_registered_and_signs_in(site: str, chromium: Any, database: None) -> None:
    ada = in_a_thread(person)
    page = opened(chromium)
    said = listened(page)
    passkeys = with_authenticator(page)
    signed_in(page, site, ada.email)

    page.goto(f"{site}/accounts/2fa/webauthn/add/")
    page.wait_for_url("**/accounts/reauthenticate/**")
    confirmed(page, site)
    page.goto(f"{site}/accounts/2fa/webauthn/add/")
    checked(page)
    page.get_by_label("Name").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Laptop")
    page.get_by_label("Passwordless").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Add").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "webauthn/add" not in url)
    checked(page)
    (made,) = passkeys()
    assert (made["isResidentCredential"], made["rpId"]) == (True, "localhost")
    page.goto(f"{site}/accounts/2fa/webauthn/")
    assert page.get_by_text("Laptop").is_visible()
    checked(page)

    page.goto(f"{site}/accounts/logout/")
    page.get_by_role("button", name="Sign Out").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "logout" not in url)
    page.goto(f"{site}/accounts/login/")
    checked(page)
    page.get_by_role("button", name="Sign in with a passkey").focus()
    page.keyboard.press("Enter")
    page.get_by_text(f"You are signed in as {ada.email}").wait_for()
    (used,) = passkeys()
    assert used["signCount"] > made["signCount"]
    assert said == []

    kinds = in_a_thread(lambda: set(Authenticator.objects.filter(user=ada).values_list("type", flat=True)))
    assert Authenticator.Type.WEBAUTHN in kinds


def test_sign_in_works_without_javascript(acme: Cast, site: str, chromium: Any) -> None:
    ada = in_a_thread(person)
    page = opened(chromium, java_script_enabled=False)
    page.goto(f"{site}/accounts/?tab=1")
    page.wait_for_url("**/accounts/login/?next=**")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/accounts/?tab=1")
    assert page.get_by_text(f"You are signed in as {ada.email}").is_visible()


def test_the_page_of_sign_in_is_accessible_and_refuses_in_words(site: str, chromium: Any, database: None) -> None:
    ada = in_a_thread(person)
    page = opened(chromium)
    said = listened(page)
    for where in ("login/", "password/reset/"):
        page.goto(f"{site}/accounts/{where}")
        checked(page)
    page.goto(f"{site}/accounts/login/")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password").fill("not the password")
    page.keyboard.press("Enter")
    page.get_by_text("not correct").wait_for()
    checked(page)
    assert said == []


def test_a_member_comes_in_by_the_tenants_provider(acme: Cast, site: str, chromium: Any) -> None:
    ada = User(sub="ada", claims={"email": "ada@acme.example", "email_verified": True, "groups": ["x", "admins"]})
    page = opened(chromium)
    with run_server_in_thread(user_claims=[ada]) as provider, override_settings(OIDC_ALLOW_PRIVATE=True):
        wanted = {
            "oidc_issuer": f"http://localhost:{provider.server_port}", "oidc_client_id": "ava",
            "oidc_client_secret": "hush", "oidc_domains": ["acme.example"], "oidc_group_roles": {"admins": "admin"},
        }  # fmt: skip
        path = in_a_thread(lambda: acme.client.patch("/v1/sign-in-settings", wanted)).json()["oidc_login_path"]
        page.goto(site + path)
        checked(page)
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url(f"{wanted['oidc_issuer']}/**")
        page.locator("input[name=sub]").fill("ada")
        page.get_by_role("button", name="Authorize").click()
        page.wait_for_url(f"{site}/accounts/")
    said = listened(page)
    page.reload()
    assert page.get_by_role("cell", name="Acme", exact=True).is_visible()
    assert page.get_by_role("cell", name="Admin").is_visible()
    checked(page)
    assert said == []


def test_what_waits_for_a_person_is_decided_by_keyboard(acme: Cast, globex: Cast, site: str, chromium: Any) -> None:
    def waiting() -> str:
        who = person("eve")
        invited(acme, who.email, "analyst")
        member_of(globex, "viewer", who, accepted=False)
        return who.email

    page = opened(chromium)
    said = listened(page)
    signed_in(page, site, in_a_thread(waiting))
    checked(page)
    page.get_by_role("button", name="Accept Acme").focus()
    page.keyboard.press("Enter")
    page.get_by_role("cell", name="Acme", exact=True).wait_for()
    page.get_by_role("button", name="Leave Globex").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Waiting for you").wait_for(state="detached")
    assert page.get_by_role("cell", name="Globex", exact=True).count() == 0
    assert said == []

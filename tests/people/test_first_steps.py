"""The first steps of an invited person: from the link of the invitation to a request with a key of their own."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.cache import cache
from django.test import Client, override_settings
from django.utils import timezone
from rest_framework.test import APIClient
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.people import sessions
from backend.people.models import Membership, Role
from backend.tenancy.models import ApiKey
from backend.webhooks import services as webhooks
from tests.billing.questions import record_question
from tests.conftest import Cast
from tests.people.cast import PASSWORD, Browser, invited, member_of, person
from tests.webhooks.mailbox import mailbox
from tests.webhooks.sending import until
from tests.webhooks.test_notices import SMTP

HOME, KEYS = "/accounts/", "/accounts/keys/"


@pytest.fixture(autouse=True)
def _no_attempts(database: None) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def text(reply: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(reply.content.decode()))


def joined(cast: Cast, role: str, email: str = "eve@example.org") -> Client:
    """Sign up by an invitation, accept it, and return the browser."""
    _, page = invited(cast, email, role)
    client = Client()
    client.get(page)
    client.post(f"/accounts/signup/?next={page}", {"email": email, "password1": PASSWORD, "next": page})
    assert client.post(page).headers["Location"] == f"/app/{cast.slug}/"
    return client


def key_in(reply: Any) -> str:
    """Return the key that a page shows."""
    (shown,) = set(re.findall(r"vk_(?:live|test)_[0-9A-Za-z]+_[0-9A-Za-z]+", text(reply)))
    return str(shown)


def keys_of(cast: Cast) -> list[tuple[str, list[str]]]:
    """Return name and scopes of the keys that people have made."""
    with cast.scope():
        made = ApiKey.objects.exclude(created_by_person_id=None).order_by("id")
        return [(key.name, key.scopes) for key in made]


def videos_with(key: str) -> int:
    return int(APIClient().get("/v1/videos", HTTP_AUTHORIZATION=f"Bearer {key}").status_code)


def test_an_invited_owner_comes_to_a_first_request(acme: Cast) -> None:
    client = joined(acme, "owner")
    home = text(client.get(HOME))
    for words in ("Acme", "Owner", "Make a key", "Usage in", "Webhook deliveries", 'href="/docs"'):
        assert words in home, words
    made = client.post(KEYS, {"tenant": acme.slug, "name": "Laptop", "kind": "work"})
    assert made.status_code == 201, text(made)
    assert videos_with(key_in(made)) == 200
    assert "no-store" in made.headers["Cache-Control"]
    again = text(client.get(HOME))
    assert "Laptop" in again
    assert key_in(made) not in again, "a key is shown once"


@pytest.mark.parametrize("role", Role.values)
def test_no_link_of_a_home_leads_to_nowhere(acme: Cast, role: str) -> None:
    client = joined(acme, role)
    links = set(re.findall(r'href="(/[^"#]*)', client.get(HOME).content.decode()))
    assert len(links) > 5
    replies = {link: client.get(link, headers={"accept": "text/html"}).status_code for link in links}
    assert {link: status for link, status in replies.items() if status >= 400} == {}


def test_a_member_revokes_a_key_and_the_audit_log_has_it(acme: Cast, globex: Cast) -> None:
    client = joined(acme, "developer")
    key = key_in(client.post(KEYS, {"tenant": acme.slug, "name": "Lost laptop", "kind": "work"}))
    assert videos_with(key) == 200
    assert "Lost laptop vk_live_" in re.sub(r"(\s*<[^>]+>\s*)+", " ", text(client.get(HOME)))
    assert "now" in text(client.get(HOME)), "the page shows when a key was used last"
    (shown,) = re.findall(r'name="key" value="(key_\w+)"[^>]*>Revoke Lost laptop', text(client.get(HOME)))

    revoked = client.post(f"{KEYS}revoke/", {"tenant": acme.slug, "key": shown})

    assert (revoked.status_code, revoked.headers["Location"]) == (302, f"{HOME}?tenant={acme.slug}")
    assert videos_with(key) == 401
    assert "Lost laptop" not in text(client.get(HOME))
    with acme.scope():
        (event,) = AuditEvent.objects.filter(action="api_key.revoked")
    assert (event.actor_name, event.object_id, event.details["keys_ended"]) == ("eve@example.org", shown, 1)
    again = client.post(f"{KEYS}revoke/", {"tenant": acme.slug, "key": shown})
    assert (again.status_code, "no such key" in text(again)) == (404, True)


def test_nobody_revokes_a_key_that_is_not_theirs_to_revoke(acme: Cast, globex: Cast) -> None:
    developer = joined(acme, "developer")
    mine, theirs, unknown = acme.key_id, globex.key_id, uuid7()

    replies = {
        id: developer.post(f"{KEYS}revoke/", {"tenant": acme.slug, "key": encode("key", id)})
        for id in (mine, theirs, unknown)
    }

    assert [reply.status_code for reply in replies.values()] == [403, 404, 404]
    assert replies[theirs].content == replies[unknown].content
    outside = developer.post(f"{KEYS}revoke/", {"tenant": globex.slug, "key": encode("key", theirs)})
    assert outside.status_code == 403
    viewer = joined(acme, "viewer", "ivy@example.org")
    assert viewer.post(f"{KEYS}revoke/", {"tenant": acme.slug, "key": encode("key", mine)}).status_code == 403
    assert [videos_with(cast.key) for cast in (acme, globex)] == [200, 200]


def test_a_key_knows_its_maker_and_the_audit_log_has_it(acme: Cast) -> None:
    client = joined(acme, "developer")
    client.post(KEYS, {"tenant": acme.slug, "name": "Robot", "kind": "all"})
    with acme.scope():
        maker = Membership.objects.get().person_id
        key = ApiKey.objects.exclude(created_by_person_id=None).get()
        (event,) = AuditEvent.objects.filter(action="api_key.created", actor_id=maker)
    assert key.created_by_person_id == maker
    assert (event.actor_name, event.details["name"], event.object_id) == (
        "eve@example.org", "Robot", encode("key", key.id),
    )  # fmt: skip
    assert "keys:write" in key.scopes
    assert "members:write" not in key.scopes


@pytest.mark.parametrize("kind", ["work", "read"])
def test_a_key_gets_the_scopes_that_its_maker_chose(acme: Cast, kind: str) -> None:
    client = joined(acme, "owner")
    client.post(KEYS, {"tenant": acme.slug, "name": "Reader", "kind": kind})
    expected = {
        "read": ["questions:read", "videos:read"],
        "work": ["questions:read", "questions:write", "videos:read", "videos:write"],
    }
    assert keys_of(acme) == [("Reader", expected[kind])]


def test_a_key_for_tests_works_apart_from_what_is_live(acme: Cast) -> None:
    client = joined(acme, "developer")

    key = key_in(client.post(KEYS, {"tenant": acme.slug, "name": "Laptop", "kind": "test"}))

    assert key.startswith("vk_test_")
    assert videos_with(key) == 200
    assert APIClient().get("/v1/limits", HTTP_AUTHORIZATION=f"Bearer {key}").json()["plan"] == "sandbox"


@pytest.mark.parametrize("role", ["viewer", "analyst", "billing"])
def test_a_role_without_keys_neither_sees_the_form_nor_makes_one(acme: Cast, role: str) -> None:
    client = joined(acme, role)
    home = text(client.get(HOME))
    assert "Make a key" not in home
    assert "Webhook deliveries" not in home
    assert ("Usage in" in home) is (role == "billing")
    refused = client.post(KEYS, {"tenant": acme.slug, "name": "Mine", "kind": "read"})
    assert (refused.status_code, keys_of(acme)) == (403, [])


def test_a_stranger_makes_no_key(acme: Cast, globex: Cast) -> None:
    client = joined(acme, "owner")
    refused = client.post(KEYS, {"tenant": globex.slug, "name": "Mine", "kind": "work"})
    assert (refused.status_code, keys_of(globex), keys_of(acme)) == (403, [], [])
    assert client.get(f"{HOME}?tenant={globex.slug}").status_code == 200
    assert "Globex" not in text(client.get(f"{HOME}?tenant={globex.slug}"))
    nobody = Client().post(KEYS, {"tenant": acme.slug, "name": "Mine", "kind": "work"})
    assert nobody.headers["Location"].startswith("/accounts/login/")


def test_an_old_sign_in_is_confirmed_before_a_key_is_made(acme: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    browser = Browser(ada, at=timezone.now().timestamp() - sessions.FRESH_SECONDS - 1)
    assert "Confirm that it is you" in text(browser.get(HOME))
    sent = {"name": "Late", "kind": "work", "csrfmiddlewaretoken": browser.cookies["ava_csrf"].value}
    asked = browser.post(KEYS, {**sent, "tenant": acme.slug})
    assert unquote(asked.headers["Location"]) == f"/accounts/reauthenticate/?next=/accounts/?tenant={acme.slug}"
    assert keys_of(acme) == []
    revoked = browser.post(f"{KEYS}revoke/", {**sent, "tenant": acme.slug, "key": encode("key", acme.key_id)})
    assert revoked.headers["Location"] == asked.headers["Location"]
    assert videos_with(acme.key) == 200


def test_a_sign_up_is_fresh_for_as_long_as_a_sign_in(acme: Cast) -> None:
    client = joined(acme, "owner")
    session = client.session
    (record,) = session["account_authentication_methods"]
    assert record["method"] == "password"
    record["at"] -= sessions.FRESH_SECONDS
    session["account_authentication_methods"] = [record]
    session.save()
    made = client.post(KEYS, {"tenant": acme.slug, "name": "Late", "kind": "work"})
    assert (made.status_code, keys_of(acme)) == (302, [])


def test_a_tenant_that_demands_a_second_factor_opens_with_one_alone(acme: Cast) -> None:
    client = joined(acme, "owner")
    acme.client.patch("/v1/sign-in-settings", {"require_second_factor": True})
    home = text(client.get(HOME))
    assert "demands a second factor" in home
    assert "Make a key" not in home
    refused = client.post(KEYS, {"tenant": acme.slug, "name": "Mine", "kind": "work"})
    assert (refused.status_code, keys_of(acme)) == (403, [])


def test_a_membership_that_waits_opens_nothing(acme: Cast) -> None:
    ada = person()
    member_of(acme, "developer", ada, accepted=False)
    client = Client()
    client.force_login(ada)
    assert "Make a key" not in text(client.get(HOME))
    refused = client.post(KEYS, {"tenant": acme.slug, "name": "Mine", "kind": "work"})
    assert (refused.status_code, keys_of(acme)) == (403, [])


def test_a_session_of_the_tenants_provider_makes_keys_there_alone(acme: Cast, globex: Cast) -> None:
    ada = person()
    for cast in (acme, globex):
        member_of(cast, "developer", ada)
    browser = Browser(ada, method="socialaccount")
    session = browser.session
    session["account_authentication_methods"][0]["provider"] = encode("tnt", acme.tenant_id)
    session.save()
    sent = {"name": "Mine", "kind": "work", "csrfmiddlewaretoken": browser.cookies["ava_csrf"].value}
    replies = [browser.post(KEYS, {**sent, "tenant": cast.slug}).status_code for cast in (acme, globex)]
    assert (replies, len(keys_of(acme)), keys_of(globex)) == ([201, 403], 1, [])


@pytest.mark.parametrize(
    ("name", "kind"), [("", "work"), ("x" * 101, "work"), ("Mine", "everything"), ("Mine", ""), ("Mine", "owner")]
)
def test_a_form_that_is_not_valid_makes_no_key_and_says_so(acme: Cast, name: str, kind: str) -> None:
    client = joined(acme, "owner")
    refused = client.post(KEYS, {"tenant": acme.slug, "name": name, "kind": kind})
    assert (refused.status_code, keys_of(acme)) == (400, [])
    assert "errorlist" in refused.content.decode()


def test_a_key_is_not_made_by_a_link(acme: Cast) -> None:
    client = joined(acme, "owner")
    assert client.get(f"{KEYS}?tenant={acme.slug}&name=Mine&kind=work").headers["Location"] == HOME
    assert keys_of(acme) == []


def test_a_member_of_two_tenants_chooses_one(acme: Cast, globex: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    member_of(globex, "viewer", ada)
    browser = Browser(ada)
    first, second = (text(browser.get(f"{HOME}?tenant={cast.slug}")) for cast in (acme, globex))
    assert ("Make a key" in first, "Make a key" in second) == (True, False)
    assert f"?tenant={globex.slug}" in first


def test_the_usage_of_the_month_and_the_last_deliveries_are_shown(acme: Cast, globex: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    assert "Nothing has been used" in text(Browser(ada).get(HOME))
    for cast in (acme, globex):
        with cast.scope():
            record_question(question_id=uuid7(), api_key_id=cast.key_id)
            endpoint, _ = webhooks.create_endpoint(url=f"https://{cast.slug}.example.org/hook")
            webhooks.send_test(endpoint=endpoint)
    home = text(Browser(ada).get(HOME))
    for words in ("Questions", "0.02 USD", "webhook.test", f"{acme.slug}.example.org", "Pending"):
        assert words in home, words
    assert globex.slug not in home


def test_sign_in_asks_for_an_invitation_where_sign_up_is_closed(acme: Cast) -> None:
    client = Client()
    for shown in (text(client.get("/accounts/login/")), text(client.get("/accounts/signup/"))):
        assert "invitation" in shown
        assert "sign up" not in shown.lower()
    assert "/accounts/signup/" not in text(client.get("/accounts/login/"))
    _, page = invited(acme, "eve@example.org", "analyst")
    client.get(page)
    assert "/accounts/signup/" in text(client.get(f"/accounts/login/?next={page}"))


def test_a_mail_to_an_unknown_address_asks_for_an_invitation(database: None) -> None:
    with (
        mailbox() as box,
        override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP),
    ):
        Client().post("/accounts/password/reset/", {"email": "nobody@example.org"})
        until(lambda: bool(box.mails))
    said = str(box.mails[0].get_payload(decode=True))
    assert "invitation" in said
    assert "signup" not in said

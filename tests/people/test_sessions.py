"""A browser session gives the same caller as a key: for one named tenant, by the role of that moment."""

from __future__ import annotations

import time
from importlib import import_module

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session

from backend.accounts import suspension
from backend.api.public_ids import encode
from backend.people.models import Membership, Role
from backend.people.roles import SCOPES_OF
from backend.tenancy.authentication import ended
from tests.conftest import Cast
from tests.people.cast import Browser, make_staff, member_of, person


def problem(reply: object) -> tuple[int, str]:
    return reply.status_code, reply.json()["code"]  # type: ignore[attr-defined]


def test_a_member_is_answered_for_the_tenant_that_the_request_names(acme: Cast, globex: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    member_of(globex, "viewer", ada)
    made = acme.client.post("/v1/collections", {"name": "Park"}).json()["id"]
    browser = Browser(ada)

    assert browser.api("GET", f"/v1/collections/{made}", **{"AVA-Tenant": acme.slug}).status_code == 200
    assert browser.api("GET", f"/v1/collections/{made}?tenant={acme.slug}").status_code == 200
    assert problem(browser.api("GET", f"/v1/collections/{made}", **{"AVA-Tenant": globex.slug})) == (404, "not_found")
    assert problem(browser.api("GET", "/v1/collections")) == (403, "tenant_required")
    # A link cannot name the tenant of an unsafe request.
    refused = browser.api("POST", f"/v1/collections?tenant={acme.slug}", {"name": "x"})
    assert problem(refused) == (403, "tenant_required")


def test_a_foreign_tenant_is_refused_like_one_that_does_not_exist(acme: Cast, globex: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    browser = Browser(ada)
    answers = []
    for slug in (globex.slug, "no-such-tenant"):
        reply = browser.api("GET", "/v1/videos", **{"AVA-Tenant": slug}).json()
        del reply["request_id"]
        answers.append(reply)
    assert answers[0] == answers[1]
    assert (answers[0]["status"], answers[0]["code"]) == (403, "not_a_member")


def test_each_member_of_a_throttled_tenant_is_answered_what_staff_allow_it(acme: Cast, globex: Cast) -> None:
    ada, bob = person("ada"), person("bob")
    for who in (ada, bob):
        member_of(acme, "viewer", who)
        member_of(globex, "viewer", who)
    with acme.scope():
        suspension.throttle(suspension.Throttle(2))

    first = [Browser(ada, acme.slug).api("GET", "/v1/videos").status_code for _ in range(3)]
    assert (first, Browser(bob, acme.slug).api("GET", "/v1/videos").status_code) == ([200, 200, 429], 200)
    assert Browser(bob, globex.slug).api("GET", "/v1/videos").headers["RateLimit-Policy"] == '"requests";q=600;w=60'


def test_a_removed_member_is_refused_at_once_and_open_replies_end(acme: Cast) -> None:
    ada = person()
    membership = member_of(acme, "viewer", ada)
    browser = Browser(ada, acme.slug)
    reply = browser.api("GET", "/v1/videos")
    caller = reply.caller
    assert (reply.status_code, caller.person_id, caller.api_key_id) == (200, ada.id, None)
    assert ended([caller]) == set()
    with acme.scope():
        Membership.objects.filter(id=membership.id).delete()
    assert problem(browser.api("GET", "/v1/videos")) == (403, "not_a_member")
    assert ended([caller]) == {caller}


def test_unsafe_methods_need_the_csrf_token_and_a_key_needs_none(acme: Cast) -> None:
    ada = person()
    member_of(acme, "developer", ada)
    browser = Browser(ada, acme.slug)

    assert problem(browser.api("POST", "/v1/collections", {"name": "x"}, **{"X-CSRFToken": ""})) == (
        403,
        "permission_denied",
    )
    assert browser.api("GET", "/v1/collections").json()["data"] == []
    assert browser.api("POST", "/v1/collections", {"name": "x"}).status_code == 201
    assert acme.client.post("/v1/collections", {"name": "y"}).status_code == 201


def test_dangerous_acts_need_a_fresh_sign_in(acme: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    stale = Browser(ada, acme.slug, at=time.time() - 301)
    body = {"name": "k", "scopes": ["videos:read"]}

    assert problem(stale.api("POST", "/v1/api-keys", body)) == (403, "reauthentication_required")
    collection = acme.client.post("/v1/collections", {"name": "x"}).json()["id"]
    assert problem(stale.api("DELETE", f"/v1/collections/{collection}")) == (403, "reauthentication_required")
    assert stale.api("PATCH", f"/v1/collections/{collection}", {"name": "y"}).status_code == 200
    assert Browser(ada, acme.slug).api("POST", "/v1/api-keys", body).status_code == 201


@pytest.mark.parametrize("role", Role.values)
def test_a_role_may_what_its_scopes_say(acme: Cast, role: str) -> None:
    ada = person()
    member_of(acme, role, ada)
    browser = Browser(ada, acme.slug)
    asked = {
        "videos:read": ("GET", "/v1/videos", None),
        "videos:write": ("POST", "/v1/collections", {"name": "x"}),
        "questions:read": ("GET", "/v1/questions", None),
        "questions:write": ("POST", "/v1/sessions", {"video_ids": []}),
        "usage:read": ("GET", "/v1/usage", None),
        "keys:read": ("GET", "/v1/api-keys", None),
        "keys:write": ("POST", "/v1/api-keys", {}),
        "webhooks:write": ("GET", "/v1/webhook-endpoints", None),
        "clips:write": ("POST", "/v1/clips", {}),
        "shares:write": ("GET", "/v1/shares", None),
        "members:read": ("GET", "/v1/members", None),
        "members:write": ("POST", "/v1/invitations", {}),
        "audit:read": ("GET", "/v1/audit-events", None),
    }
    allowed = set()
    for scope, (method, path, body) in asked.items():
        reply = browser.api(method, path, body)
        assert reply.status_code in {200, 201, 400, 403}, (scope, reply.content)
        if reply.status_code != 403:
            allowed.add(scope)
    scopes = SCOPES_OF[role]
    expected = set(asked) if scopes & {"*"} else {scope for scope in asked if scope in scopes}
    if "keys:write" in scopes:
        expected.add("keys:read")
    assert allowed == expected


def test_staff_reach_no_tenant(acme: Cast) -> None:
    staff = person()
    member_of(acme, "owner", staff)
    browser = Browser(staff, acme.slug)
    assert browser.api("GET", "/v1/videos").status_code == 200
    make_staff(staff)
    assert browser.api("GET", "/v1/videos").status_code == 401


def test_a_session_ends_when_idle_and_at_its_absolute_limit(acme: Cast) -> None:
    ada = person()
    member_of(acme, "viewer", ada)
    for field, age in (("touched_at", settings.SESSION_COOKIE_AGE), ("began_at", settings.SESSION_ABSOLUTE_SECONDS)):
        browser = Browser(ada, acme.slug)
        assert browser.api("GET", "/v1/videos").status_code == 200
        session = browser.session
        session[field] = time.time() - age - 1
        session.save()
        assert browser.api("GET", "/v1/videos").status_code == 401
        assert not Session.objects.filter(session_key=session.session_key).exists()


def test_use_of_a_session_is_written_every_five_minutes_only(acme: Cast) -> None:
    ada = person()
    member_of(acme, "viewer", ada)
    browser = Browser(ada, acme.slug)
    browser.api("GET", "/v1/videos")
    store = import_module(settings.SESSION_ENGINE).SessionStore
    key = browser.session.session_key
    before = store(key)["touched_at"]
    browser.api("GET", "/v1/videos")
    assert store(key)["touched_at"] == before
    session = browser.session
    session["touched_at"] = before - 301
    session.save()
    browser.api("GET", "/v1/videos")
    assert store(key)["touched_at"] >= before


def test_me_names_the_tenants_of_the_session(acme: Cast, globex: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    member_of(globex, "billing", ada)
    body = Browser(ada).api("GET", "/v1/me").json()

    assert (body["id"], body["email"], body["second_factor"]) == (encode("per", ada.id), ada.email, False)
    assert [(row["slug"], row["role"], row["scopes"]) for row in body["tenants"]] == [
        (acme.slug, "owner", ["*"]),
        (globex.slug, "billing", ["billing:write", "budgets:write", "usage:read"]),
    ]
    at_provider = Browser(ada, method="socialaccount")
    session = at_provider.session
    session["account_authentication_methods"][0]["provider"] = encode("tnt", globex.tenant_id)
    session.save()
    assert [row["slug"] for row in at_provider.api("GET", "/v1/me").json()["tenants"]] == [globex.slug]
    refused = at_provider.api("GET", "/v1/videos", **{"AVA-Tenant": acme.slug})
    assert problem(refused) == (403, "not_a_member")
    assert acme.client.get("/v1/me").status_code == 401


def test_a_tenant_can_demand_a_second_factor(acme: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    assert acme.client.patch("/v1/sign-in-settings", {"require_second_factor": True}).status_code == 200
    refused = Browser(ada, acme.slug).api("GET", "/v1/videos")
    assert problem(refused) == (403, "second_factor_required")
    assert Browser(ada, acme.slug, method="mfa").api("GET", "/v1/videos").status_code == 200
    assert acme.client.get("/v1/videos").status_code == 200

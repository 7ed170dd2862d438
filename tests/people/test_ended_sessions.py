"""Sessions that an owner or the operator ends: refused from then on, while membership and other sessions stay."""

from __future__ import annotations

import time
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.library.services.collections import create_collection
from backend.people.authentication import ended_members
from backend.tenancy.authentication import Principal
from tests.conftest import Cast
from tests.people.cast import Browser, make_staff, member_of, person

REASON = "The laptop was stolen on Monday."


def problem(reply: Any) -> tuple[int, str]:
    return reply.status_code, reply.json()["code"]


def sessions_of(member: Any) -> str:
    return f"/v1/members/{encode('mem', member.id)}/sessions"


def events(cast: Cast) -> list[tuple[str, str]]:
    with cast.scope():
        rows = AuditEvent.objects.filter(action="member.sessions_ended")
        return [(row.actor_kind, row.reason) for row in rows]


def test_an_owner_ends_the_sessions_of_a_member_in_the_tenant(acme: Cast, globex: Cast) -> None:
    ada, bob = person("ada"), person("bob")
    member_of(acme, "owner", ada)
    member = member_of(acme, "developer", bob)
    member_of(globex, "viewer", bob)
    owner, laptop, elsewhere = Browser(ada, acme.slug), Browser(bob, acme.slug), Browser(bob, globex.slug)
    assert laptop.api("GET", "/v1/videos").status_code == 200

    assert owner.api("DELETE", sessions_of(member)).status_code == 204

    assert problem(laptop.api("GET", "/v1/videos")) == (403, "session_ended")
    assert [row["slug"] for row in laptop.api("GET", "/v1/me").json()["tenants"]] == [globex.slug]
    assert elsewhere.api("GET", "/v1/videos").status_code == 200
    assert owner.api("GET", "/v1/videos").status_code == 200
    again = Browser(bob, acme.slug, at=time.time() + 1)
    assert again.api("GET", "/v1/videos").status_code == 200
    assert events(acme) == [("person", "")]
    assert events(globex) == []


def caller_of(browser: Browser, cast: Cast, role: str = "developer", **fields: Any) -> Principal:
    """The caller of a reply that the browser has open."""
    session = browser.session
    at = session["account_authentication_methods"][0]["at"]
    person_id = UUID(session["_auth_user_id"])
    return Principal(
        cast.tenant_id, None, frozenset(), person_id=person_id, role=role, signed_in_at=at,
        session=session.session_key, **fields,
    )  # fmt: skip


def test_an_open_stream_of_an_ended_session_ends_and_one_of_a_new_session_does_not(acme: Cast) -> None:
    bob = person("bob")
    member = member_of(acme, "developer", bob)
    before = caller_of(Browser(bob, acme.slug), acme)
    assert acme.client.delete(sessions_of(member)).status_code == 204

    after = caller_of(Browser(bob, acme.slug, at=time.time() + 1), acme)

    assert ended_members([before, after]) == {before}


def test_a_request_of_a_session_names_it(acme: Cast) -> None:
    bob = person("bob")
    member_of(acme, "developer", bob)
    browser = Browser(bob, acme.slug)

    reply = browser.api("GET", "/v1/videos")

    assert reply.caller.session == browser.session.session_key
    assert ended_members([reply.caller]) == set()
    assert browser.session.session_key not in repr(reply.caller)


def test_open_streams_end_with_their_session_alone(acme: Cast) -> None:
    bob = person("bob")
    member_of(acme, "developer", bob)
    laptop, phone, idle, old = (Browser(bob, acme.slug) for _ in range(4))
    callers = [caller_of(browser, acme) for browser in (laptop, phone, idle, old)]
    assert ended_members(callers) == set()

    laptop.handler.enforce_csrf_checks = False
    laptop.post("/accounts/logout/")
    assert ended_members(callers) == {callers[0]}

    for browser, name, seconds in (
        (idle, "touched_at", settings.SESSION_COOKIE_AGE),
        (old, "began_at", settings.SESSION_ABSOLUTE_SECONDS),
    ):
        session = browser.session
        session[name] = time.time() - seconds - 1
        session.save()
    assert ended_members(callers) == {callers[0], callers[2], callers[3]}

    bob.set_password("another correct horse battery")
    bob.save()
    assert ended_members(callers) == set(callers)


def test_open_streams_end_with_another_role_or_other_collections(acme: Cast) -> None:
    bob = person("bob")
    member = member_of(acme, "analyst", bob)
    caller = caller_of(Browser(bob, acme.slug), acme, "analyst")
    with acme.scope():
        collection = create_collection(fields={"name": "Yard"})
    path = f"/v1/members/{encode('mem', member.id)}"

    assert acme.client.patch(path, {"collection_ids": [encode("col", collection.id)]}).status_code == 200
    limited = caller_of(Browser(bob, acme.slug), acme, "analyst", collections=(collection.id,))
    assert ended_members([caller, limited]) == {caller}

    assert acme.client.patch(path, {"role": "viewer"}).status_code == 200
    assert ended_members([limited]) == {limited}


def test_who_may_not_end_sessions_ends_none(acme: Cast, globex: Cast) -> None:
    ada, bob = person("ada"), person("bob")
    owner = member_of(acme, "owner", ada)
    member = member_of(acme, "viewer", bob)
    foreign = member_of(globex, "viewer")
    admin = Browser(_admin(acme), acme.slug)

    assert problem(admin.api("DELETE", sessions_of(owner))) == (403, "owners_only")
    unknown = admin.api("DELETE", f"/v1/members/{encode('mem', foreign.person_id)}/sessions")
    other = admin.api("DELETE", sessions_of(foreign))
    assert problem(other) == problem(unknown) == (404, "not_found")
    assert problem(Browser(bob, acme.slug).api("DELETE", sessions_of(member))) == (403, "insufficient_scope")
    assert Browser(bob, acme.slug, at=time.time() - 60).api("GET", "/v1/videos").status_code == 200
    assert events(acme) == []


def _admin(cast: Cast) -> Any:
    made = person("adam")
    member_of(cast, "admin", made)
    return made


def test_the_operator_ends_all_sessions_of_a_person(acme: Cast, globex: Cast) -> None:
    bob = person("bob")
    member_of(acme, "owner", bob)
    member_of(globex, "viewer", bob)
    laptop, other = Browser(bob, acme.slug), Browser(person("eve"), acme.slug)

    said = StringIO()
    call_command("end_sessions", bob.email, reason=REASON, stdout=said)

    assert "audited in 2 tenants" in said.getvalue()
    # Signed out altogether: the account's pages are closed, too.
    assert laptop.api("GET", "/v1/videos").status_code == 401
    assert laptop.get("/accounts/").status_code == 302
    assert other.get("/accounts/").status_code == 200
    assert Browser(bob, acme.slug, at=time.time() + 1).api("GET", "/v1/videos").status_code == 200
    assert events(acme) == events(globex) == [("operator", REASON)]


def test_the_command_refuses_what_it_cannot_do(acme: Cast) -> None:
    bob = person("bob")
    with pytest.raises(CommandError, match="nobody has the address"):
        call_command("end_sessions", "nobody@example.org", reason=REASON)
    with pytest.raises(CommandError, match="at least 10 characters"):
        call_command("end_sessions", bob.email, reason="lost")
    make_staff(bob)
    call_command("end_sessions", bob.email, reason=REASON, stdout=StringIO())

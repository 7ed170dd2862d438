"""Sessions that an owner or the operator ends: refused from then on, while membership and other sessions stay."""

from __future__ import annotations

import time
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
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


def test_an_open_stream_of_an_ended_session_ends_and_one_of_a_new_session_does_not(acme: Cast) -> None:
    bob = person("bob")
    member = member_of(acme, "developer", bob)
    begun = time.time()
    assert acme.client.delete(sessions_of(member)).status_code == 204

    def caller(at: float) -> Principal:
        return Principal(acme.tenant_id, None, frozenset(), person_id=bob.id, signed_in_at=at)

    assert ended_members([caller(begun), caller(time.time() + 1)]) == {caller(begun)}


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

"""Members and invitations over the API: who may make whom what, and that an owner always stays."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.people.models import Invitation, Membership
from backend.people.roles import READ
from backend.people.services import members
from backend.tenancy.context import tenant_scope
from backend.tenancy.refusals import Refused
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.people.cast import Browser, invitation_of, member_of, person


def problem(reply: Any) -> tuple[int, str]:
    return reply.status_code, reply.json()["code"]


def roles(cast: Cast) -> list[str]:
    with cast.scope():
        return sorted(Membership.objects.values_list("role", flat=True))


def test_members_are_listed_with_their_people(acme: Cast, globex: Cast) -> None:
    ada, bob = person("ada", name="Ada"), person("bob")
    first = member_of(acme, "owner", ada)
    member_of(acme, "viewer", bob, created_by=ada.id)
    member_of(globex, "owner")

    listed = acme.client.get("/v1/members").json()["data"]
    assert [(row["email"], row["name"], row["role"], row["invited_by"]) for row in listed] == [
        (bob.email, "", "viewer", encode("per", ada.id)),
        (ada.email, "Ada", "owner", None),
    ]
    one = acme.client.get(f"/v1/members/{encode('mem', first.id)}").json()
    assert one == listed[1]
    assert (one["object"], one["person_id"], one["collection_ids"], one["from_groups"]) == (
        "member", encode("per", ada.id), None, False,
    )  # fmt: skip


def test_the_last_owner_stays(acme: Cast) -> None:
    ada = person()
    owner = f"/v1/members/{encode('mem', member_of(acme, 'owner', ada).id)}"
    browser = Browser(ada, acme.slug)

    assert problem(browser.api("PATCH", owner, {"role": "admin"})) == (409, "last_owner")
    assert problem(browser.api("DELETE", owner)) == (409, "last_owner")
    assert problem(browser.api("DELETE", "/v1/me/membership")) == (409, "last_owner")
    assert roles(acme) == ["owner"]
    member_of(acme, "owner")
    assert browser.api("DELETE", "/v1/me/membership").status_code == 204
    assert roles(acme) == ["owner"]


def test_two_owners_cannot_remove_each_other_at_once(acme: Cast) -> None:
    both = [member_of(acme, "owner"), member_of(acme, "owner")]
    barrier, failures = threading.Barrier(2), []

    def remove(membership: Membership) -> None:
        barrier.wait()
        try:
            with tenant_scope(acme.tenant_id):
                members.remove(membership.id, by_owner=True)
        except Refused as refused:
            failures.append(refused.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=remove, args=(one,)) for one in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == ["last_owner"]
    assert roles(acme) == ["owner"]


def test_an_admin_decides_about_everybody_but_owners(acme: Cast) -> None:
    ada = person()
    member_of(acme, "admin", ada)
    owner = f"/v1/members/{encode('mem', member_of(acme, 'owner').id)}"
    viewer = f"/v1/members/{encode('mem', member_of(acme, 'viewer').id)}"
    browser = Browser(ada, acme.slug)

    for method, path, body in (
        ("PATCH", owner, {"role": "viewer"}),
        ("DELETE", owner, None),
        ("PATCH", viewer, {"role": "owner"}),
        ("POST", "/v1/invitations", {"email": "new@example.org", "role": "owner"}),
        ("PATCH", "/v1/sign-in-settings", {"require_second_factor": True}),
    ):
        assert problem(browser.api(method, path, body)) == (403, "owners_only"), path
    assert roles(acme) == ["admin", "owner", "viewer"]
    assert browser.api("PATCH", viewer, {"role": "developer"}).json()["role"] == "developer"
    assert browser.api("DELETE", viewer).status_code == 204
    assert roles(acme) == ["admin", "owner"]


def test_a_key_gives_no_role_with_scopes_that_it_lacks(acme: Cast) -> None:
    end = timezone.now() + timedelta(minutes=1)
    with acme.scope():
        _, bare = issue_api_key(name="bare", scopes=["members:write"], expires_at=end)
        _, reading = issue_api_key(name="reading", scopes=["members:write", *READ], expires_at=end)
    client = acme.client
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {bare}")
    member = f"/v1/members/{encode('mem', member_of(acme, 'viewer').id)}"

    def invite(role: str) -> Any:
        return client.post("/v1/invitations", {"email": f"{role}@example.org", "role": role})

    for role in ("admin", "developer", "analyst", "viewer", "billing"):
        assert problem(invite(role)) == (403, "insufficient_scope"), role
    for role in ("admin", "analyst"):
        assert problem(client.patch(member, {"role": role})) == (403, "insufficient_scope"), role
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {reading}")
    assert problem(invite("analyst")) == (403, "insufficient_scope")
    assert problem(client.patch(member, {"role": "admin"})) == (403, "insufficient_scope")
    assert invite("viewer").status_code == 201

    assert roles(acme) == ["viewer"]
    with acme.scope():
        assert list(Invitation.objects.values_list("role", "expires_at")) == [("viewer", end)]


def test_administrative_acts_are_recorded_with_the_person(acme: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    viewer = encode("mem", member_of(acme, "viewer").id)
    browser = Browser(ada, acme.slug)
    browser.api("PATCH", f"/v1/members/{viewer}", {"role": "analyst"})
    invited = browser.api("POST", "/v1/invitations", {"email": "Eve@Example.org", "role": "viewer"}).json()
    browser.api("DELETE", f"/v1/invitations/{invited['id']}")
    with acme.scope():
        acts = [
            (act.action, act.object_id, act.actor_name, act.actor_id, act.details)
            for act in AuditEvent.objects.order_by("id")
        ]
    assert acts == [
        ("member.changed", viewer, ada.email, ada.id, {"before": "viewer", "role": "analyst", "limited": False}),
        ("invitation.created", invited["id"], ada.email, ada.id, {"email": "eve@example.org", "role": "viewer"}),
        ("invitation.revoked", invited["id"], ada.email, ada.id, {}),
    ]


def test_an_invitation_replaces_the_open_one_of_its_address(acme: Cast) -> None:
    body = {"email": "eve@example.org", "role": "viewer"}
    first = acme.client.post("/v1/invitations", body).json()
    second = acme.client.post("/v1/invitations", {**body, "role": "analyst"}).json()

    assert first["url"].startswith(f"{settings.PUBLIC_URL}/accounts/invitations/")
    assert first["url"] != second["url"]
    shown = acme.client.get(f"/v1/invitations/{first['id']}").json()
    assert "url" not in shown
    assert shown["revoked_at"] is not None
    assert acme.client.get(f"/v1/invitations/{second['id']}").json()["revoked_at"] is None
    with acme.scope():
        digests = [bytes(row.digest) for row in Invitation.objects.all()]
    assert all(len(digest) == 32 for digest in digests)
    member = person("eve")
    member_of(acme, "viewer", member)
    assert problem(acme.client.post("/v1/invitations", {**body, "email": member.email.upper()})) == (
        409, "already_member",
    )  # fmt: skip


@pytest.mark.parametrize("role", ["owner", "admin", "developer", "billing"])
def test_only_analysts_and_viewers_are_limited_to_collections(acme: Cast, globex: Cast, role: str) -> None:
    park = acme.client.post("/v1/collections", {"name": "Park"}).json()["id"]
    foreign = globex.client.post("/v1/collections", {"name": "Yard"}).json()["id"]
    viewer = f"/v1/members/{encode('mem', member_of(acme, 'viewer').id)}"

    limited = acme.client.patch(viewer, {"collection_ids": [park]})
    assert limited.json()["collection_ids"] == [park]
    for body, code in (
        ({"collection_ids": [foreign]}, "not_found"),
        ({"role": role}, "role_not_limitable"),
        ({"role": role, "collection_ids": [park]}, "role_not_limitable"),
    ):
        refused = acme.client.patch(viewer, body).json()
        assert (refused["code"], refused["errors"][0]["code"]) == ("invalid_request", code)
    lifted = acme.client.patch(viewer, {"role": role, "collection_ids": None}).json()
    assert (lifted["role"], lifted["collection_ids"]) == (role, None)


def test_an_invitation_ends_when_it_is_revoked(acme: Cast) -> None:
    invitation = invitation_of(acme)
    path = f"/v1/invitations/{encode('inv', invitation.id)}"
    assert [acme.client.delete(path).status_code for _ in range(2)] == [204, 204]
    assert acme.client.get(path).json()["revoked_at"] is not None

"""Sign-in by a tenant's OpenID Connect provider: a real provider, and who is let in by what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.test import Client, override_settings
from oidc_provider_mock import User, run_server_in_thread

from backend.api.public_ids import encode
from backend.people.models import Membership, Person
from backend.tenancy.authentication import Principal
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.people.cast import invitation_of, make_staff, member_of
from tests.tenancy.test_api_keys import with_key

USERS = [
    User(sub="ada", claims={"email": "Ada@acme.example", "email_verified": True, "groups": ["x", "video-admins"]}),
    User(sub="bob", claims={"email": "bob@acme.example", "email_verified": True, "groups": "viewers"}),
    User(sub="eve", claims={"email": "eve@acme.example", "email_verified": True}),
    User(sub="new", claims={"email": "new@acme.example", "email_verified": False, "groups": ["viewers"]}),
    User(sub="far", claims={"email": "far@other.example", "email_verified": True, "groups": ["viewers"]}),
]


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with run_server_in_thread(user_claims=USERS) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def provided(acme: Cast, issuer: str) -> Iterator[Cast]:
    reply = acme.client.patch(
        "/v1/sign-in-settings",
        {
            "oidc_issuer": issuer,
            "oidc_client_id": "ava",
            "oidc_client_secret": "hush",
            "oidc_domains": ["acme.example"],
            "oidc_group_roles": {"video-admins": "admin", "viewers": "viewer"},
        },
    )
    assert reply.status_code == 200, reply.content
    assert "hush" not in reply.content.decode()
    with override_settings(OIDC_ALLOW_PRIVATE=True):
        yield acme


def enter(cast: Cast, sub: str, client: Client | None = None) -> tuple[Client, Any]:
    """Sign in at the provider as sub; returns the browser and the reply of the callback."""
    browser = client or Client()
    path = f"/accounts/oidc/{encode('tnt', cast.tenant_id)}/login/"
    away = browser.post(path)
    assert away.status_code == 302, away.content
    back = httpx.post(away.headers["Location"], data={"sub": sub})
    target = urlsplit(back.headers["Location"])
    return browser, browser.get(f"{target.path}?{target.query}")


def members(cast: Cast) -> dict[str, str]:
    people = {row.id: row.email for row in Person.objects.all()}
    with cast.scope():
        return {people[row.person_id]: row.role for row in Membership.objects.all()}


def test_a_mapped_group_admits_and_is_read_again_at_each_sign_in(provided: Cast) -> None:
    browser, reply = enter(provided, "ada")
    assert (reply.status_code, reply.headers["Location"]) == (302, "/app/")
    enter(provided, "bob")
    assert members(provided) == {"ada@acme.example": "admin", "bob@acme.example": "viewer"}
    assert browser.get("/v1/videos", headers={"AVA-Tenant": provided.slug}).status_code == 200
    assert not SocialToken.objects.exists(), "tokens of a provider are not kept"

    provided.client.patch("/v1/sign-in-settings", {"oidc_group_roles": {"x": "developer"}})
    enter(provided, "ada")
    _, refused = enter(provided, "bob")
    assert refused.status_code == 403
    assert members(provided) == {"ada@acme.example": "developer"}
    assert Person.objects.count() == 2


def test_an_invitation_is_honoured_when_its_address_comes_by_the_provider(provided: Cast) -> None:
    _, refused = enter(provided, "eve")
    assert (refused.status_code, "no invitation" in refused.content.decode()) == (403, True)
    assert not Person.objects.exists(), "a domain is no membership"
    invitation_of(provided, "eve@acme.example", "developer")
    _, reply = enter(provided, "eve")
    assert reply.status_code == 302
    assert members(provided) == {"eve@acme.example": "developer"}
    _, again = enter(provided, "eve")
    assert again.status_code == 302
    assert members(provided) == {"eve@acme.example": "developer"}


@pytest.mark.parametrize("sub", ["new", "far"])
def test_unverified_addresses_and_other_domains_stay_out(provided: Cast, sub: str) -> None:
    _, refused = enter(provided, sub)
    assert refused.status_code == 403
    assert not Person.objects.exists()


def test_a_provider_vouches_for_its_own_tenant_alone(provided: Cast, globex: Cast) -> None:
    victim = Person.objects.create_user("ada@acme.example", "correct horse battery staple")
    member_of(globex, "owner", victim)
    member_of(provided, "viewer", victim)
    browser, reply = enter(provided, "ada")
    assert reply.status_code == 302
    assert [row["slug"] for row in browser.get("/v1/me").json()["tenants"]] == [provided.slug]
    refused = browser.get("/v1/videos", headers={"AVA-Tenant": globex.slug})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_a_member")
    assert browser.get("/accounts/password/change/").status_code == 403
    victim.refresh_from_db()
    assert victim.check_password("correct horse battery staple")


def test_staff_do_not_come_in_by_a_tenants_provider(provided: Cast) -> None:
    make_staff(Person.objects.create_user("bob@acme.example"))
    _, refused = enter(provided, "bob")
    assert (refused.status_code, members(provided)) == (403, {})


def test_another_issuer_ends_the_links_of_the_first(provided: Cast, issuer: str) -> None:
    enter(provided, "bob")
    assert SocialAccount.objects.count() == 1
    provided.client.patch("/v1/sign-in-settings", {"oidc_issuer": f"{issuer}/"})
    assert SocialAccount.objects.count() == 0


def test_a_private_provider_is_refused_unless_the_operator_allows_it(provided: Cast) -> None:
    path = f"/accounts/oidc/{encode('tnt', provided.tenant_id)}/login/"
    with override_settings(OIDC_ALLOW_PRIVATE=False):
        reply = Client().post(path)
    assert reply.status_code == 401
    assert "Location" not in reply.headers
    assert "localhost" not in reply.content.decode()


def recorded(cast: Cast) -> list[tuple[str, str, dict[str, Any]]]:
    """Actions of persons in the audit log with the address and the details, oldest first, without sign-ins."""
    found = cast.client.get("/v1/audit-events", {"actor_type": "person"}).json()["data"]
    assert {event["address"] for event in found} <= {"127.0.0.1"}
    events = [(event["action"], event["actor"]["name"], event["details"]) for event in reversed(found)]
    return [event for event in events if event[0] != "member.signed_in"]


def test_what_groups_do_to_a_membership_is_recorded(provided: Cast, globex: Cast) -> None:
    enter(provided, "ada")
    ada = Person.objects.get(email="ada@acme.example")
    provided.client.patch("/v1/sign-in-settings", {"oidc_group_roles": {"x": "developer"}})
    enter(provided, "ada")
    provided.client.patch("/v1/sign-in-settings", {"oidc_group_roles": {}})
    enter(provided, "ada")

    assert recorded(provided) == [
        ("member.joined", ada.email, {"role": "admin", "from_groups": True}),
        ("member.changed", ada.email, {"before": "admin", "role": "developer", "from_groups": True}),
        (
            "member.removed",
            ada.email,
            {"person_id": encode("per", ada.id), "role": "developer", "from_groups": True},
        ),
        ("member.sign_in_failed", ada.email, {"factor": "provider", "reason": "not_invited"}),
    ]
    assert recorded(globex) == []


def test_a_role_that_groups_lower_ends_the_keys_that_outrank_it(provided: Cast) -> None:
    enter(provided, "ada")
    ada = Person.objects.get(email="ada@acme.example")
    maker = Principal(provided.tenant_id, None, frozenset({"*"}), person_id=ada.id)
    with provided.scope():
        _, reader = issue_api_key(maker=maker, name="reader", scopes=["videos:read"])
        _, auditor = issue_api_key(maker=maker, name="auditor", scopes=["audit:read"])
    assert with_key(auditor).get("/v1/audit-events").status_code == 200

    provided.client.patch("/v1/sign-in-settings", {"oidc_group_roles": {"x": "developer"}})
    enter(provided, "ada")

    assert with_key(auditor).get("/v1/audit-events").status_code == 401
    assert with_key(reader).get("/v1/videos").status_code == 200
    # The role still follows the groups.
    provided.client.patch("/v1/sign-in-settings", {"oidc_group_roles": {"x": "admin"}})
    enter(provided, "ada")
    assert members(provided) == {"ada@acme.example": "admin"}


def test_a_limit_to_collections_outlives_a_change_of_groups(provided: Cast) -> None:
    enter(provided, "bob")
    park = provided.client.post("/v1/collections", {"name": "Park"}).json()["id"]
    (bob,) = provided.client.get("/v1/members").json()["data"]
    provided.client.patch(f"/v1/members/{bob['id']}", {"collection_ids": [park]})

    def after(role: str) -> tuple[str, list[str] | None]:
        provided.client.patch("/v1/sign-in-settings", {"oidc_group_roles": {"viewers": role}})
        _, reply = enter(provided, "bob")
        assert reply.status_code == 302
        member = provided.client.get(f"/v1/members/{bob['id']}").json()
        return member["role"], member["collection_ids"]

    assert after("analyst") == ("analyst", [park])
    assert after("admin") == ("analyst", [park])
    kept = {"role": "analyst", "refused": "admin", "reason": "role_not_limitable", "from_groups": True}
    assert recorded(provided)[-1] == ("member.role_kept", "bob@acme.example", kept)
    # An owner lifts the limit; then the groups decide again.
    provided.client.patch(f"/v1/members/{bob['id']}", {"collection_ids": None})
    assert after("admin") == ("admin", None)


def test_a_sign_in_at_a_provider_is_recorded_in_its_tenant_alone(provided: Cast, globex: Cast) -> None:
    bob = Person.objects.create_user("bob@acme.example")
    for cast in (provided, globex):
        member_of(cast, "owner", bob)
    enter(provided, "bob")
    enter(provided, "far")

    (event,) = provided.client.get("/v1/audit-events", {"action": "member.signed_in"}).json()["data"]
    assert (event["actor"]["name"], event["details"]) == ("bob@acme.example", {"methods": ["socialaccount"]})
    assert recorded(provided)[-1] == (
        "member.sign_in_failed",
        "far@other.example",
        {"factor": "provider", "reason": "domain_not_allowed"},
    )
    assert globex.client.get("/v1/audit-events", {"actor_type": "person"}).json()["data"] == []


def test_tenants_without_a_provider_have_no_such_page(acme: Cast) -> None:
    for name in (encode("tnt", acme.tenant_id), "tnt_1111111111111111", "acme"):
        assert Client().post(f"/accounts/oidc/{name}/login/").status_code == 404

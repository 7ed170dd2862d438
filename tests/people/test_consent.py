"""Attacks on people through a tenant: by its own identity provider, and by links that were never mailed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core.cache import cache
from django.test import Client, override_settings
from oidc_provider_mock import User, run_server_in_thread

from backend.api.public_ids import encode
from backend.audit.services import OPERATOR
from backend.people import queries
from backend.people.models import Invitation, Membership, Person
from backend.people.services.departures import delete_account
from backend.people.services.members import join
from backend.staff.services import end_sessions
from tests.conftest import Cast
from tests.people.cast import PASSWORD, Browser, invited, member_of, person
from tests.people.test_providers import enter
from tests.webhooks.mailbox import mailbox
from tests.webhooks.sending import until
from tests.webhooks.test_notices import SMTP

VICTIM = "victim@example.org"
FRESH = "stranger@example.org"
NEW = "a password of the real holder"


@pytest.fixture(autouse=True)
def _no_attempts(database: None) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """A provider in the hands of an attacker: it says that whoever comes holds these addresses."""
    claims = {"email_verified": True, "groups": ["all"]}
    users = [User(sub=sub, claims={"email": email, **claims}) for sub, email in (("v", VICTIM), ("s", FRESH))]
    with run_server_in_thread(user_claims=users) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def attacker(acme: Cast, issuer: str) -> Iterator[Cast]:
    with override_settings(OIDC_ALLOW_PRIVATE=True):
        provide(acme, issuer)
        yield acme


def provide(cast: Cast, issuer: str) -> None:
    settings = {"oidc_issuer": issuer, "oidc_client_id": "ava", "oidc_client_secret": "hush"}
    reply = cast.client.patch("/v1/sign-in-settings", {**settings, "oidc_group_roles": {"all": "viewer"}})
    assert reply.status_code == 200, reply.content


def victim_of(cast: Cast) -> Person:
    """A member of a tenant with an account of their own."""
    made = person("victim")
    Person.objects.filter(id=made.id).update(email=VICTIM)
    made.emailaddress_set.update(email=VICTIM)  # type: ignore[attr-defined]
    made.refresh_from_db()
    member_of(cast, "owner", made)
    return made


def sign_in(email: str, password: str = PASSWORD) -> Client:
    client = Client()
    client.post("/accounts/login/", {"login": email, "password": password})
    return client


def acts(cast: Cast) -> list[str]:
    found = cast.client.get("/v1/audit-events", {"actor_type": "person"}).json()["data"]
    return [event["action"] for event in reversed(found)]


def tenants(client: Client) -> list[str]:
    return [row["slug"] for row in client.get("/v1/me").json()["tenants"]]


def members(cast: Cast) -> list[tuple[str, bool]]:
    people = {row.id: row.email for row in Person.objects.all()}
    with cast.scope():
        return sorted((people[row.person_id], row.accepted) for row in Membership.objects.all())


def text(reply: Any) -> str:
    return re.sub(r"\s+", " ", reply.content.decode())


def made_by_link(cast: Cast) -> Client:
    """The browser of an inviter who opens the link that was shown to them, and makes the account of the address."""
    _, page = invited(cast, VICTIM)
    thief = Client()
    thief.get(page)
    form = {"email": VICTIM, "password1": PASSWORD, "next": page}
    assert thief.post(f"/accounts/signup/?next={page}", form).status_code == 302
    assert thief.post(page).headers["Location"] == f"/app/{cast.slug}/"
    return thief


def reset_password(who: Person) -> Client:
    """The browser of the holder of an address, after a new password through the mailed link."""
    link = f"{user_pk_to_url_str(who)}-{default_token_generator.make_token(who)}"
    client = Client()
    page = client.get(f"/accounts/password/reset/key/{link}/").headers["Location"]
    assert client.post(page, {"password1": NEW, "password2": NEW}).status_code == 302
    return sign_in(VICTIM, NEW)


def test_a_provider_takes_nobody_in_who_has_an_account_elsewhere(attacker: Cast, globex: Cast) -> None:
    victim = victim_of(globex)
    thief, refused = enter(attacker, "v")

    assert refused.status_code == 403
    assert "sign in to the account at /accounts/login/" in text(refused)
    assert (members(attacker), thief.get("/v1/me").status_code) == ([], 401)
    sign_in(victim.email)
    sign_in(victim.email, "wrong")
    assert acts(attacker) == ["member.sign_in_failed"], "only what the attacker's own provider has tried"
    assert acts(globex) == ["member.signed_in", "member.sign_in_failed"]


def test_an_offer_of_a_provider_is_accepted_in_a_session_of_ones_own(attacker: Cast, globex: Cast) -> None:
    victim = victim_of(globex)
    for _ in range(2):
        enter(attacker, "v")
    with attacker.scope():
        (offer,) = Invitation.objects.all()
    name = encode("inv", offer.id)
    client = sign_in(victim.email)
    assert "the identity provider of Acme invites you to Acme" in text(client.get("/accounts/"))
    assert client.post("/accounts/", {"accept": name}).status_code == 302

    assert tenants(client) == [globex.slug, attacker.slug]
    assert members(attacker) == [(VICTIM, True)]
    with attacker.scope():
        assert Membership.objects.get().from_groups
    _, again = enter(attacker, "v")
    assert again.headers["Location"] == "/app/"


def test_an_offer_is_declined_and_is_nobody_elses(attacker: Cast, globex: Cast) -> None:
    victim = victim_of(globex)
    enter(attacker, "v")
    with attacker.scope():
        name = encode("inv", Invitation.objects.get().id)
    other = sign_in(person("other").email)
    assert "Waiting for you" not in text(other.get("/accounts/"))
    for act in ("accept", "decline"):
        other.post("/accounts/", {act: name})
    with attacker.scope():
        assert Invitation.objects.get().revoked_at is None
    client = sign_in(victim.email)
    client.post("/accounts/", {"decline": name})
    assert "Waiting for you" not in text(client.get("/accounts/"))
    assert members(attacker) == []
    assert acts(attacker)[-1] == "invitation.declined"


def test_a_provider_s_session_neither_sees_nor_ends_the_others(attacker: Cast, globex: Cast) -> None:
    """A member who once joined the attacker's tenant is still nobody's to look at."""
    victim = victim_of(globex)
    member_of(attacker, "viewer", victim)
    own = sign_in(victim.email)
    thief, reply = enter(attacker, "v")
    assert reply.status_code == 302

    assert thief.get("/accounts/sessions/").status_code == 403
    assert thief.post("/accounts/sessions/").status_code == 403
    assert own.get("/v1/me").status_code == 200
    assert tenants(thief) == [attacker.slug]
    page = text(thief.get("/accounts/"))
    assert ("Waiting for you" in page, "/accounts/sessions/" in page, "Globex" in page) == (False, False, False)
    offered, _ = invited(globex, FRESH)
    assert thief.post("/accounts/", {"accept": encode("inv", offered.id)}).status_code == 403


def test_what_happens_to_an_account_reaches_no_tenant_that_was_not_accepted(attacker: Cast, globex: Cast) -> None:
    victim = victim_of(globex)
    with attacker.scope():
        join(victim, role="viewer", accepted=False)
    client = sign_in(victim.email)
    for page in ("/accounts/password/change/", "/accounts/2fa/recovery-codes/generate/"):
        client.post(page, {"oldpassword": "wrong"})
    assert end_sessions(email=VICTIM, reason="The laptop was stolen on Monday.") == 2
    assert acts(globex) == ["member.signed_in"]
    ended = globex.client.get("/v1/audit-events", {"action": "member.sessions_ended"}).json()["data"]
    assert len(ended) == 1
    member_of(globex, "owner")
    delete_account(victim, origin=OPERATOR)
    (left,) = globex.client.get("/v1/audit-events", {"action": "member.left"}).json()["data"]
    assert left["details"]["account_deleted"] is True
    events = attacker.client.get("/v1/audit-events").json()["data"]
    assert [event["action"] for event in events if event["action"].startswith("member.")] == ["member.left"]
    assert "account_deleted" not in events[0]["details"]


def test_an_account_that_a_provider_made_reaches_its_tenant_alone(attacker: Cast, globex: Cast, issuer: str) -> None:
    enter(attacker, "s")
    stranger = Person.objects.get(email=FRESH)
    assert (stranger.vouched_by, members(attacker)) == (attacker.tenant_id, [(FRESH, False)])

    # Neither the provider nor an invitation of another tenant attaches to it.
    provide(globex, issuer)
    _, refused = enter(globex, "s")
    assert refused.status_code == 403
    browser = Browser(stranger)
    _, page = invited(globex, FRESH)
    refused = browser.post(page, headers={"X-CSRFToken": browser.cookies["ava_csrf"].value})
    assert (refused.status_code, "/accounts/password/reset/" in text(refused)) == (403, True)
    assert members(globex) == []


def test_a_link_that_was_shown_to_the_inviter_takes_nobody_s_place(acme: Cast, globex: Cast, issuer: str) -> None:
    """The attacker makes the victim's account, and gets nothing that another tenant then gives the address."""
    thief = made_by_link(acme)
    assert tenants(thief) == [acme.slug]

    offer, page = invited(globex, VICTIM, "admin")
    assert thief.post(page).status_code == 403
    assert thief.post("/accounts/", {"accept": encode("inv", offer.id)}).status_code == 403
    with override_settings(OIDC_ALLOW_PRIVATE=True):
        provide(globex, issuer)
        _, refused = enter(globex, "v")
    assert refused.status_code == 403
    assert (members(globex), tenants(thief)) == ([], [acme.slug])


def test_the_holder_of_an_address_takes_the_account_back_by_mail(acme: Cast, globex: Cast) -> None:
    thief = made_by_link(acme)
    victim = Person.objects.get(email=VICTIM)
    TOTP.activate(victim, generate_totp_secret())
    before = len(acts(acme))

    client = reset_password(victim)
    assert not Authenticator.objects.filter(user=victim).exists(), "a factor of the attacker would keep the holder out"
    assert thief.get("/v1/me").status_code == 401
    assert sign_in(VICTIM).get("/v1/me").status_code == 401
    # The tenant of the attacker has no part in the account until its holder says so.
    assert (tenants(client), len(acts(acme))) == ([], before)
    refused = client.get("/v1/videos", headers={"AVA-Tenant": acme.slug})
    assert (refused.status_code, refused.json()["code"]) == (403, "membership_not_accepted")
    with acme.scope():
        (membership,) = Membership.objects.all()
    assert "has made this account a member" in text(client.get("/accounts/"))
    client.post("/accounts/", {"decline": encode("mem", membership.id)})
    assert members(acme) == []


def test_a_membership_that_a_provider_began_is_accepted_after_a_proof(attacker: Cast) -> None:
    enter(attacker, "s")
    stranger = Person.objects.get(email=FRESH)
    client = Client()
    with mailbox() as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        client.post("/accounts/login/code/", {"email": FRESH})
        until(lambda: bool(box.mails))
    (code,) = re.findall(r"^([A-Z0-9-]{6,9})\s*$", str(box.mails[0].get_payload()), re.M)
    assert client.post("/accounts/login/code/confirm/", {"code": code}).status_code == 302

    stranger.refresh_from_db()
    assert (stranger.vouched_by, client.get("/v1/me").status_code, tenants(client)) == (None, 200, [])
    with attacker.scope():
        name = encode("mem", Membership.objects.get().id)
    client.post("/accounts/", {"accept": name})
    assert (tenants(client), acts(attacker)[-1]) == ([attacker.slug], "member.accepted")


def test_a_mailed_invitation_proves_the_address(acme: Cast, globex: Cast) -> None:
    invitation, page = invited(acme, VICTIM)
    with acme.scope():
        Invitation.objects.filter(id=invitation.id).update(mailed=True)
    client = Client()
    client.get(page)
    client.post(f"/accounts/signup/?next={page}", {"email": VICTIM, "password1": PASSWORD, "next": page})
    client.post(page)
    assert Person.objects.get(email=VICTIM).vouched_by is None
    assert members(acme) == [(VICTIM, True)]
    offer, _ = invited(globex, VICTIM)
    client.post("/accounts/", {"accept": encode("inv", offer.id)})
    assert members(globex) == [(VICTIM, True)]


def test_an_issuer_is_not_sent_the_secret_of_the_one_before(attacker: Cast, issuer: str) -> None:
    def secret() -> bytes:
        with attacker.scope():
            row = queries.sign_in_settings()
        assert row is not None
        return bytes(row.oidc_client_secret)

    attacker.client.patch("/v1/sign-in-settings", {"oidc_issuer": issuer, "oidc_client_id": "other"})
    assert secret() != b""
    attacker.client.patch("/v1/sign-in-settings", {"oidc_issuer": "https://elsewhere.example"})
    assert secret() == b""

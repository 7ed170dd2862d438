"""Where a sign-in, an accepted invitation and a confirmation lead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.cache import cache
from django.test import Client

from backend.api.public_ids import encode
from tests.conftest import Cast
from tests.people.cast import PASSWORD, Browser, invited, member_of, person


@pytest.fixture(autouse=True)
def _no_attempts(database: None) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def sign_in(email: str, address: str = "/accounts/login/") -> tuple[Client, str]:
    """Return a browser after a sign-in, and where it was led."""
    client = Client()
    reply: Any = client.post(address, {"login": email, "password": PASSWORD})
    assert reply.status_code == 302, reply.content
    return client, unquote(reply.headers["Location"])


def test_a_sign_in_leads_to_the_app(acme: Cast) -> None:
    member = member_of(acme, "viewer").person
    assert sign_in(member.email)[1] == "/app/"
    assert sign_in(person("eve").email)[1] == "/app/", "the app says how to get an invitation"


def test_a_sign_in_leads_back_to_the_address_that_was_asked_for(acme: Cast) -> None:
    member = member_of(acme, "viewer").person
    wanted = f"/app/{acme.slug}/videos/vid_1?t=5&q=qst_2"
    led: Any = Client().get(wanted, headers={"accept": "text/html"})
    assert sign_in(member.email, led.headers["Location"])[1] == wanted
    assert sign_in(member.email, "/accounts/login/?next=https://elsewhere.example/")[1] == "/app/"


def test_what_waits_for_a_person_comes_before_the_app(acme: Cast, globex: Cast) -> None:
    member = member_of(acme, "viewer").person
    invited(globex, member.email, "analyst")
    client, led = sign_in(member.email)
    assert led == "/accounts/"
    (offer,) = [line for line in client.get(led).content.decode().split('"') if line.startswith("inv_")][:1]
    accepted: Any = client.post("/accounts/", {"accept": offer})
    assert accepted.headers["Location"] == f"/app/{globex.slug}/"
    assert sign_in(member.email)[1] == "/app/"


def test_a_membership_that_is_accepted_leads_to_the_app_and_one_that_is_left_does_not(acme: Cast, globex: Cast) -> None:
    who = person()
    waiting = [member_of(cast, "viewer", who, accepted=False) for cast in (acme, globex)]
    client, led = sign_in(who.email)
    assert led == "/accounts/"
    first, second = (encode("mem", each.id) for each in waiting)
    left: Any = client.post("/accounts/", {"decline": second})
    assert left.headers["Location"] == "/accounts/"
    accepted: Any = client.post("/accounts/", {"accept": first})
    assert accepted.headers["Location"] == f"/app/{acme.slug}/"


def test_a_person_confirms_by_what_they_have(acme: Cast) -> None:
    member = member_of(acme, "owner").person
    back = f"/app/{acme.slug}/settings/keys"
    by_password: Any = Browser(member).get(f"/accounts/confirm/?next={back}")
    assert unquote(by_password.headers["Location"]) == f"/accounts/reauthenticate/?next={back}"
    elsewhere: Any = Browser(member).get("/accounts/confirm/?next=//elsewhere.example/")
    assert unquote(elsewhere.headers["Location"]) == "/accounts/reauthenticate/?next=/app/"
    provided = Browser(member, method="socialaccount")
    session, provider = provided.session, encode("tnt", acme.tenant_id)
    session["account_authentication_methods"][0]["provider"] = provider
    session.save()
    by_provider: Any = provided.get(f"/accounts/confirm/?next={back}")
    assert unquote(by_provider.headers["Location"]) == f"/accounts/oidc/{provider}/login/?next={back}"
    stranger: Any = Client().get("/accounts/confirm/")
    assert stranger.headers["Location"].startswith("/accounts/login/")

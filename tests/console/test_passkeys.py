"""Passkeys as the second factor of staff: enrolled, used, listed and removed, with real keys and signatures."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client, override_settings

from backend.people.models import Person
from backend.staff import factors, services, sign_in
from backend.staff.models import Passkey, SecondFactor, StaffEvent
from backend.tenancy.secrets import seal
from tests.console.authenticator import SecurityKey
from tests.console.signing_in import after_the_password, appointed, code, signed_in

ORIGIN = "https://console.example.org"
ASK, OWN = "/console/second-factor/", "/console/second-factor/own/"
EMAIL = "support@example.org"


@pytest.fixture(autouse=True)
def _named() -> Iterator[None]:
    with override_settings(CONSOLE_URL=ORIGIN):
        yield


@pytest.fixture
def person(database: None) -> Person:
    appointed("support")
    return Person.objects.get(email=EMAIL)


def options(client: Client, path: str = ASK) -> str:
    """The options that the page hands to the browser."""
    (found,) = re.findall(r'data-options="([^"]*)"', client.get(path).content.decode())
    return html.unescape(found)


def enrolled(person: Person, **traits: Any) -> SecurityKey:
    key = SecurityKey(ORIGIN, **traits)
    client = signed_in(person.email)
    reply = client.post(OWN, {"name": "Desk", "passkey": key.created(options(client, OWN))})
    assert reply.status_code == 302
    return key


def with_an_app(person: Person) -> str:
    secret = factors.new_secret()
    SecondFactor.objects.create(person=person, secret=seal(secret.encode()))
    return secret


def events(*actions: str) -> list[tuple[str, str]]:
    rows = StaffEvent.objects.filter(action__in=actions).order_by("occurred_at")
    return [(row.action, row.details["factor"]) for row in rows]


def opens(client: Client) -> bool:
    return client.get("/console/").status_code == 200


def test_a_new_person_sets_up_a_passkey_and_signs_in_with_it(person: Person) -> None:
    key, client = SecurityKey(ORIGIN), after_the_password(person)

    made_code = services.new_enrolment_code(email=EMAIL)
    without = client.post(ASK, {"name": "Desk", "passkey": key.created(options(client))})
    sent = {"name": "Desk", "passkey": key.created(options(client)), "enrolment": made_code}
    assert (without.status_code, client.post(ASK, sent).status_code) == (400, 200)

    assert opens(client)
    (made,) = Passkey.objects.filter(person=person)
    assert (made.name, bytes(made.credential_id), made.used_at) == ("Desk", key.id, None)
    again = after_the_password(person)
    assert not opens(again)
    assert again.post(ASK, {"passkey": key.signed(options(again)), "next": OWN}).headers["Location"] == OWN
    assert opens(again)
    assert "Passkey Desk" in again.get(OWN).content.decode()
    made.refresh_from_db()
    assert made.sign_count == key.count
    assert made.used_at is not None
    assert events(sign_in.FACTOR_ENROLLED, sign_in.SIGNED_IN) == [
        (sign_in.FACTOR_ENROLLED, "passkey"), (sign_in.SIGNED_IN, "passkey"), (sign_in.SIGNED_IN, "passkey"),
    ]  # fmt: skip


def test_of_two_factors_either_one_signs_in(person: Person) -> None:
    secret, key = with_an_app(person), enrolled(person)
    by_code, by_key = after_the_password(person), after_the_password(person)

    assert by_code.post(ASK, {"code": code(secret)}).status_code == 302
    assert by_key.post(ASK, {"passkey": key.signed(options(by_key))}).status_code == 302

    assert (opens(by_code), opens(by_key)) == (True, True)


def test_a_session_without_a_factor_adds_none_to_those_that_exist(person: Person) -> None:
    key, client = enrolled(person), after_the_password(person)
    asked = client.get(ASK).content.decode()
    assert "<code>" not in asked
    assert 'data-passkey="create"' not in asked
    # A session that began before the first factor was enrolled still holds a secret and a challenge of its own.
    stranger, secret = SecurityKey(ORIGIN), factors.new_secret()
    Passkey.objects.all().delete()
    early = after_the_password(person)
    proposed = early.get(ASK).content.decode()
    secret = re.findall(r"<code>([A-Z2-7]{32})</code>", proposed)[0]
    challenge = html.unescape(re.findall(r'data-options="([^"]*)"', proposed)[0])
    key = enrolled(person)

    by_code = early.post(ASK, {"code": code(secret)})
    by_key = early.post(ASK, {"passkey": stranger.created(challenge), "name": "Mine"})

    assert (by_code.status_code, by_key.status_code) == (400, 400)
    assert early.get(OWN).headers["Location"].startswith(ASK)
    assert early.post(OWN, {"passkey": stranger.created(challenge), "name": "Mine"}).headers["Location"].startswith(ASK)
    assert [bytes(row.credential_id) for row in Passkey.objects.all()] == [key.id]
    assert not SecondFactor.objects.exists()


def altered(reply: str, **response: str) -> str:
    parsed = json.loads(reply)
    parsed["response"].update(response)
    return json.dumps(parsed)


@pytest.mark.parametrize("fault", ["other key", "other origin", "replayed", "no challenge", "signature", "data"])
def test_a_reply_that_proves_nothing_is_refused(person: Person, fault: str) -> None:
    key, client = enrolled(person), after_the_password(person)
    asked = options(client)
    reply = key.signed(asked)
    if fault == "other key":
        forged = SecurityKey(ORIGIN)
        forged.id, forged.count = key.id, 100
        reply = forged.signed(asked)
    elif fault == "other origin":
        key.origin = "https://console.example.org.evil.example"
        reply = key.signed(asked)
    elif fault == "replayed":
        assert client.post(ASK, {"passkey": reply}).status_code == 302
        client = after_the_password(person)
        options(client)
    elif fault == "no challenge":
        client = after_the_password(person)
    elif fault == "signature":
        reply = altered(reply, signature="AAAA")
    else:
        reply = altered(reply, authenticatorData=json.loads(key.signed(asked))["response"]["authenticatorData"])

    refused = client.post(ASK, {"passkey": reply})

    assert refused.status_code == 400
    assert "This passkey was not accepted" in refused.content.decode()
    assert not opens(client)


def test_a_challenge_is_good_for_one_reply(person: Person) -> None:
    key, client = enrolled(person, counts=False), after_the_password(person)
    asked = options(client)
    assert client.post(ASK, {"passkey": altered(key.signed(asked), signature="AAAA")}).status_code == 400

    # The page that showed the fault had a challenge of its own.
    assert client.post(ASK, {"passkey": key.signed(asked)}).status_code == 400
    assert client.post(ASK, {"passkey": key.signed(options(client))}).status_code == 302


def test_a_counter_that_does_not_rise_reveals_a_copy(person: Person) -> None:
    key, client = enrolled(person), after_the_password(person)
    assert client.post(ASK, {"passkey": key.signed(options(client))}).status_code == 302
    copy = after_the_password(person)
    key.count -= 1

    assert copy.post(ASK, {"passkey": key.signed(options(copy))}).status_code == 400

    assert not opens(copy)


@pytest.mark.parametrize(
    "reply",
    ["", "x", "null", "[]", "{}", '{"response": {}}', '{"id": 1, "rawId": 1, "response": 1, "type": "public-key"}',
     '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {"clientDataJSON": "AA", "signature": "AA", '
     '"authenticatorData": "AA", "attestationObject": "AA"}}', '{"a": "' + "x" * 70_000 + '"}', '{"id": "\\u0000"}'],
)  # fmt: skip
def test_what_is_no_reply_is_refused_in_words(person: Person, reply: str) -> None:
    enrolled(person)
    client, enrolling = after_the_password(person), signed_in(person.email)
    options(client)
    options(enrolling, OWN)

    assert client.post(ASK, {"passkey": reply}).status_code == 400
    assert enrolling.post(OWN, {"passkey": reply, "name": "x"}).status_code == 400
    assert Passkey.objects.count() == 1


def test_replies_are_counted_like_codes_and_end_the_session(person: Person) -> None:
    key, client = enrolled(person), after_the_password(person)

    replies = [client.post(ASK, {"passkey": "{}"}) for _ in range(6)]

    assert [reply.status_code for reply in replies] == [400] * 5 + [302]
    assert "_auth_user_id" not in client.session
    other = after_the_password(person)
    assert other.post(ASK, {"passkey": key.signed(options(other))}).status_code == 302
    assert not opens(other), "the account is locked"


def test_a_factor_is_removed_but_never_the_last(person: Person) -> None:
    with_an_app(person)
    enrolled(person)
    client = signed_in(person.email)
    app, passkey = SecondFactor.objects.get(), Passkey.objects.get()
    assert client.get(OWN).content.decode().count(">Remove<") == 2

    removed = client.post(OWN, {"remove": str(app.id)})
    last = client.post(OWN, {"remove": str(passkey.id)})

    assert (removed.status_code, last.status_code) == (302, 400)
    assert "last one" in last.content.decode()
    assert ">Remove<" not in client.get(OWN).content.decode()
    assert (SecondFactor.objects.count(), Passkey.objects.count()) == (0, 1)
    assert events(sign_in.FACTOR_REMOVED) == [(sign_in.FACTOR_REMOVED, "app")]


def test_nobody_removes_the_factor_of_somebody_else(person: Person) -> None:
    enrolled(person)
    other = appointed("operator")
    stranger = Person.objects.get(email="operator@example.org")
    with_an_app(stranger)
    enrolled(stranger)
    theirs = Passkey.objects.get(person=person)

    assert other.post(OWN, {"remove": str(theirs.id)}).status_code == 400
    assert other.post(OWN, {"remove": "x"}).status_code == 400
    assert Passkey.objects.filter(id=theirs.id).exists()


def test_factors_change_only_minutes_after_one_was_passed(person: Person) -> None:
    key = enrolled(person)
    client = signed_in(person.email)
    session = client.session
    session[sign_in.VERIFIED] = time.time() - sign_in.FRESH.total_seconds() - 1
    session.save()
    assert opens(client)

    assert client.post(OWN, {"remove": str(Passkey.objects.get().id)}).headers["Location"].startswith(ASK)
    confirmed = client.post(ASK, {"passkey": key.signed(options(client)), "next": OWN})

    assert confirmed.headers["Location"] == OWN
    assert client.get(OWN).status_code == 200
    assert events(sign_in.CONFIRMED, sign_in.SIGNED_IN) == [(sign_in.CONFIRMED, "passkey")]


def test_one_key_is_enrolled_once_and_ten_at_most(person: Person) -> None:
    key, client = enrolled(person), signed_in(person.email)
    asked = options(client, OWN)
    assert [one["id"] for one in json.loads(asked)["publicKey"]["excludeCredentials"]] != []

    assert client.post(OWN, {"passkey": key.created(asked), "name": "Again"}).status_code == 400
    for _ in range(9):
        enrolled(person)
    assert client.post(OWN, {"passkey": SecurityKey(ORIGIN).created(options(client, OWN))}).status_code == 400
    assert Passkey.objects.count() == 10


def test_lost_factors_of_both_kinds_are_reset_and_dismissal_removes_them(person: Person) -> None:
    with_an_app(person)
    enrolled(person)
    client = signed_in(EMAIL)
    assert opens(client)

    call_command("staff", "reset-factor", EMAIL)

    assert (SecondFactor.objects.count(), Passkey.objects.count()) == (0, 0)
    assert not opens(client), "a session that passed the lost factor ends"
    appointed("operator")
    enrolled(person)
    call_command("staff", "dismiss", EMAIL)
    assert not Passkey.objects.exists()


@pytest.mark.parametrize("url", ["http://127.0.0.1:8010", "https://192.0.2.7", "http://console.example.org"])
def test_an_address_that_browsers_make_no_passkeys_for_offers_none(person: Person, url: str) -> None:
    with override_settings(CONSOLE_URL=url):
        page = after_the_password(person).get(ASK).content.decode()

    assert "data-passkey" not in page
    assert "<code>" in page

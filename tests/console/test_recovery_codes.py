"""Recovery codes of staff: made with the first factor, shown once, kept as digests, each good for one sign-in."""

from __future__ import annotations

import re
from typing import Any

import pytest

from backend.people.models import Person
from backend.staff import factors, services, sign_in
from backend.staff.models import RecoveryCode, SecondFactor, StaffEvent
from backend.tenancy.secrets import open_sealed, seal
from tests.console.signing_in import after_the_password, appointed, code, signed_in

ASK, OWN = "/console/second-factor/", "/console/second-factor/own/"
EMAIL = "support@example.org"
SHAPE = re.compile(r"<code>([a-z2-7]{4}(?:-[a-z2-7]{4}){3})</code>")


@pytest.fixture
def person(database: None) -> Person:
    appointed("support")
    return Person.objects.get(email=EMAIL)


def shown(reply: Any) -> list[str]:
    return SHAPE.findall(reply.content.decode())


def secret_on(page: Any) -> str:
    (secret,) = re.findall(r"<code>([A-Z2-7]{32})</code>", page.content.decode())
    return str(secret)


def with_an_app(person: Person) -> None:
    SecondFactor.objects.create(person=person, secret=seal(factors.new_secret().encode()))


def made_codes(person: Person) -> list[str]:
    return shown(signed_in(person.email).post(OWN, {"codes": "new"}))


def test_the_set_up_shows_a_picture_for_the_app_and_then_ten_codes_once(person: Person) -> None:
    client = after_the_password(person)
    page = client.get(ASK)
    assert 'src="data:image/svg+xml;base64,' in page.content.decode()

    sent = {"code": code(secret_on(page)), "enrolment": services.new_enrolment_code(email=EMAIL), "next": OWN}
    reply = client.post(ASK, sent)

    codes = shown(reply)
    assert (reply.status_code, len(set(codes))) == (200, 10)
    assert "no-store" in reply.headers["Cache-Control"]
    assert shown(client.get(OWN)) == []
    assert "You have 10 unused codes" in client.get(OWN).content.decode()
    kept = b"".join(bytes(row.digest) for row in RecoveryCode.objects.all())
    assert not [one for one in codes if one.encode() in kept or one.replace("-", "").encode() in kept]
    assert StaffEvent.objects.get(action=sign_in.RECOVERY_CODES_MADE).details == {"codes": 10}


def test_a_code_signs_in_once_however_it_is_typed(person: Person) -> None:
    with_an_app(person)
    first, second, *_ = made_codes(person)
    client, again = after_the_password(person), after_the_password(person)
    assert "Use a recovery code" in client.get(ASK).content.decode()

    typed = first.upper().replace("-", " ")
    assert client.post(ASK, {"recovery": typed, "next": OWN}).headers["Location"] == OWN
    assert again.post(ASK, {"recovery": first}).status_code == 400
    assert again.get(OWN).status_code == 302
    assert again.post(ASK, {"recovery": second}).status_code == 302

    assert "You have 8 unused codes" in client.get(OWN).content.decode()
    used = StaffEvent.objects.filter(action=sign_in.SIGNED_IN).values_list("details", flat=True)
    assert [each["factor"] for each in used] == ["recovery code"] * 2


def test_whoever_lost_the_app_replaces_it_after_a_code(person: Person) -> None:
    with_an_app(person)
    client = after_the_password(person)
    client.post(ASK, {"recovery": made_codes(person)[0]})

    secret = secret_on(client.get(OWN))
    assert client.post(OWN, {"code": code(secret)}).status_code == 302

    (app,) = SecondFactor.objects.all()
    assert open_sealed(bytes(app.secret)) == secret.encode()


def test_new_codes_end_the_old_ones_and_need_a_factor_of_the_last_minutes(person: Person) -> None:
    with_an_app(person)
    (old, *_), (new, *_) = made_codes(person), made_codes(person)
    client = after_the_password(person)

    assert client.post(OWN, {"codes": "new"}).status_code == 302
    assert RecoveryCode.objects.count() == 10
    assert client.post(ASK, {"recovery": old}).status_code == 400
    assert client.post(ASK, {"recovery": new}).status_code == 302


def test_a_code_of_somebody_else_and_guesses_are_refused_and_counted(person: Person) -> None:
    appointed("operator")
    with_an_app(person)
    made_codes(person)
    theirs = made_codes(Person.objects.get(email="operator@example.org"))[0]
    client = after_the_password(person)

    replies = [client.post(ASK, {"recovery": theirs}).status_code for _ in range(6)]

    assert replies == [400] * 5 + [302]
    assert "_auth_user_id" not in client.session
    assert RecoveryCode.objects.filter(used_at=None).count() == 20


def test_a_reset_and_a_dismissal_end_the_codes(person: Person) -> None:
    with_an_app(person)
    made_codes(person)
    services.reset_factors(email=EMAIL)
    assert RecoveryCode.objects.count() == 0
    with_an_app(person)
    made_codes(person)
    services.dismiss(email=EMAIL)
    assert RecoveryCode.objects.count() == 0

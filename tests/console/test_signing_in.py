"""Signing in to the console: a password, a second factor, counted attempts, and sessions that end."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.utils import timezone

from backend.console.site_settings import IDLE_SECONDS, console_settings
from backend.people.models import Person
from backend.staff import factors, services, sign_in
from backend.staff.models import Member, Role, SecondFactor, Session, StaffEvent
from backend.tenancy.secrets import open_sealed, seal
from tests.console.signing_in import PASSWORD, appointed, code, signed_in

EMAIL = "operator@localhost"
OPERATORS_CODE = "1f3c-77aa-0b42-9e5d-c001"
LOGIN = "/console/login/?next=/console/jobs/job/"


@pytest.fixture
def operator(database: None, monkeypatch: pytest.MonkeyPatch) -> Member:
    monkeypatch.setenv("AVA_CONSOLE_PASSWORD", PASSWORD)
    monkeypatch.setenv("AVA_CONSOLE_CODE", OPERATORS_CODE)
    call_command("ensure_console_admin", verbosity=0)
    return Member.objects.get(person__email=EMAIL)


def password(client: Client, email: str = EMAIL, word: str = PASSWORD, **options: Any) -> Any:
    return client.post(LOGIN, {"username": email, "password": word, "next": "/console/jobs/job/"}, **options)


def events(action: str) -> int:
    return StaffEvent.objects.filter(action=action).count()


def test_the_first_sign_in_sets_up_a_second_factor_and_the_next_one_asks_for_it(operator: Member) -> None:
    client = Client()
    assert password(client).headers["Location"] == "/console/jobs/job/"
    asked = client.get("/console/jobs/job/")
    assert asked.headers["Location"] == "/console/second-factor/?next=%2Fconsole%2Fjobs%2Fjob%2F"
    secret = re.findall(r"<code>([A-Z2-7]{32})</code>", client.get(asked.headers["Location"]).content.decode())[0]
    assert secret.encode() not in b"".join(bytes(row.session_data, "ascii") for row in Session.objects.all())

    wrong = client.post("/console/second-factor/", {"code": "000000", "enrolment": OPERATORS_CODE})
    shown = code(secret)
    proved = {"code": shown, "enrolment": OPERATORS_CODE.upper(), "next": "/console/jobs/job/"}
    done = client.post("/console/second-factor/", proved)

    assert (wrong.status_code, done.status_code) == (400, 200)
    assert 'href="/console/jobs/job/">I have kept them' in done.content.decode()
    assert open_sealed(bytes(SecondFactor.objects.get().secret)) == secret.encode()
    assert client.get("/console/jobs/job/").status_code == 200
    again = Client()
    password(again)
    form = again.get("/console/second-factor/")
    assert "<code>" not in form.content.decode()
    assert again.get("/console/").status_code == 302
    assert again.post("/console/second-factor/", {"code": shown}).status_code == 400, "a code works once"
    assert again.post("/console/second-factor/", {"code": code(secret, later=1)}).status_code == 302
    assert again.get("/console/").status_code == 200
    assert (events(sign_in.FACTOR_ENROLLED), events(sign_in.SIGNED_IN)) == (1, 2)


@pytest.mark.parametrize("path", ["", "questions/question/", "jobs/job/", "billing/price/add/", "audit/auditevent/"])
def test_a_password_alone_opens_no_page(operator: Member, path: str) -> None:
    client = Client()
    client.force_login(Person.objects.get(email=EMAIL), "backend.staff.sign_in.StaffBackend")

    reply = client.get(f"/console/{path}")

    assert reply.status_code == 302
    assert reply.headers["Location"].startswith("/console/second-factor/")


def test_fifty_guesses_are_refused_after_five_and_the_right_password_too(operator: Member) -> None:
    service = Client()
    judged = []
    for number in range(7):
        service.cookies = SimpleCookie()
        before = events(sign_in.LOCKED_OUT)
        assert "sessionid" not in password(service, word=f"x{number}").cookies
        judged.append(events(sign_in.LOCKED_OUT) == before)

    assert judged == [True] * 5 + [False] * 2
    assert password(Client()).status_code == 200, "the form again"
    assert password(Client(), REMOTE_ADDR="198.51.100.1").status_code == 200, "from another address, too"
    StaffEvent.objects.using("owner").update(occurred_at=timezone.now() - sign_in.WINDOW)
    assert password(Client()).status_code == 302


def test_a_stolen_password_alone_sets_up_no_factor(operator: Member) -> None:
    """The thief has the password of somebody who has never signed in."""
    thief = Client()
    password(thief)
    page = thief.get("/console/second-factor/").content.decode()
    (secret,) = re.findall(r"<code>([A-Z2-7]{32})</code>", page)
    for guess in ("", "0000-0000-0000-0000-0000"):
        refused = thief.post("/console/second-factor/", {"code": code(secret), "enrolment": guess})
        assert (refused.status_code, "operator&#x27;s code" in refused.content.decode()) == (400, True)
    Member.objects.update(enrolment_until=timezone.now())
    late = thief.post("/console/second-factor/", {"code": code(secret), "enrolment": OPERATORS_CODE})
    assert late.status_code == 400
    assert not SecondFactor.objects.exists()


def test_an_operators_code_works_once_and_for_whoever_has_no_factor(
    operator: Member, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("staff", "enrolment-code", EMAIL)
    (made,) = re.findall(r"[0-9a-f]{4}(?:-[0-9a-f]{4}){4}", capsys.readouterr().out)
    client = Client()
    password(client)

    def enrolled(operators_code: str) -> int:
        page = client.get("/console/second-factor/").content.decode()
        (secret,) = re.findall(r"<code>([A-Z2-7]{32})</code>", page)
        sent = {"code": code(secret), "enrolment": operators_code}
        return int(client.post("/console/second-factor/", sent).status_code)

    assert [enrolled(one) for one in (OPERATORS_CODE, made)] == [400, 200], "a new code ends the one before"
    SecondFactor.objects.all().delete()
    client = Client()
    password(client)
    assert enrolled(made) == 400
    SecondFactor.objects.create(person=operator.person, secret=seal(factors.new_secret().encode()))
    with pytest.raises(CommandError, match="has a second factor"):
        call_command("staff", "enrolment-code", EMAIL)


def test_nobody_locks_a_person_out_who_knows_the_address_alone(operator: Member) -> None:
    home = {"REMOTE_ADDR": "203.0.113.9"}
    StaffEvent.objects.create(action=sign_in.SIGNED_IN, email=EMAIL, address=home["REMOTE_ADDR"])
    for number in range(30):
        password(Client(), word=f"x{number}", REMOTE_ADDR=f"198.51.100.{number % 3}")
    assert events(sign_in.LOCKED_OUT) > 0
    assert password(Client(), REMOTE_ADDR="198.51.100.77").status_code == 200, "a new address is locked"
    assert password(Client(), **home).status_code == 302
    # Guesses from there are counted as ever.
    for number in range(6):
        password(Client(), word=f"y{number}", **home)
    assert password(Client(), **home).status_code == 200


def test_guesses_at_many_accounts_lock_their_address_and_no_other(operator: Member) -> None:
    now = StaffEvent.objects.using("owner")
    now.bulk_create(
        StaffEvent(action=sign_in.ATTEMPTED, email=f"{number}@example.org", address="198.51.100.1")
        for number in range(sign_in.ATTEMPTS_PER_ADDRESS)
    )

    assert password(Client(), REMOTE_ADDR="198.51.100.1").status_code == 200
    assert password(Client(), REMOTE_ADDR="198.51.100.2").status_code == 302


def test_guessed_codes_are_counted_as_well_and_end_the_session(operator: Member) -> None:
    SecondFactor.objects.create(person=operator.person, secret=seal(factors.new_secret().encode()))
    client = Client()
    client.force_login(operator.person, "backend.staff.sign_in.StaffBackend")

    replies = [client.post("/console/second-factor/", {"code": "000000"}) for _ in range(6)]

    assert [reply.status_code for reply in replies] == [400] * 5 + [302]
    assert replies[5].headers["Location"].startswith("/console/login/")
    assert "_auth_user_id" not in client.session


def test_an_unknown_account_is_answered_like_a_known_one(operator: Member) -> None:
    Person.objects.create_user("customer@example.org", PASSWORD)
    known, unknown, customer = (
        password(Client(), email=email, word=word)
        for email, word in ((EMAIL, "x"), ("nobody@example.org", "x"), ("customer@example.org", PASSWORD))
    )

    def shown(reply: Any) -> list[str]:
        assert reply.status_code == 200
        return re.findall(r"Please enter the correct[^<]*", reply.content.decode())

    assert shown(known) == shown(unknown) == shown(customer) != []


def test_a_session_ends_after_half_an_hour_without_a_request_and_after_twelve_hours(operator: Member) -> None:
    client = signed_in(EMAIL)
    assert client.get("/console/").status_code == 200
    (row,) = Session.objects.all()
    left = row.expire_date - timezone.now()
    assert timedelta(seconds=IDLE_SECONDS - 60) < left <= timedelta(seconds=IDLE_SECONDS)
    session = client.session
    session[sign_in.BEGAN] = time.time() - sign_in.ABSOLUTE.total_seconds() - 1
    session.save()

    reply = client.get("/console/")

    assert reply.headers["Location"].startswith("/console/login/")
    assert not Session.objects.exists()


def test_dismissed_staff_are_out_at_the_next_request(staff_as: Any) -> None:
    client = staff_as("support")
    assert client.get("/console/").status_code == 200

    call_command("staff", "dismiss", "support@example.org")

    assert client.get("/console/").status_code == 302
    assert not Member.objects.exists()
    with pytest.raises(CommandError, match="no staff"):
        call_command("staff", "dismiss", "support@example.org")


def test_a_lost_second_factor_is_reset_on_the_command_line(
    operator: Member, capsys: pytest.CaptureFixture[str]
) -> None:
    SecondFactor.objects.create(person=operator.person, secret=seal(factors.new_secret().encode()))

    call_command("staff", "reset-factor", EMAIL)

    assert "code for the first second factor" in capsys.readouterr().out
    assert not SecondFactor.objects.exists()
    assert events("staff.factor_reset") == 1


def test_the_account_command_is_repeatable_and_needs_a_password(
    operator: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(EMAIL)
    call_command("ensure_console_admin", verbosity=0)
    assert client.get("/console/").status_code == 200, "an unchanged password ends no session"
    assert Person.objects.count() == 1
    monkeypatch.delenv("AVA_CONSOLE_PASSWORD")
    with pytest.raises(CommandError, match="AVA_CONSOLE_PASSWORD"):
        call_command("ensure_console_admin", verbosity=0)


def test_the_codes_are_those_of_the_standard() -> None:
    """RFC 6238, appendix B: the last six digits of the codes for SHA-1."""
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    times = {59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037"}

    assert {at: factors.code_at(secret, at // 30) for at in times} == times
    assert factors.step_of(secret, "287 082", now=59) == 1
    assert [factors.step_of(secret, "287082", now=now) for now in (30, 89, 90)] == [1, 1, None]


def test_the_cookies_are_the_consoles_own_and_kept_for_one_host() -> None:
    chosen = console_settings("https://console.example.org", settings.MIDDLEWARE)

    assert (chosen["SESSION_COOKIE_NAME"], chosen["CSRF_COOKIE_NAME"]) == (
        "__Host-ava_console", "__Host-ava_console_csrf",
    )  # fmt: skip
    assert chosen["SESSION_COOKIE_SECURE"] is True
    assert "console.example.org" in chosen["ALLOWED_HOSTS"]


def test_the_apis_process_has_no_console(operator: Member) -> None:
    with override_settings(PROCESS="api", ROOT_URLCONF="backend.urls"):
        assert Client().get("/console/login/").status_code == 404


def test_a_role_is_changed_and_the_staff_listed(database: None, capsys: pytest.CaptureFixture[str]) -> None:
    appointed("support")
    services.appoint(email="Support@example.org", role=Role.FINANCE)

    call_command("staff", "list")

    assert capsys.readouterr().out == "support@example.org: finance\n"


def test_the_sessions_of_staff_end_by_a_command_and_they_sign_in_again(staff_as: Any) -> None:
    operator, other = staff_as("operator"), staff_as("support")
    assert operator.get("/console/").status_code == 200

    services.end_sessions(email="operator@example.org", reason="The laptop was stolen on Monday.")

    assert operator.get("/console/").status_code == 302
    assert other.get("/console/").status_code == 200
    assert signed_in("operator@example.org").get("/console/").status_code == 200

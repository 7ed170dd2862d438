"""People whom no tenant has any more are erased with all that is theirs, and deletion of an account ends with that."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.people.models import Departure, Membership, Person
from backend.people.services import departures
from backend.people.services.sign_in import provider_of
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser
from tests.isolation.test_people_apart import connected
from tests.people.cast import PASSWORD, Browser, invited, make_staff, member_of, person

DELETE = "/accounts/delete/"
KEPT = {
    "people_membership": "a membership keeps the person",
    "people_person_groups": "staff alone has groups",
    "people_person_user_permissions": "staff alone has rights in the console",
    "account_emailconfirmation": "goes with its address",
    "socialaccount_socialtoken": "goes with its identity",
    "django_admin_log": "acts of staff",
    "staff_member": "staff alone",
    "staff_secondfactor": "staff alone",
    "staff_passkey": "staff alone",
    "staff_recoverycode": "staff alone",
    "staff_session": "staff alone",
    "staff_contentaccess": "staff alone",
}


def identity(cast: Cast, who: Person) -> SocialAccount:
    made: SocialAccount = SocialAccount.objects.create(
        user=who, provider=provider_of(cast.tenant_id), uid=str(who.id), extra_data={"userinfo": {"name": "Ada"}}
    )
    return made


def rows_of(who: UUID) -> dict[str, int]:
    """Count what refers to a person, past row-level security; leave out empty tables."""
    counts = {}
    with superuser() as connection:
        references = connection.execute(
            "SELECT k.conrelid::regclass::text, a.attname::text FROM pg_constraint k JOIN pg_attribute a "
            "ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1] "
            "WHERE k.contype = 'f' AND k.confrelid = 'people_person'::regclass"
        ).fetchall()
        for table, column in [*references, ("people_person", "id"), ("people_departure", "person_id")]:
            query = psycopg.sql.SQL("SELECT count(*) FROM {} WHERE {} = %s")
            named = query.format(psycopg.sql.Identifier(table), psycopg.sql.Identifier(column))
            row = connection.execute(named, [who]).fetchone()
            counts[table] = 0 if row is None else row[0]
    return {table: count for table, count in counts.items() if count}


@pytest.fixture(autouse=True)
def _no_attempts(database: None) -> None:
    cache.clear()


def signed_in(who: Person) -> Client:
    client = Client()
    client.post("/accounts/login/", {"login": who.email, "password": PASSWORD})
    return client


def text(reply: Any) -> str:
    return re.sub(r"\s+", " ", reply.content.decode())


def test_the_last_membership_takes_the_person_along(acme: Cast, globex: Cast) -> None:
    ada = person()
    mine, theirs = member_of(acme, "developer", ada), member_of(globex, "viewer", ada)
    client = signed_in(ada)
    Authenticator.objects.create(user=ada, type="totp", data={"secret": "x"})
    linked = identity(acme, ada), identity(globex, ada)

    assert acme.client.delete(f"/v1/members/{_id(mine)}").status_code == 204
    assert departures.erase_departed() == 0

    assert Person.objects.filter(id=ada.id).exists(), "another tenant has the person"
    assert list(SocialAccount.objects.values_list("id", flat=True)) == [linked[1].id]
    assert client.get("/v1/me").status_code == 200

    assert globex.client.delete(f"/v1/members/{_id(theirs)}").status_code == 204
    assert departures.erase_departed() == 1

    assert rows_of(ada.id) == {}
    assert client.get("/v1/me").status_code == 401
    with superuser() as connection:
        assert connection.execute("SELECT count(*) FROM django_session").fetchone() == (0,)


def _id(member: Membership) -> str:
    from backend.api.public_ids import encode

    return encode("mem", member.id)


def test_a_person_who_is_back_in_time_stays_with_the_identity(acme: Cast) -> None:
    ada = person()
    member = member_of(acme, "viewer", ada)
    identity(acme, ada)
    acme.client.delete(f"/v1/members/{_id(member)}")
    member_of(acme, "viewer", ada)

    assert departures.erase_departed() == 0

    assert (Person.objects.count(), SocialAccount.objects.count(), Departure.objects.count()) == (1, 1, 0)


def test_a_membership_that_begins_meanwhile_keeps_the_person(acme: Cast) -> None:
    ada = person()
    member_of(acme, "viewer", ada)

    assert departures.erase_person(ada.id) is False

    assert rows_of(ada.id) == {"people_person": 1, "people_membership": 1, "account_emailaddress": 1}


def test_staff_is_never_erased(acme: Cast) -> None:
    sam = person("sam")
    member = member_of(acme, "viewer", sam)
    make_staff(sam)
    acme.client.delete(f"/v1/members/{_id(member)}")

    assert departures.erase_departed() == 0

    assert rows_of(sam.id) == {"people_person": 1, "account_emailaddress": 1}


def test_an_account_that_no_tenant_takes_in_goes_after_a_week(acme: Cast) -> None:
    _, page = invited(acme, "eve@example.org")
    client = Client()
    client.get(page)
    client.post("/accounts/signup/", {"email": "eve@example.org", "password1": PASSWORD})
    eve = Person.objects.get()
    assert departures.erase_departed() == 0

    week = timezone.now() + timedelta(days=7)
    assert Departure.objects.filter(person_id=eve.id, due_at__range=(week - timedelta(hours=1), week)).count() == 1
    Departure.objects.update(due_at=timezone.now())
    assert departures.erase_departed() == 1
    assert rows_of(eve.id) == {}


def test_everything_that_refers_to_a_person_is_erased_or_named(database: None) -> None:
    with superuser() as connection:
        tables = {
            table
            for (table,) in connection.execute(
                "SELECT conrelid::regclass::text FROM pg_constraint "
                "WHERE contype = 'f' AND confrelid = 'people_person'::regclass"
            )
        }
    erased = {"usersessions_usersession", "mfa_authenticator", "account_emailaddress", "socialaccount_socialaccount"}
    assert tables - erased <= set(KEPT), tables - erased - set(KEPT)


def test_a_worker_adds_whom_its_tenant_has_lost_and_sees_nobody(acme: Cast, globex: Cast) -> None:
    insert = "INSERT INTO people_departure (tenant_id, person_id, due_at) VALUES (%s, NULL, now())"
    with connected("app_rw") as connection:
        with connection.transaction():
            connection.execute("SELECT set_config('app.tenant_id', %s, true)", [str(acme.tenant_id)])
            connection.execute(insert, [acme.tenant_id])
        for statement in (insert, "SELECT count(*) FROM people_departure", "DELETE FROM people_departure"):
            connection.execute("SELECT set_config('app.tenant_id', %s, false)", [str(acme.tenant_id)])
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement, [globex.tenant_id] if "%s" in statement else None)
    with connected("app_dispatch") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT person_id FROM people_departure")
    assert Departure.objects.count() == 1


def test_a_person_deletes_the_account_after_the_password(acme: Cast, globex: Cast) -> None:
    ada = person()
    member_of(acme, "owner")
    for cast, role in ((acme, "owner"), (globex, "viewer")):
        member_of(cast, role, ada)
    client = signed_in(ada)
    assert "Delete your account" in text(client.get("/accounts/"))
    page = text(client.get(DELETE))
    assert "Acme" in page
    assert "Globex" in page

    asked = client.post(DELETE, {"email": ada.email})

    assert asked.headers["Location"].startswith("/accounts/reauthenticate/"), "the password is asked for again"
    assert Person.objects.filter(id=ada.id).exists()
    assert client.post(asked.headers["Location"], {"password": "wrong"}).status_code == 200
    # The request that waited for the password is repeated.
    done = client.post(asked.headers["Location"], {"password": PASSWORD})
    assert "Your account is deleted" in text(done)
    assert client.get("/v1/me").status_code == 401
    assert departures.erase_departed() == 1
    assert rows_of(ada.id) == {}
    for cast, role in ((acme, "owner"), (globex, "viewer")):
        with cast.scope():
            event = AuditEvent.objects.get(action="member.left")
            assert (event.actor_name, event.details) == (
                ada.email,
                {"person_id": encode("per", ada.id), "role": role, "account_deleted": True},
            )
            assert not Membership.objects.filter(person_id=ada.id).exists()


def test_a_last_owner_keeps_the_account_and_every_membership(acme: Cast, globex: Cast) -> None:
    ada = person()
    member_of(acme, "owner", ada)
    member_of(globex, "viewer", ada)
    browser = fresh(ada)

    refused = browser.post(DELETE, {"email": ada.email})

    assert refused.status_code == 400
    assert "You are the last owner of Acme" in text(refused)
    assert departures.erase_departed() == 0
    assert rows_of(ada.id)["people_membership"] == 2
    with globex.scope():
        assert not AuditEvent.objects.exists()


def test_the_address_has_to_be_typed_and_a_provider_deletes_nobody(acme: Cast) -> None:
    ada = person()
    browser = fresh(ada)
    assert browser.post(DELETE, {"email": "other@example.org"}).status_code == 400
    session = browser.session
    session["account_authentication_methods"][0].update(method="socialaccount", provider=provider_of(acme.tenant_id))
    session.save()
    assert browser.post(DELETE, {"email": ada.email}).status_code == 403
    assert Client().post(DELETE, {"email": ada.email}).status_code == 302
    assert Departure.objects.count() == 0
    assert Person.objects.filter(id=ada.id).exists()


def test_a_person_without_a_tenant_deletes_the_account(database: None) -> None:
    ada = person()
    assert "Your account is deleted" in text(fresh(ada).post(DELETE, {"email": ada.email}))
    assert departures.erase_departed() == 1
    assert rows_of(ada.id) == {}


def fresh(who: Person) -> Client:
    """A browser whose person has just typed the password again."""
    browser = Browser(who)
    browser.handler.enforce_csrf_checks = False
    session = browser.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time(), "reauthenticated": True}]
    session.save()
    return browser

"""Who reads and writes people, sessions, staff, prices and the audit log: each database role by itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest
from django.contrib.sessions.models import Session as CustomerSession
from django.utils import timezone

from backend.people.models import Person, Role
from backend.staff.models import Session as StaffSession
from backend.staff.models import StaffEvent
from backend.staff.session_retention import forget_expired_sessions
from backend.tenancy.models import NOTICE_ROLES
from tests.conftest import Cast
from tests.people.cast import make_staff, member_of

VARIABLES = {
    "app_rw": "DATABASE_URL",
    "app_dispatch": "DATABASE_DISPATCH_URL",
    "app_admin_ro": "DATABASE_CONSOLE_URL",
    "app_people": "DATABASE_PEOPLE_URL",
    "app_console": "DATABASE_STAFF_URL",
}
PEOPLE = ("people_person", "mfa_authenticator", "account_emailaddress", "usersessions_usersession")
STAFF = (
    "staff_member", "staff_secondfactor", "staff_passkey", "staff_recoverycode", "staff_session", "staff_contentaccess",
    "django_admin_log",
)  # fmt: skip
ALL = "SELECT, INSERT, UPDATE, DELETE"
# Role: what it may do, by table. What is not named here it may not.
MAY: dict[str, dict[str, str]] = {
    # Columns of the people who get the notices of their tenant.
    "app_rw": {
        "billing_pricebook": "SELECT", "billing_price": "SELECT", "audit_auditevent": "SELECT, INSERT",
        "people_person": "SELECT", "people_departure": "INSERT",
    },
    # SELECT on the column of the tenant alone, to erase what a tenant leaves, and on the end of a session alone.
    "app_dispatch": {
        "billing_pricebook": "SELECT", "billing_price": "SELECT", "audit_auditevent": "SELECT, DELETE",
        "django_session": "SELECT, DELETE", "staff_session": "SELECT, DELETE", "people_departure": "SELECT",
    },
    "app_admin_ro": {
        "billing_pricebook": "SELECT", "billing_price": "SELECT", "audit_auditevent": "SELECT",
        "staff_staffevent": "SELECT",
    },
    "app_people": dict.fromkeys((*PEOPLE, "people_departure", "django_session"), ALL),
    "app_console": {
        **dict.fromkeys((*PEOPLE, *STAFF), ALL),
        "billing_pricebook": "SELECT, INSERT, UPDATE", "billing_price": "SELECT, INSERT, UPDATE",
        "staff_staffevent": "SELECT, INSERT",
    },
}  # fmt: skip
TABLES = (
    *PEOPLE,
    *STAFF,
    "people_departure",
    "django_session",
    "staff_staffevent",
    "billing_pricebook",
    "billing_price",
    "audit_auditevent",
)


@contextmanager
def connected(role: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(os.environ[VARIABLES[role]], autocommit=True) as connection:
        assert connection.execute("SELECT current_user").fetchone() == (role,)
        yield connection


@pytest.mark.parametrize("role", sorted(MAY))
def test_each_role_may_do_what_it_is_for_and_nothing_else(database: None, role: str) -> None:
    with connected(role) as connection:
        rights = connection.execute(
            "SELECT t, string_agg(p, ', ' ORDER BY n) FROM unnest(%s::text[]) t, unnest(ARRAY["
            "'SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) WITH ORDINALITY AS privilege(p, n) "
            "WHERE has_table_privilege(current_user, t, p) OR (p IN ('SELECT', 'INSERT', 'UPDATE') "
            "AND has_any_column_privilege(current_user, t, p)) GROUP BY t",
            [list(TABLES)],
        ).fetchall()

    assert dict(rights) == MAY[role]


WITHHELD = (
    "INSERT INTO people_person (id, password, is_superuser, email, name, is_active, is_staff, created_at) "
    "VALUES (gen_random_uuid(), 'x', true, 'intruder@example.org', '', true, true, now())",
    "UPDATE people_person SET is_staff = true",
    "UPDATE django_session SET session_data = 'x'",
    "INSERT INTO billing_price (id, book_id, meter, model, variant, unit_amount, version, effective_from, "
    "back_dated, author, note) VALUES (gen_random_uuid(), gen_random_uuid(), 'questions', '', '', 0, 9, now(), "
    "false, 'x', '')",
    "INSERT INTO billing_planversion (id) VALUES (gen_random_uuid())",
    "SELECT password FROM people_person",
    "SELECT name FROM people_person",
    "SELECT is_staff FROM people_person",
    "SELECT session_data FROM django_session",
    "SELECT session_key FROM django_session",
    "SELECT session_key FROM staff_session",
    "UPDATE staff_session SET session_data = 'x'",
)
"""Statements that make somebody staff or a price, or that read a secret."""


@pytest.mark.parametrize("role", ["app_rw", "app_dispatch", "app_admin_ro"])
def test_a_worker_or_a_reader_makes_nobody_staff_and_no_price(database: None, role: str) -> None:
    with connected(role) as connection:
        for statement in WITHHELD:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


def test_the_role_of_the_api_neither_sees_nor_makes_staff(database: None) -> None:
    customer = Person.objects.create_user("ada@example.org")
    staff = Person.objects.using("staff").create(email="sam@example.org", is_staff=True)

    with connected("app_people") as connection:
        assert connection.execute("SELECT email FROM people_person").fetchall() == [("ada@example.org",)]
        connection.execute("UPDATE people_person SET password = 'x' WHERE id = %s", [staff.id])
        connection.execute("DELETE FROM people_person WHERE id = %s", [staff.id])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE people_person SET is_staff = true WHERE id = %s", [customer.id])

    assert Person.objects.using("staff").get(id=staff.id).password == staff.password
    assert not Person.objects.using("staff").get(id=customer.id).is_staff


def test_the_role_of_the_api_reaches_no_session_of_staff(database: None) -> None:
    for statement in (
        "SELECT session_key FROM staff_session",
        "INSERT INTO staff_session VALUES ('x', 'x', now())",
        "UPDATE staff_session SET session_data = 'x'",
        "DELETE FROM staff_session",
    ):
        with connected("app_people") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


def test_expired_sessions_of_customers_and_staff_are_deleted(database: None) -> None:
    now = timezone.now()
    for sessions in (CustomerSession, StaffSession):
        for key, end in (("over", now - timedelta(seconds=1)), ("open", now + timedelta(hours=1))):
            sessions.objects.create(session_key=key, session_data="x", expire_date=end)

    assert forget_expired_sessions() == 2

    assert [row.session_key for row in (*CustomerSession.objects.all(), *StaffSession.objects.all())] == ["open"] * 2


def test_requests_and_workers_read_the_addresses_of_members_who_get_notices_alone(acme: Cast, globex: Cast) -> None:
    mine = {role: member_of(acme, role).person.email for role in Role.values}
    member_of(globex, "owner")
    Person.objects.create_user("nobody@example.org")
    make_staff(member_of(acme, "owner").person)

    with connected("app_rw") as connection, connection.transaction():
        addresses = "SELECT email FROM people_person"
        assert connection.execute(addresses).fetchall() == []
        connection.execute("SELECT set_config('app.tenant_id', %s, true)", [str(acme.tenant_id)])
        found = {email for (email,) in connection.execute(addresses)}

    assert found == {mine[role] for role in NOTICE_ROLES}


def test_the_log_of_the_staff_is_only_added_to(database: None) -> None:
    StaffEvent.objects.create(action="staff.signed_in")
    for statement in ("UPDATE staff_staffevent SET email = 'x'", "DELETE FROM staff_staffevent"):
        with connected("app_console") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


def test_no_role_of_a_process_is_a_member_of_another(acme: Cast) -> None:
    with connected("app_rw") as connection:
        members = connection.execute(
            "SELECT member::regrole::text FROM pg_auth_members WHERE member::regrole::text LIKE 'app_%'"
        ).fetchall()

    assert members == []

"""What each role of the database may do is what backend/tenancy/rights.txt says: tried out, and read in the catalog."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql

from backend.tenancy import isolation, rights
from tests.isolation.test_catalog import superuser

URLS = {
    "app_rw": "DATABASE_LISTEN_URL",
    "app_owner": "DATABASE_OWNER_URL",
    "app_dispatch": "DATABASE_DISPATCH_URL",
    "app_admin_ro": "DATABASE_CONSOLE_URL",
    "app_people": "DATABASE_PEOPLE_URL",
    "app_console": "DATABASE_STAFF_URL",
}
SERVING = [role for role in URLS if role != "app_owner"]
ATTEMPTS = {
    "SELECT": "SELECT 1 FROM {table} LIMIT 0",
    "INSERT": "INSERT INTO {table} SELECT * FROM {table} WHERE false",
    "UPDATE": "UPDATE {table} SET {column} = {column} WHERE false",
    "DELETE": "DELETE FROM {table} WHERE false",
    "TRUNCATE": "TRUNCATE {table}",
}
# (role, statement): what no role that serves may do, whatever its tables.
FORBIDDEN = [
    "CREATE TABLE public.mine (id int)",
    "CREATE SCHEMA mine",
    "CREATE ROLE mine",
    "ALTER EXTENSION vector UPDATE",
    "ALTER TABLE public.library_video DISABLE ROW LEVEL SECURITY",
    "DROP POLICY tenant_rows ON public.library_video",
    "SET ROLE app_owner",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION postgres",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT * FROM pg_authid",
    "SELECT ag_catalog.drop_graph('ekg', true)",
    "SELECT ag_catalog.create_vlabel('ekg', 'Mine')",
]


@contextmanager
def logged_in(role: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(os.environ[URLS[role]]) as connection:
        assert connection.execute("SELECT current_user").fetchone() == (role,)
        yield connection


def allowed(connection: psycopg.Connection, statement: str | sql.Composed) -> bool:
    """Whether a statement is permitted. It runs, and its effect is undone."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


def tables() -> Mapping[str, str]:
    """Return each table that is no partition, with one of its columns."""
    with superuser() as connection:
        rows = connection.execute(
            "SELECT n.nspname || '.' || c.relname, min(a.attname::text) FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 "
            "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname IN ('public', 'ekg') "
            "AND a.attgenerated = '' AND NOT a.attisdropped AND a.attidentity = '' GROUP BY 1 ORDER BY 1"
        ).fetchall()
    return dict(rows)


def test_the_list_is_what_the_catalog_says(database: None) -> None:
    """If this fails after a migration: read the changed lines of `manage.py show_rights`, then write rights.txt."""
    with superuser() as connection:
        found = rights.granted(connection.cursor())

    listed = rights.expected()
    assert {right: found[right] for right in found if found[right] != listed.get(right)} == {}
    assert set(listed) == set(found)


@pytest.mark.parametrize("role", SERVING)
def test_each_role_can_do_to_each_table_what_the_list_says_and_nothing_else(database: None, role: str) -> None:
    tried: dict[str, set[str]] = {}
    with logged_in(role) as connection:
        for name, column in tables().items():
            table = sql.SQL(".").join(map(sql.Identifier, name.split(".")))
            for privilege, attempt in ATTEMPTS.items():
                statement = sql.SQL(attempt).format(table=table, column=sql.Identifier(column))
                if allowed(connection, statement):
                    tried.setdefault(name, set()).add(privilege)

    listed: dict[str, set[str]] = {}
    for right, privileges in rights.expected().items():
        if right.role == role and right.kind == "table" and not right.name.startswith("ag_catalog."):
            listed.setdefault(right.name, set()).update(set(privileges) & set(ATTEMPTS))
    # To insert what a statement reads, or to name a column in UPDATE, takes the right to read as well.
    for rights_here in listed.values():
        if "SELECT" not in rights_here:
            rights_here -= {"INSERT", "UPDATE"}
    # The right to read one column is enough to ask a table for its rows.
    for right, privileges in rights.expected().items():
        if right.role == role and right.kind == "column" and "SELECT" in privileges:
            listed.setdefault(right.name.rpartition(".")[0], set()).add("SELECT")
    assert tried == {name: rights_here for name, rights_here in listed.items() if rights_here}


@pytest.mark.parametrize("role", SERVING)
def test_no_role_that_serves_can_widen_what_it_may(database: None, role: str) -> None:
    with logged_in(role) as connection:
        assert [statement for statement in FORBIDDEN if allowed(connection, statement)] == []


def test_the_role_that_migrates_is_under_the_policies_too(database: None) -> None:
    with logged_in("app_owner") as connection:
        assert connection.execute("SELECT row_security_active('public.library_video')").fetchone() == (True,)
        assert not allowed(connection, "CREATE ROLE mine")
        assert not allowed(connection, "SET ROLE app_dispatch")


@pytest.mark.parametrize("alias", ["default", "dispatch", "console"])
def test_every_process_can_check_with_the_role_it_has(database: None, alias: str) -> None:
    assert isolation.faults(using=alias) == []

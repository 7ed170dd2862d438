"""Makes a database ready for migrations: roles, extensions, the graph with its labels, policies and revokes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg
from django.core.management.base import BaseCommand, CommandError
from psycopg import sql

from backend.tenancy.rights import graph_routines
from backend.tenancy.role_settings import settings_of

PROVISION_SQL = Path(__file__).parents[2] / "provision.sql"
ROLES = {
    "app_owner": ("DATABASE_OWNER_URL", "NOBYPASSRLS"),
    "app_rw": ("DATABASE_URL", "NOBYPASSRLS"),
    "app_dispatch": ("DATABASE_DISPATCH_URL", "BYPASSRLS"),
    "app_admin_ro": ("DATABASE_CONSOLE_URL", "BYPASSRLS"),
    "app_people": ("DATABASE_PEOPLE_URL", "NOBYPASSRLS"),
    "app_console": ("DATABASE_STAFF_URL", "NOBYPASSRLS"),
}


class Command(BaseCommand):
    help = "Create roles, extensions and the graph (needs DATABASE_SUPERUSER_URL); safe to repeat."
    # The checks of Django's apps need a provisioned database.
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        superuser = os.environ.get("DATABASE_SUPERUSER_URL")
        if not superuser:
            raise CommandError("DATABASE_SUPERUSER_URL is not set")
        provision_database(superuser, {role: os.environ[variable] for role, (variable, _) in ROLES.items()})
        if os.environ.get("DATABASE_REPLICATION_URL"):
            provision_replication(superuser, os.environ["DATABASE_REPLICATION_URL"])
        if os.environ.get("DATABASE_METRICS_URL"):
            provision_metrics(superuser, os.environ["DATABASE_METRICS_URL"])
        self.stdout.write("provisioned")


def provision_database(superuser_url: str, role_urls: dict[str, str]) -> None:
    """Provision the database that role_urls name on the server that superuser_url reaches.

    Every role URL must carry the role's own name, because the grants in migrations name the roles. Raises CommandError
    otherwise.
    """
    names = {unquote(urlsplit(url).path.lstrip("/")) for url in role_urls.values()}
    if len(names) != 1:
        raise CommandError("the role URLs name different databases")
    database = names.pop()
    with psycopg.connect(superuser_url, autocommit=True) as server:
        _require_superuser(server)
        # Two checkouts or test workers may provision one server at once.
        server.execute("SELECT pg_advisory_lock(hashtext('ava provision'))")
        for role, url in role_urls.items():
            parts = urlsplit(url)
            if unquote(parts.username or "") != role:
                raise CommandError(f"{ROLES[role][0]} must log in as {role}")
            exists = server.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
            server.execute(
                sql.SQL(
                    "{verb} ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE {bypass} PASSWORD {password}"
                ).format(
                    verb=sql.SQL("ALTER" if exists else "CREATE"),
                    role=sql.Identifier(role),
                    bypass=sql.SQL(ROLES[role][1]),
                    password=sql.Literal(unquote(parts.password or "")),
                )
            )
            for setting, value in settings_of(role).items():
                # search_path is a list of names; everything else is one value.
                words = [sql.Literal(word) for word in value.split(", ")]
                server.execute(
                    sql.SQL("ALTER ROLE {} SET {} TO {}").format(
                        sql.Identifier(role), sql.Identifier(setting), sql.SQL(", ").join(words)
                    )
                )
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone():
            server.execute(sql.SQL("CREATE DATABASE {} OWNER app_owner").format(sql.Identifier(database)))
        with psycopg.connect(superuser_url, dbname=database, autocommit=True) as connection:
            connection.execute(PROVISION_SQL.read_text())
            _revoke_routines(connection)


def _require_superuser(server: psycopg.Connection[Any]) -> None:
    """Refuse a role that could not take AGE's functions from everybody, before anything is changed.

    Other rights of a superuser cost speed alone: without LEAKPROOF, row-level security keeps the planner from AGE's
    indexes. Functions that read the graph past row-level security belong to whoever made the extension.
    """
    row = server.execute("SELECT rolname, rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    assert row is not None
    role, is_superuser = row
    if not is_superuser:
        raise CommandError(
            f"{role} is no superuser. Provisioning takes functions of Apache AGE that read the graph past row-level "
            "security from all roles, and only their owner may do so: without that, tenants would not be isolated. "
            "Nothing was changed. docs/adr/0049 says which databases are possible"
        )


def _revoke_routines(connection: psycopg.Connection[Any]) -> None:
    """Take every function of AGE from everybody but superusers, unless graph_routines() lists it.

    An upgrade of AGE brings functions that nobody has looked at.
    """
    unlisted = connection.execute(
        "SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
        "WHERE n.nspname = 'ag_catalog' AND NOT p.proname = ANY(%s)",
        [sorted(graph_routines())],
    ).fetchall()
    for (routine,) in unlisted:
        connection.execute(f"REVOKE ALL ON FUNCTION {routine} FROM PUBLIC")


def provision_replication(superuser_url: str, replication_url: str) -> None:
    """Create the role app_replication, with which a standby follows the server; it reads no table by itself.

    Raises CommandError if replication_url names another role.
    """
    _provision_login(superuser_url, replication_url, "app_replication", "DATABASE_REPLICATION_URL", "REPLICATION")


def provision_metrics(superuser_url: str, metrics_url: str) -> None:
    """Create the role app_metrics, with which an exporter reads what the server counts; it reads no table.

    Raises CommandError if metrics_url names another role.
    """
    _provision_login(superuser_url, metrics_url, "app_metrics", "DATABASE_METRICS_URL", "NOREPLICATION")


def _provision_login(superuser_url: str, url: str, role: str, variable: str, attribute: str) -> None:
    parts = urlsplit(url)
    if unquote(parts.username or "") != role:
        raise CommandError(f"{variable} must log in as {role}")
    with psycopg.connect(superuser_url, autocommit=True) as server:
        exists = server.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
        server.execute(
            sql.SQL("{verb} ROLE {role} LOGIN {attribute} NOSUPERUSER PASSWORD {password}").format(
                verb=sql.SQL("ALTER" if exists else "CREATE"),
                role=sql.Identifier(role),
                attribute=sql.SQL(attribute),
                password=sql.Literal(unquote(parts.password or "")),
            )
        )

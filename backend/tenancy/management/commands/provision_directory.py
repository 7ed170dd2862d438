"""Makes the control database of a service with cells: two roles, and the tables of directory.sql."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg
from django.core.management.base import BaseCommand, CommandError
from psycopg import sql

DIRECTORY_SQL = Path(__file__).parents[2] / "directory.sql"
ROLES = {"app_directory": "DATABASE_CONTROL_URL", "app_mover": "DATABASE_MOVER_URL"}


class Command(BaseCommand):
    help = "Create the control database (needs DATABASE_CONTROL_SUPERUSER_URL); safe to repeat."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        superuser = os.environ.get("DATABASE_CONTROL_SUPERUSER_URL", "")
        missing = [] if superuser else ["DATABASE_CONTROL_SUPERUSER_URL"]
        missing += [name for name in ROLES.values() if not os.environ.get(name)]
        if missing:
            raise CommandError(f"{', '.join(missing)} must be set")
        provision_directory(superuser, {role: os.environ[variable] for role, variable in ROLES.items()})
        self.stdout.write("provisioned")


def provision_directory(superuser_url: str, role_urls: dict[str, str]) -> None:
    """Create the database that role_urls name, its roles and its tables, on the server that superuser_url reaches.

    Raises CommandError if a URL logs in as another role, or if the URLs name different databases.
    """
    databases = {unquote(urlsplit(url).path.lstrip("/")) for url in role_urls.values()}
    if len(databases) != 1:
        raise CommandError("the URLs name different databases")
    database = databases.pop()
    with psycopg.connect(superuser_url, autocommit=True) as server:
        server.execute("SELECT pg_advisory_lock(hashtext('ava provision'))")
        for role, url in role_urls.items():
            parts = urlsplit(url)
            if unquote(parts.username or "") != role:
                raise CommandError(f"{ROLES[role]} must log in as {role}")
            exists = server.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
            server.execute(
                sql.SQL("{} ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD {}").format(
                    sql.SQL("ALTER" if exists else "CREATE"),
                    sql.Identifier(role),
                    sql.Literal(unquote(parts.password or "")),
                )
            )
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone():
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        with psycopg.connect(superuser_url, dbname=database, autocommit=True) as connection:
            connection.execute(DIRECTORY_SQL.read_text())

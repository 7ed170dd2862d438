"""Provisioning by a role that managed PostgreSQL gives: it may make roles and pass row-level security, and no more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management.base import CommandError

from backend.tenancy.management.commands.provision import ROLES, provision_database

LIMITED = "limited_administrator"


@pytest.fixture
def limited_url(database: None) -> Iterator[str]:
    """Return the URL of a role with CREATEROLE and BYPASSRLS on the server of the tests."""
    url = urlsplit(os.environ["DATABASE_SUPERUSER_URL"])
    address = url.netloc.rpartition("@")[2]
    with psycopg.connect(url.geturl(), autocommit=True) as server:
        server.execute(f"CREATE ROLE {LIMITED} LOGIN CREATEROLE CREATEDB BYPASSRLS PASSWORD 'limited'")
        yield url._replace(netloc=f"{LIMITED}:limited@{address}").geturl()
        server.execute(f"DROP ROLE {LIMITED}")


def test_a_role_that_cannot_keep_tenants_apart_is_refused_before_it_changes_anything(limited_url: str) -> None:
    roles = {role: f"postgresql://{role}:changed@elsewhere/ava_never_made" for role in ROLES}

    with pytest.raises(CommandError, match=f"{LIMITED} is no superuser.* tenants would not be isolated"):
        provision_database(limited_url, roles)

    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"]) as server:
        assert server.execute("SELECT 1 FROM pg_database WHERE datname = 'ava_never_made'").fetchone() is None
    # The password of a role of ours is the old one.
    psycopg.connect(os.environ["DATABASE_URL"]).close()

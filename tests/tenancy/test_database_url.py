"""The URL of a database: its TLS settings reach libpq, and nothing in it is ignored."""

from __future__ import annotations

import os

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured

from backend import env


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def database(url: str) -> dict[str, object]:
        monkeypatch.setenv("SOME_DATABASE_URL", url)
        return env.database("SOME_DATABASE_URL")

    return database


def test_tls_settings_of_the_url_are_options_of_the_connection(read) -> None:  # type: ignore[no-untyped-def]
    options = read("postgresql://u:p@db:5432/ava?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem")["OPTIONS"]

    assert options == {
        "application_name": "ava", **env.KEEPALIVES, "sslmode": "verify-full", "sslrootcert": "/etc/ca.pem",
    }  # fmt: skip


def test_a_url_that_demands_tls_gets_no_connection_without_it(read) -> None:  # type: ignore[no-untyped-def]
    plain = os.environ["DATABASE_LISTEN_URL"]
    entry = read(f"{plain}?sslmode=verify-full")
    options: dict[str, object] = dict(entry["OPTIONS"])
    psycopg.connect(plain).close()

    with pytest.raises(psycopg.OperationalError, match=r"SSL|certificate"):
        psycopg.connect(plain, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["sslmode=yes", "sslmod=require", "options=-csearch_path%3Dx", "application_name=x"])
def test_what_is_not_understood_is_refused(read, query: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ImproperlyConfigured, match="SOME_DATABASE_URL can set"):
        read(f"postgresql://u:p@db:5432/ava?{query}")

"""Requests and workers share few sessions of PostgreSQL: through a pooler, and with the time-outs of their roles."""

from __future__ import annotations

import os
import time
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connections
from psycopg import errors

from backend.jobs.dispatching import claim_next
from backend.jobs.models import Job, JobKind
from backend.jobs.services import enqueue
from backend.tenancy.role_settings import ROLE_SETTINGS, settings_of
from tests.conftest import Cast

ALIASES = {
    "app_rw": "default",
    "app_dispatch": "dispatch",
    "app_admin_ro": "console",
    "app_owner": "owner",
    "app_people": "people",
    "app_console": "staff",
}


def value(alias: str, statement: str, *parameters: object) -> Any:
    with connections[alias].cursor() as cursor:
        cursor.execute(statement, parameters)
        (found,) = cursor.fetchone()
        return found


@pytest.fixture(autouse=True)
def _close(database: None) -> Any:
    yield
    connections.close_all()


@pytest.mark.parametrize("alias", ["default", "dispatch", "console"])
def test_the_roles_that_serve_requests_pass_through_the_pooler(alias: str) -> None:
    assert str(value(alias, "SELECT inet_server_port()")) != connections[alias].settings_dict["PORT"]


def test_migrations_and_notices_reach_the_server_itself() -> None:
    server = value("owner", "SELECT inet_server_port()")

    assert str(server) == connections["owner"].settings_dict["PORT"]
    with psycopg.connect(os.environ["DATABASE_LISTEN_URL"]) as listening:
        assert listening.info.port == server
        assert listening.info.user == "app_rw"


@pytest.mark.parametrize("role", sorted(ROLE_SETTINGS))
def test_every_session_of_a_role_has_its_settings(role: str) -> None:
    expected = settings_of(role)

    assert {name: value(ALIASES[role], f"SHOW {name}") for name in expected} == expected


MOST = {
    "app_rw": {
        "lock_timeout": 10_000,
        "statement_timeout": 300_000,
        "idle_in_transaction_session_timeout": 120_000,
        "tcp_keepalives_idle": 60,
        "tcp_keepalives_interval": 30,
        "tcp_keepalives_count": 5,
    },
    "app_dispatch": {
        "lock_timeout": 5_000,
        "statement_timeout": 60_000,
        "idle_in_transaction_session_timeout": 30_000,
        "tcp_keepalives_idle": 60,
        "tcp_keepalives_interval": 30,
        "tcp_keepalives_count": 5,
    },
}
"""Upper bounds in PostgreSQL's units: milliseconds for time-outs, seconds for keepalives."""


@pytest.mark.parametrize("role", sorted(MOST))
def test_no_session_of_a_worker_waits_without_an_end(role: str) -> None:
    for name, most in MOST[role].items():
        set_to = value(ALIASES[role], "SELECT setting::int FROM pg_settings WHERE name = %s", name)
        assert 0 < set_to <= most, name


def test_the_next_client_of_a_session_is_in_no_tenant(acme: Cast) -> None:
    """Two clients on one session of the server: a transaction's tenant ends with it."""
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as one, psycopg.connect(url, autocommit=True) as other:
        with one.transaction():
            one.execute("SELECT set_config('app.tenant_id', %s, true)", [str(acme.tenant_id)])
            first = one.execute("SELECT pg_backend_pid(), count(*) FROM tenancy_tenant").fetchone()
        second = other.execute("SELECT pg_backend_pid(), count(*) FROM tenancy_tenant").fetchone()

    assert first is not None
    assert second is not None
    assert (first[1], second[1]) == (1, 0)
    assert first[0] == second[0], "the pooler gave each client a session of its own"


def test_more_clients_than_sessions_are_served() -> None:
    """Forty idle clients hold no session: transactions, not clients, are what the server sees."""
    clients = [psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) for _ in range(40)]
    try:
        sessions = {client.execute("SELECT pg_backend_pid()").fetchone() for client in clients}
    finally:
        for client in clients:
            client.close()

    assert len(sessions) <= 2


def test_a_job_whose_row_is_held_by_an_idle_transaction_stops_no_worker(acme: Cast) -> None:
    with acme.scope():
        job = enqueue(kind=JobKind.RETIRE_VERSION, subject_id=UUID(int=1), dedupe_key="held")
    # The role's own limit is two minutes; the session that is held here has a shorter one.
    with psycopg.connect(os.environ["DATABASE_LISTEN_URL"]) as held:
        held.execute("SET idle_in_transaction_session_timeout = '500ms'")
        held.commit()
        held.execute("SELECT set_config('app.tenant_id', %s, true)", [str(acme.tenant_id)])
        held.execute("SELECT 1 FROM jobs_job WHERE id = %s FOR UPDATE", [job.id])

        assert claim_next(job.queue, worker="one") is None
        until = time.monotonic() + 120
        lease = None
        while lease is None and time.monotonic() < until:
            lease = claim_next(job.queue, worker="one")
        assert lease is not None
        assert lease.job_id == job.id
        with pytest.raises(errors.IdleInTransactionSessionTimeout):
            held.execute("SELECT 1")
    with acme.scope():
        assert Job.objects.get().lease_owner == "one"

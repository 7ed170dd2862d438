"""What a relay shows of PostgreSQL, read by the role of the relay."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
import pytest

from backend.observability.database_state import database_state

SLOT = "a_standby_that_reads_nothing"


@pytest.fixture
def server(database: None) -> Iterator[psycopg.Connection[tuple[int]]]:
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as connection:
        yield connection
        connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", [SLOT]
        )


def test_a_relay_sees_connections_and_a_standby_that_does_not_read(server: psycopg.Connection[tuple[int]]) -> None:
    before = database_state()
    (allowed,) = server.execute("SELECT current_setting('max_connections')::int").fetchone() or (0,)
    assert 1 / allowed <= before.connections < 1
    assert before.archive_failing_s == 0
    assert before.standby_bytes == 0

    server.execute("SELECT pg_create_physical_replication_slot(%s, true)", [SLOT])
    server.execute("SELECT pg_logical_emit_message(false, 'test', repeat('x', 100000))")

    assert database_state().standby_bytes >= 100_000

"""The renewals of leases, by far the most frequent writes of the queue, touch no index (heap-only tuples)."""

from __future__ import annotations

from uuid import uuid4

import psycopg
from django.db import connection

from backend.jobs import services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import QUEUE_OF, JobKind
from backend.jobs.services import Lease
from tests.conftest import Cast, superuser_url

WAITING, RUNNING, BEATS = 200, 32, 10
WRITTEN_BY_BEATS = {"heartbeat_at", "lease_until", "progress_stage", "progress_done", "progress_total"}


def written() -> tuple[int, int]:
    """Return the updated rows of the queue and those of them that needed no new entry in an index.

    They are those of this session that PostgreSQL has not added to its statistics yet: only differences mean something.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'jobs_job'")
        updated, hot = cursor.fetchone()
        return int(updated), int(hot)


def test_no_index_of_the_queue_holds_what_a_renewal_writes(database: None) -> None:
    with connection.cursor() as cursor:
        # Columns of the keys and of the conditions alike: both rule out a heap-only tuple.
        cursor.execute(
            "SELECT DISTINCT a.attname FROM pg_depend d JOIN pg_class i ON i.oid = d.objid AND i.relkind = 'i' "
            "JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid "
            "WHERE d.classid = 'pg_class'::regclass AND d.refobjid = 'jobs_job'::regclass"
        )
        indexed = {name for (name,) in cursor.fetchall()}

    assert indexed >= {"queue", "state", "fair_tag"}, "the indexes are found"
    assert indexed & WRITTEN_BY_BEATS == set()


def claimed(cast: Cast) -> list[Lease]:
    """Let RUNNING of WAITING jobs run."""
    with cast.scope():
        services.enqueue_many(
            kind=JobKind.OBSERVE_SEGMENT, subjects={f"observe:{uuid4()}": uuid4() for _ in range(WAITING)}
        )
    leases = [claim_next(QUEUE_OF[JobKind.OBSERVE_SEGMENT], worker=f"w{n}") for n in range(RUNNING)]
    held = [lease for lease in leases if lease is not None]
    assert len(held) == RUNNING
    return held


def renew(cast: Cast, leases: list[Lease], beats: int) -> tuple[int, int]:
    """Renew each lease so often. Returns the updated rows, and those that needed no new entry in an index."""
    renewed, without_index = 0, 0
    for beat in range(beats):
        for lease in leases:
            with cast.scope():
                before = written()
                assert services.heartbeat(lease, stage="describe", done=beat, total=beats)
                updated, hot = (now - then for now, then in zip(written(), before, strict=True))
            renewed, without_index = renewed + updated, without_index + hot
    return renewed, without_index


def test_renewals_write_no_index(acme: Cast) -> None:
    renewed, without_index = renew(acme, claimed(acme), BEATS)

    assert renewed == BEATS * RUNNING
    assert without_index >= 0.9 * renewed


def test_renewals_find_room_in_their_pages_while_an_old_snapshot_is_open(acme: Cast) -> None:
    """Nothing can be pruned then: only the room that pages keep is there."""
    with psycopg.connect(superuser_url(), autocommit=True) as server:
        server.execute("VACUUM FULL jobs_job")
    leases = claimed(acme)
    with psycopg.connect(superuser_url()) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM jobs_job")
        renewed, without_index = renew(acme, leases, 1)

    assert renewed == RUNNING
    assert without_index >= 0.5 * renewed

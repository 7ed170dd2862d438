"""What runs short in PostgreSQL, as a role without special rights sees it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connections

# Other columns of pg_stat_activity are empty for other roles' sessions. An archive that fails has failed since its last
# success; one that never succeeded, since the statistics began.
_STATE = """
SELECT (SELECT count(*) FROM pg_stat_activity WHERE usename IS NOT NULL)::float8
         / current_setting('max_connections')::int,
       (SELECT CASE WHEN last_failed_time > coalesce(last_archived_time, '-infinity')
                    THEN extract(epoch FROM now() - coalesce(last_archived_time, stats_reset)) ELSE 0 END::float8
          FROM pg_stat_archiver),
       (SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::float8 FROM pg_replication_slots)
"""


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """connections: used part of max_connections. archive_failing_s: seconds without a success while the archive fails.

    standby_bytes: log that the server keeps because a standby has not read it.
    """

    connections: float
    archive_failing_s: float
    standby_bytes: float


def database_state() -> DatabaseState:
    """Return the state of the server. Raises DatabaseError."""
    with connections["dispatch"].cursor() as cursor:
        cursor.execute(_STATE)
        return DatabaseState(*cursor.fetchone())

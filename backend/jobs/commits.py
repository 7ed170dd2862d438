"""Commits that outlive a broken connection: what was computed is written again, and never twice.

A restart of PostgreSQL takes a second, and the work whose results are lost with a connection may have taken minutes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

import psycopg
from django.db import Error, InterfaceError, InternalError, OperationalError, connections

logger = logging.getLogger("ava.jobs")

PATIENCE_SECONDS = 600.0
"""Time for which a commit is tried again. A lease may be over by then; the fence decides, not the time."""
READ_PATIENCE_SECONDS = 60.0
"""Time for which a query is tried again."""
PAUSE_SECONDS = 0.5

# Error codes of PostgreSQL: broken connections, shutdown and start of the server, ends of idle sessions, too many
# connections. A deadlock, a failed serialization and a wait for a lock that took too long rolled the transaction back:
# it may be run again as it is.
_PASSING_CLASSES = ("08",)
_PASSING = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "53300", "40001", "40P01", "55P03"})

DATABASE_ERRORS = (Error, psycopg.Error)
"""Errors of the database. Those of the graph come from psycopg itself."""
DATABASE_AWAY = (OperationalError, InterfaceError, InternalError)
"""Errors after which a process that runs for ever tries again. A pooler reports a lost server as an internal error."""

Result = TypeVar("Result")


def connection_broke(error: BaseException) -> bool:
    """Whether a database error is no fault of the statement, so that the same transaction may succeed later."""
    if isinstance(error, (InterfaceError, psycopg.InterfaceError)):
        return True
    # A pooler reports a lost server in its own words, after PostgreSQL's: the client library takes two answers to one
    # statement for a fault of its own, without an SQLSTATE.
    if not isinstance(error, (OperationalError, InternalError, psycopg.OperationalError)):
        return False
    state = getattr(error, "sqlstate", None) or getattr(error.__cause__, "sqlstate", None)
    return state is None or state in _PASSING or state.startswith(_PASSING_CLASSES)


def commit(
    scope: Callable[[], AbstractContextManager[None]],
    write: Callable[[], Result],
    *,
    patience_s: float = PATIENCE_SECONDS,
    using: str = "default",
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Result:
    """Run write in the transaction that scope opens, and again if the connection broke. Returns write's result.

    write: depends only on what is in memory and on what it reads itself. If the connection broke while the transaction
    was being committed, PostgreSQL is asked whether it was. Raises what scope and write raise, and the database's error
    after patience_s seconds. using: the database alias of scope.
    """
    until = clock() + patience_s
    while True:
        transaction_id: str | None = None
        try:
            with scope():
                result = write()
                transaction_id = _transaction_id(using)
            return result
        except DATABASE_ERRORS as error:
            _go_on_after(error, using, until, clock)
            if transaction_id is not None and _was_committed(transaction_id, using, until, sleep=sleep, clock=clock):
                return result
            sleep(PAUSE_SECONDS)


def read(
    scope: Callable[[], AbstractContextManager[None]],
    query: Callable[[], Result],
    *,
    patience_s: float = READ_PATIENCE_SECONDS,
    using: str = "default",
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Result:
    """Run a query that writes nothing, and again if the connection broke, as commit() does."""
    until = clock() + patience_s
    while True:
        try:
            with scope():
                return query()
        except DATABASE_ERRORS as error:
            _go_on_after(error, using, until, clock)
            sleep(PAUSE_SECONDS)


def _go_on_after(error: Exception, using: str, until: float, clock: Callable[[], float]) -> None:
    """Drop the broken connection. Raises error if it is no fault of the connection, or after until."""
    if not connection_broke(error) or clock() >= until:
        raise error
    logger.warning("the database is tried again: %s", error)
    connections[using].close()


def _transaction_id(using: str) -> str | None:
    """Return the id of the open transaction, None if it has written nothing."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id_if_assigned()::text")
        found = cursor.fetchone()[0]
        return None if found is None else str(found)


def _was_committed(
    transaction_id: str, using: str, until: float, *, sleep: Callable[[float], None], clock: Callable[[], float]
) -> bool:
    """Wait until PostgreSQL answers and the transaction has ended. Raises the database's error after until."""
    while True:
        try:
            with connections[using].cursor() as cursor:
                cursor.execute("SELECT pg_xact_status(%s::text::xid8)", [transaction_id])
                status = cursor.fetchone()[0]
        except DATABASE_ERRORS as error:
            # A standby that took over may not know the transaction.
            if not connection_broke(error):
                return False
            if clock() >= until:
                raise
            connections[using].close()
            status = "in progress"
        if status != "in progress":
            return bool(status == "committed")
        sleep(PAUSE_SECONDS)

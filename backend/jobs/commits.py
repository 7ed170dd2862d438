"""Commits that outlive a broken connection: what was computed is written again, and never twice.

A restart of PostgreSQL takes a second, and the work whose results are lost with a connection may have taken minutes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from django.db import Error, InterfaceError, InternalError, OperationalError, connection

logger = logging.getLogger("ava.jobs")

PATIENCE_SECONDS = 600.0
"""Time for which a commit is tried again. A lease may be over by then; the fence decides, not the time."""
PAUSE_SECONDS = 0.5

# Of PostgreSQL's error codes: broken connections, shutdown and start of the server, ends of idle sessions, too many
# connections. A deadlock and a failed serialization rolled the transaction back: it may be run again as it is.
_PASSING_CLASSES = ("08",)
_PASSING = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "53300", "40001", "40P01"})

Result = TypeVar("Result")


def connection_broke(error: BaseException) -> bool:
    """Whether a database error is no fault of the statement, so that the same transaction may succeed later."""
    if isinstance(error, InterfaceError):
        return True
    # A pooler reports a lost server in its own words, after PostgreSQL's: the client library takes two answers to one
    # statement for a fault of its own, without an SQLSTATE.
    if not isinstance(error, OperationalError | InternalError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state in _PASSING or state.startswith(_PASSING_CLASSES)


def commit(
    scope: Callable[[], AbstractContextManager[None]],
    write: Callable[[], Result],
    *,
    patience_s: float = PATIENCE_SECONDS,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Result:
    """Run write in the transaction that scope opens, and again if the connection broke. Returns write's result.

    write: depends only on what is in memory and on what it reads itself. If the connection broke while the transaction
    was being committed, PostgreSQL is asked whether it was. Raises what scope and write raise, and the database's error
    after patience_s seconds.
    """
    until = clock() + patience_s
    while True:
        transaction_id: str | None = None
        try:
            with scope():
                transaction_id = _transaction_id()
                result = write()
            return result
        except Error as error:
            if not connection_broke(error) or clock() >= until:
                raise
            logger.warning("commit is tried again: %s", error)
            connection.close()
            if transaction_id is not None and _was_committed(transaction_id, until, sleep=sleep, clock=clock):
                return result
            sleep(PAUSE_SECONDS)


def _transaction_id() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text")
        return str(cursor.fetchone()[0])


def _was_committed(
    transaction_id: str, until: float, *, sleep: Callable[[float], None], clock: Callable[[], float]
) -> bool:
    """Wait until PostgreSQL answers and the transaction has ended. Raises the database's error after until."""
    while True:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_xact_status(%s::text::xid8)", [transaction_id])
                status = cursor.fetchone()[0]
        except Error as error:
            # A standby that took over may not know the transaction.
            if not connection_broke(error):
                return False
            if clock() >= until:
                raise
            connection.close()
            status = "in progress"
        if status != "in progress":
            return bool(status == "committed")
        sleep(PAUSE_SECONDS)

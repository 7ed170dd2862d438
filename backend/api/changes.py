"""One connection per API process on which PostgreSQL notifies what has changed, of whichever tenant.

PostgreSQL delivers each notice after the commit, in the order of the commits, and loses none while the connection
lasts. So nothing is looked up at intervals; only the connection itself is tried (ADR 58).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings

logger = logging.getLogger(__name__)

CHANNEL = "ava_changes"
"""Channel of the triggers in the migrations of library and questions."""
RECONNECT_SECONDS = 1.0
TRY_SECONDS = 5.0
"""Time between two trials of the connection, and the longest time that one takes: the peer may be gone silently."""
REMEMBERED_SECONDS = 10.0
"""Time for which changes are kept for whoever begins to listen: a page loads its rows before its stream is open."""
REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Change:
    """A row that was made, changed or deleted. version: grows with each change of a row, microseconds since 1970."""

    tenant_id: UUID
    kind: str
    id: UUID
    version: int
    deleted: bool

    @classmethod
    def read(cls, payload: str) -> Change:
        tenant_id, kind, id, version, operation = payload.split(" ")
        return cls(UUID(tenant_id), kind, UUID(id), int(version), operation == "DELETE")


Hear = Callable[[Change | None], bool]
"""Takes a change of a tenant; None where changes may have been missed. Returns whether it is worth a look."""


@dataclass(frozen=True, eq=False, slots=True)
class _Watch:
    event: asyncio.Event
    hear: Hear | None

    def notice(self, change: Change | None) -> None:
        if self.hear is None or self.hear(change):
            self.event.set()


class Changes:
    """Sets an event when a row, or anything of a tenant, has changed. Used on one event loop.

    After every connection each event is set once, because what happened while there was no connection is unknown.
    """

    def __init__(self) -> None:
        self._watched: dict[UUID, set[_Watch]] = defaultdict(set)
        self._recent: deque[tuple[float, Change]] = deque(maxlen=REMEMBERED)

    @contextmanager
    def of(self, subject: UUID, hear: Hear | None = None) -> Iterator[asyncio.Event]:
        """Return an event that is set whenever the subject may have changed, until the end of the block.

        subject: the id of a row, or of a tenant with hear, which gets each change of the tenant, also those of the last
        seconds.
        """
        watch = _Watch(asyncio.Event(), hear)
        self._watched[subject].add(watch)
        if hear is not None:
            since = time.monotonic() - REMEMBERED_SECONDS
            for at, change in self._recent:
                if at >= since and change.tenant_id == subject:
                    watch.notice(change)
        try:
            yield watch.event
        finally:
            self._watched[subject].discard(watch)
            if not self._watched[subject]:
                del self._watched[subject]

    async def listen(self) -> None:
        """Listen for ever; connect again when the connection is lost."""
        while True:
            with suppress(psycopg.OperationalError, TimeoutError):
                async with await psycopg.AsyncConnection.connect(**_parameters(), autocommit=True) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self._notice_all()
                    while True:
                        async for notice in connection.notifies(timeout=TRY_SECONDS):
                            self._notice(Change.read(notice.payload))
                        async with asyncio.timeout(TRY_SECONDS):
                            await connection.execute("SELECT 1")
            logger.warning("no notices from the database; open replies look less often until it is back")
            await asyncio.sleep(RECONNECT_SECONDS)

    def _notice(self, change: Change) -> None:
        self._recent.append((time.monotonic(), change))
        for subject in (change.id, change.tenant_id):
            for watch in self._watched.get(subject, ()):
                watch.notice(change)

    def _notice_all(self) -> None:
        for watches in self._watched.values():
            for watch in watches:
                watch.notice(None)


def _parameters() -> dict[str, Any]:
    database: dict[str, Any] = settings.LISTEN_DATABASE
    return {
        "host": database["HOST"],
        "port": database["PORT"],
        "dbname": database["NAME"],
        "user": database["USER"],
        "password": database["PASSWORD"],
        **database["OPTIONS"],
        "application_name": "ava-changes",
    }

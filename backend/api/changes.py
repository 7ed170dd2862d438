"""One connection per API process on which PostgreSQL notifies the subjects that have changed."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings

from backend.api.server.awaiting import CHANNEL

logger = logging.getLogger(__name__)

RECONNECT_SECONDS = 1.0


class Changes:
    """Sets an event when a subject has changed. Used on one event loop.

    After every connection each event is set once, because what happened while there was no connection is unknown.
    """

    def __init__(self) -> None:
        self._watched: dict[str, set[asyncio.Event]] = defaultdict(set)

    @contextmanager
    def of(self, subject: UUID) -> Iterator[asyncio.Event]:
        """Return an event that is set whenever the subject may have changed, until the end of the block."""
        event, key = asyncio.Event(), str(subject)
        self._watched[key].add(event)
        try:
            yield event
        finally:
            self._watched[key].discard(event)
            if not self._watched[key]:
                del self._watched[key]

    async def listen(self) -> None:
        """Listen for ever; connect again when the connection is lost."""
        while True:
            with suppress(psycopg.OperationalError):
                async with await psycopg.AsyncConnection.connect(**_parameters(), autocommit=True) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self._set(list(self._watched))
                    async for notice in connection.notifies():
                        self._set([notice.payload])
            logger.warning("no notices from the database; open replies look less often until it is back")
            await asyncio.sleep(RECONNECT_SECONDS)

    def _set(self, keys: list[str]) -> None:
        for key in keys:
            for event in self._watched.get(key, ()):
                event.set()


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

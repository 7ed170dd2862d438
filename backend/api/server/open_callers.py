"""Ends open replies whose caller has ended: its key was revoked or has expired, or its tenant was suspended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from django.db import DatabaseError, close_old_connections

from backend.tenancy.authentication import Principal, ended

logger = logging.getLogger(__name__)

CHECK_SECONDS = 4.0
"""Time between two checks. One statement checks the callers of all open replies of the process."""


class OpenCallers:
    """The callers of open replies. Used on one event loop; a thread of its own asks the database."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "callers")
        self._open: dict[Principal, set[asyncio.Event]] = {}

    @contextmanager
    def of(self, caller: Principal | None) -> Iterator[asyncio.Event]:
        """Return an event that is set when the caller ends, until the end of the block. Nobody never ends."""
        event = asyncio.Event()
        if caller is None:
            yield event
            return
        self._open.setdefault(caller, set()).add(event)
        try:
            yield event
        finally:
            events = self._open[caller]
            events.discard(event)
            if not events:
                del self._open[caller]

    async def watch(self) -> None:
        """Check for ever."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            if not self._open:
                continue
            try:
                over = await asyncio.get_running_loop().run_in_executor(self._thread, _ended, tuple(self._open))
            except DatabaseError:
                logger.warning("open replies are not checked: the database is away", exc_info=True)
                continue
            for caller in over:
                for event in self._open.get(caller, ()):
                    event.set()


def _ended(callers: Collection[Principal]) -> set[Principal]:
    close_old_connections()
    return ended(callers)

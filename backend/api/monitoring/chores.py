"""Small work that the API processes repeat, because it needs a role that workers do not have."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings
from django.db import DatabaseError, connections

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 10.0
"""Time between two rounds of each process. A round of which nothing is due is one statement for each chore."""
Chore = Callable[[], object]
_chores: list[Chore] = []


def register(chore: Chore) -> None:
    """Let a package above this one have work repeated. Several processes of the API may do it at once; the console's
    process, whose role may not, does none."""
    if settings.PROCESS == "api" and chore not in _chores:
        _chores.append(chore)


def registered() -> tuple[Chore, ...]:
    """Return the work that this process repeats."""
    return tuple(_chores)


async def repeat() -> None:
    """Do all chores for ever, on a thread of their own."""
    thread = ThreadPoolExecutor(1, "chores")
    while True:
        await asyncio.sleep(PAUSE_SECONDS)
        await asyncio.get_running_loop().run_in_executor(thread, _round)


def _round() -> None:
    try:
        do_chores()
    except Exception:
        # The next round is done all the same.
        logger.exception("a chore has failed")
    finally:
        # The pause is long, and the server's connections are few.
        connections.close_all()


def do_chores() -> None:
    """Do each chore once. One that the database refuses waits for the next round."""
    for chore in _chores:
        try:
            chore()
        except DatabaseError:
            logger.warning("a chore is not done: the database is away or refuses it", exc_info=True)

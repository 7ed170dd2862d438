"""Refuses to work on a database that does not keep tenants apart: at the start of a process, and while it runs.

A database that cannot be asked is an outage and not a fault: the process waits for it like for any outage, and is
checked as soon as it answers.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable

from django.db import DatabaseError, connections

from backend.tenancy import isolation

logger = logging.getLogger("ava.isolation")

EXIT_CODE = 78
"""Exit code of a process that refuses to start (EX_CONFIG of sysexits.h)."""
CHECK_SECONDS = 30.0
"""Time between two checks. One takes about 20 ms of the catalog (measured on a laptop with 199 tables)."""


def demand(*, using: str = "default") -> None:
    """Exit with EXIT_CODE if tenants are not kept apart; using: the alias that this process works with."""
    if found(using=using):
        raise SystemExit(EXIT_CODE)


def found(*, using: str = "default") -> list[str]:
    """Return the faults, after logging them; an empty list if the database is away."""
    try:
        faults = isolation.faults(using=using)
    except DatabaseError:
        logger.warning("the isolation of tenants cannot be checked, the database is away", exc_info=True)
        connections[using].close()
        return []
    for fault in faults:
        logger.critical("tenants are not kept apart: %s", fault)
    return faults


def _end_process() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


class Watch:
    """Checks the database every CHECK_SECONDS, from a thread with a connection of its own.

    on_fault: called in that thread when faults appear. By default the process is asked to end in order; the next start
    refuses. faulty: whether the latest check found a fault.
    """

    def __init__(
        self,
        *,
        using: str = "default",
        seconds: float = CHECK_SECONDS,
        on_fault: Callable[[], None] = _end_process,
    ) -> None:
        self._using = using
        self._seconds = seconds
        self._on_fault = on_fault
        self.faulty = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="isolation", daemon=True)

    def start(self) -> Watch:
        """Begin to check, after the first CHECK_SECONDS."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End the checks, and wait for one that runs."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopped.wait(self._seconds):
                earlier, self.faulty = self.faulty, bool(found(using=self._using))
                if self.faulty and not earlier:
                    self._on_fault()
        finally:
            connections[self._using].close()

"""The weight of a session on the processors: Linux weighs sessions against each other, and niceness within one only."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_AUTOGROUP = Path("/proc/self/autogroup")
"""Niceness of the session of this process, where the kernel groups processes by session (sched_autogroup)."""


def weigh_session_as_process() -> None:
    """Give the session of this process the niceness of the process, so that it yields to other sessions as well.

    A host or container that groups processes otherwise needs nothing of it.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    if niceness > 0:
        with contextlib.suppress(OSError):
            _AUTOGROUP.write_text(str(niceness))

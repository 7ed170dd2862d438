"""How a command that starts servers ends when it is asked to."""

from __future__ import annotations

import signal
import sys
from types import FrameType

_ASKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def unwind_on_signals() -> None:
    """Let Ctrl-C, SIGTERM and SIGHUP end the program by SystemExit, so that its servers are stopped.

    This also holds for a command in the background, where shells let SIGINT be ignored.
    """
    for number in _ASKED:
        signal.signal(number, _unwind)


def _unwind(number: int, frame: FrameType | None) -> None:
    """Leave with the signal's exit status; a second signal does not interrupt the stops."""
    for each in _ASKED:
        signal.signal(each, lambda *_: print("still stopping", file=sys.stderr, flush=True))
    raise SystemExit(128 + number)

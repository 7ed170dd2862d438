"""The two loops of `ava record`: one reads the camera or the files, one sends; neither waits for the other."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from glob import glob
from pathlib import Path

from ava_cloud.errors import ApiError, AvaError, NotFound
from ava_cloud.recorder.capture import CameraGone, captured, cut_file
from ava_cloud.recorder.pieces import Piece, Spool
from ava_cloud.recorder.sending import Sender

LONGEST_PAUSE_S = 60.0
QUIET_S = 5.0
"""A file that has not changed for so long is finished."""
_LOOK_S = 1.0


def record(source: str, spool: Spool, sender: Sender, seconds: float, say: Callable[[str], None]) -> None:
    """Record until KeyboardInterrupt, or the end of a complete playlist; then send what waits and end the video.

    source: address of a camera or playlist, or the pattern of files that something else writes.
    """
    over = threading.Event()
    sending = threading.Thread(target=_send_on, args=(sender, over, say), name="ava-record-send")
    with spool.owned():
        sending.start()
        try:
            if "://" in source:
                _capture_on(source, spool, seconds, say)
            else:
                _cut_files(source, spool, seconds, say)
        except KeyboardInterrupt:
            say("Stopping: what waits is sent.")
        finally:
            over.set()
            sending.join()
        sender.close()


def _capture_on(address: str, spool: Spool, seconds: float, say: Callable[[str], None]) -> None:
    pause, last_ms = 1.0, None
    while True:
        try:
            for piece, gone in captured(address, spool, seconds):
                if last_ms is not None and piece.recorded_ms - last_ms > 1_000:
                    say(f"A gap of {(piece.recorded_ms - last_ms) / 1000:.1f} s before piece {piece.n}.")
                last_ms, pause = piece.recorded_ms + piece.duration_ms, 1.0
                _say_lost(gone, say)
            say("The playlist is complete.")
            return
        except CameraGone as error:
            say(f"The camera is gone ({error}); again in {pause:.0f} s.")
        time.sleep(pause)
        pause = min(LONGEST_PAUSE_S, pause * 2)


def _cut_files(pattern: str, spool: Spool, seconds: float, say: Callable[[str], None]) -> None:
    """Cut each file of a pattern once it has not changed for some seconds, the oldest first."""
    while True:
        done = spool.read_until()
        found = [Path(name) for name in glob(pattern, recursive=True)]
        waiting = [file for file in found if file.is_file() and done.get(str(file), 0.0) != math.inf]
        for file in sorted(waiting, key=lambda one: one.stat().st_mtime):
            if time.time() - file.stat().st_mtime < QUIET_S:
                continue
            try:
                for _, gone in cut_file(file, spool, seconds, after_s=done.get(str(file), -math.inf)):
                    _say_lost(gone, say)
            except CameraGone as error:
                say(f"This file is left out: {error}")
            spool.note_end(str(file))
        time.sleep(_LOOK_S)


def _say_lost(pieces: list[Piece], say: Callable[[str], None]) -> None:
    for lost in pieces:
        say(f"The spool is full: piece {lost.n} ({lost.duration_ms / 1000:.0f} s) is lost.")


def _send_on(sender: Sender, over: threading.Event, say: Callable[[str], None]) -> None:
    pause = _LOOK_S
    while not over.wait(pause):
        pause = _LOOK_S
        try:
            sender.send_all()
        except (ApiError, AvaError, OSError) as error:
            # A video that was deleted, or a budget that is used up, is for a person to mend; the pieces wait.
            pause = LONGEST_PAUSE_S if isinstance(error, NotFound) else 5.0
            say(f"Sending failed: {error}")

"""The two loops of `ava record`: one reads the camera, one sends; neither waits for the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from ava_cloud.errors import ApiError, AvaError, NotFound
from ava_cloud.recorder.capture import CameraGone, captured
from ava_cloud.recorder.pieces import Spool
from ava_cloud.recorder.sending import Sender

LONGEST_PAUSE_S = 60.0
_LOOK_S = 1.0


def record(address: str, spool: Spool, sender: Sender, seconds: float, say: Callable[[str], None]) -> None:
    """Record until KeyboardInterrupt; then send what waits and end the video."""
    over = threading.Event()
    sending = threading.Thread(target=_send_on, args=(sender, over, say), name="ava-record-send")
    with spool.owned():
        sending.start()
        try:
            _capture_on(address, spool, seconds, say)
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
                for lost in gone:
                    say(f"The spool is full: piece {lost.n} ({lost.duration_ms / 1000:.0f} s) is lost.")
        except CameraGone as error:
            say(f"The camera is gone ({error}); again in {pause:.0f} s.")
        time.sleep(pause)
        pause = min(LONGEST_PAUSE_S, pause * 2)


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

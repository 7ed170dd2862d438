"""The spool: finished pieces of a recording on disk, in order, until the service has them.

A piece is a file `NNNNNNNN.mp4` with a `NNNNNNNN.json` next to it, which says when it was recorded. The JSON is written
last, so a piece without one is not finished and is removed at the next start. `recording.json` names the video that
pieces are appended to, and `files.json` how far the files were cut that a recorder reads in place of a camera.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ava_cloud.errors import AvaError


@dataclass(frozen=True, slots=True)
class Piece:
    """A finished file. recorded_ms: wall clock of its first frame, in milliseconds since 1970. duration_ms: of its
    pictures. file, until_s: file that it was cut from and how far it goes there, if it was cut from one."""

    n: int
    recorded_ms: int
    duration_ms: int
    file: str = ""
    until_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Recording:
    """The video that is being recorded. day: of the place of the camera, as an ISO date."""

    video_id: str
    day: str


class Spool:
    """A folder of one recorder. most: so many finished pieces wait at most; then the oldest goes."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most, self._lock = folder, most, threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Hold the folder. Raises AvaError if another process records into it."""
        with (self._folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise AvaError(f"another process records into {self._folder}") from error
            for file in self._folder.glob("*.mp4"):
                if not file.with_suffix(".json").exists():
                    file.unlink()
            yield

    def path(self, n: int) -> Path:
        return self._folder / f"{n:08}.mp4"

    def next_n(self) -> int:
        """Return the number of the next piece: never one that was used."""
        counter = self._folder / "counter"
        n = int(counter.read_text()) if counter.exists() else 0
        self._write(counter, str(n + 1))
        return n

    def add(self, piece: Piece) -> list[Piece]:
        """Take a finished file. Returns the pieces that had to go for it."""
        self._write(self.path(piece.n).with_suffix(".json"), json.dumps(asdict(piece)))
        self._note(piece)
        waiting = self.waiting()
        lost = waiting[: max(0, len(waiting) - self._most)]
        for each in lost:
            self.remove(each)
        return lost

    def waiting(self) -> list[Piece]:
        """Return the finished pieces, oldest first."""
        pieces = []
        for file in sorted(self._folder.glob("[0-9]" * 8 + ".json")):
            with suppress(FileNotFoundError):  # it has just been sent
                pieces.append(Piece(**json.loads(file.read_text())))
        return pieces

    def remove(self, piece: Piece) -> None:
        """Forget a piece. Its JSON goes first: what is left without one is removed at the next start."""
        self._note(piece)
        self.path(piece.n).with_suffix(".json").unlink(missing_ok=True)
        self.path(piece.n).unlink(missing_ok=True)

    def read_until(self) -> dict[str, float]:
        """Return how far each file was cut, in seconds; math.inf for one that was cut to its end."""
        noted = self._folder / "files.json"
        found: dict[str, float] = json.loads(noted.read_text()) if noted.exists() else {}
        # A crash may have come between a piece and its note.
        for piece in self.waiting():
            if piece.file:
                found[piece.file] = max(found.get(piece.file, 0.0), piece.until_s)
        return found

    def note_end(self, file: str) -> None:
        """Keep that a file was cut to its end."""
        self._note(Piece(0, 0, 0, file, math.inf))

    def _note(self, piece: Piece) -> None:
        if piece.file:
            with self._lock:
                found = self.read_until()
                found[piece.file] = max(found.get(piece.file, 0.0), piece.until_s)
                self._write(self._folder / "files.json", json.dumps(found))

    @property
    def recording(self) -> Recording | None:
        file = self._folder / "recording.json"
        return Recording(**json.loads(file.read_text())) if file.exists() else None

    @recording.setter
    def recording(self, value: Recording) -> None:
        self._write(self._folder / "recording.json", json.dumps(asdict(value)))

    def _write(self, file: Path, text: str) -> None:
        """Replace a file at once, so that a crash leaves the old text or the new one."""
        new = file.with_suffix(".new")
        with new.open("w") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        new.replace(file)

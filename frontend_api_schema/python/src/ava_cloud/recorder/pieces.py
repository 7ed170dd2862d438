"""The spool: finished pieces of a recording on disk, in order, until the service has them.

A piece is a file `NNNNNNNN.mp4` with a `NNNNNNNN.json` next to it, which says when it was recorded. The JSON is written
last, so a piece without one is not finished and is removed at the next start. `recording.json` names the video that
pieces are appended to.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from ava_cloud.errors import AvaError


@dataclass(frozen=True, slots=True)
class Piece:
    """A finished file. recorded_ms: wall clock of its first frame, in milliseconds since 1970. duration_ms: of its
    pictures."""

    n: int
    recorded_ms: int
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Recording:
    """The video that is being recorded. day: of the place of the camera, as an ISO date."""

    video_id: str
    day: str


class Spool:
    """A folder of one recorder. most: so many finished pieces wait at most; then the oldest goes."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
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
        waiting = self.waiting()
        lost = waiting[: max(0, len(waiting) - self._most)]
        for each in lost:
            self.remove(each)
        return lost

    def waiting(self) -> list[Piece]:
        """Return the finished pieces, oldest first."""
        files = sorted(self._folder.glob("[0-9]" * 8 + ".json"))
        return [Piece(**json.loads(file.read_text())) for file in files]

    def remove(self, piece: Piece) -> None:
        """Forget a piece. Its JSON goes first: what is left without one is removed at the next start."""
        self.path(piece.n).with_suffix(".json").unlink(missing_ok=True)
        self.path(piece.n).unlink(missing_ok=True)

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

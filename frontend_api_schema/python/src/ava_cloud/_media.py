"""The file of an upload: its size, its name, and its bytes a block at a time, so that no part is held in memory."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

BLOCK_BYTES = 1 << 20


@dataclass
class MediaFile:
    """An open file. identity: its path, size and time of change; "" for a file object, which may be anything."""

    name: str
    size_bytes: int
    stream: BinaryIO
    identity: str
    _owned: bool
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, file: str | os.PathLike[str] | BinaryIO) -> MediaFile:
        """Open a path, or take a seekable binary file object, which stays open. Raises OSError and ValueError."""
        if isinstance(file, (str, os.PathLike)):
            path = Path(file)
            stream = path.open("rb")
            state = os.fstat(stream.fileno())
            return cls(path.name, state.st_size, stream, f"{path.resolve()} {state.st_size} {state.st_mtime_ns}", True)
        if not file.seekable():
            raise ValueError("an upload needs a seekable file: its parts may be sent again")
        size = file.seek(0, os.SEEK_END)
        name = os.path.basename(str(getattr(file, "name", ""))) or "upload"
        return cls(name, size, file, "", False)

    @property
    def content_type(self) -> str:
        return mimetypes.guess_type(self.name)[0] or "video/mp4"

    def blocks(self, start: int, length: int) -> Iterator[bytes]:
        """Yield the bytes of a part. Raises ValueError if the file has become shorter."""
        at, end = start, start + length
        while at < end:
            with self._lock:
                self.stream.seek(at)
                block = self.stream.read(min(BLOCK_BYTES, end - at))
            if not block:
                raise ValueError(f"{self.name} has become shorter while it was sent")
            at += len(block)
            yield block

    def key(self, request: Mapping[str, Any]) -> str:
        """Return the Idempotency-Key of this file with this request: the same after a restart of the program, so that
        the upload goes on where it was. "" for a file object."""
        if not self.identity:
            return ""
        text = json.dumps([self.identity, request], sort_keys=True, default=str)
        return f"upload-{hashlib.sha256(text.encode()).hexdigest()}"

    def __enter__(self) -> MediaFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._owned:
            self.stream.close()

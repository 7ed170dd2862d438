"""Thumbnails on their way from the observation of a segment to its assembly.

The process that observed a segment usually assembles it a moment later, so it keeps the pictures that it has stored.
"""

from __future__ import annotations

import bisect
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from backend.library.storage import ObjectStorage
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.retrieval.frames import evenly

KEPT_BYTES = 64 * 2**20
"""Maximum bytes of kept pictures in one process: about half an hour of video at one picture a second."""
READS_AT_ONCE = 8


class RecentThumbnails:
    """The last stored pictures by object key; the oldest go first. Safe to share between threads."""

    def __init__(self, limit_bytes: int = KEPT_BYTES) -> None:
        self._limit, self._size = limit_bytes, 0
        self._pictures: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, pictures: Mapping[str, bytes]) -> None:
        with self._lock:
            for key, jpeg in pictures.items():
                self._size -= len(self._pictures.pop(key, b""))
                self._pictures[key] = jpeg
                self._size += len(jpeg)
            while self._size > self._limit:
                _, gone = self._pictures.popitem(last=False)
                self._size -= len(gone)

    def get(self, key: str) -> bytes | None:
        with self._lock:
            return self._pictures.get(key)


RECENT = RecentThumbnails()


class StoredFrames:
    """A FrameSource of the engine over stored frames: from memory if this process stored them, else from S3.

    rows: (ms, object key) of every frame that may be read, in order of time. Safe to share between threads.
    """

    def __init__(
        self, rows: Sequence[tuple[int, str]], storage: ObjectStorage, recent: RecentThumbnails = RECENT
    ) -> None:
        self._rows, self._times = rows, [ms for ms, _ in rows]
        self._storage, self._recent = storage, recent

    def __call__(self, span: Span, limit: int) -> list[tuple[int, bytes]]:
        """Return at most limit (ms, JPEG) spread evenly over span. Raises StorageError."""
        begin, end = (bisect.bisect_left(self._times, ms) for ms in (span.start_ms, span.end_ms))
        rows = [self._rows[begin + index] for index in evenly(end - begin, limit)]
        kept = {key: self._recent.get(key) for _, key in rows}
        missing = [key for key, jpeg in kept.items() if jpeg is None]
        if missing:
            with ThreadPoolExecutor(min(READS_AT_ONCE, len(missing)), "read-thumbnails") as pool:
                kept.update(zip(missing, pool.map(self._storage.get, missing), strict=True))
        return [(ms, jpeg) for ms, key in rows if (jpeg := kept[key]) is not None]

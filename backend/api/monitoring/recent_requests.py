"""The latest requests of the API, for the console: by tenant, key, route, status, latency and id.

They lie in Redis, in streams of a bounded length that are forgotten after KEPT_DAYS, because a row in the database
for each read of a customer would cost more than the read. A request waits for nothing: its line is put into a queue
of its process, and a thread sends the lines. If the queue is full or Redis is away, lines are dropped; the log has
them all. The thread ends before its process does: a daemon thread that the interpreter stops in the middle of a send
leaves the lock of the connection pool taken, and the client's destructor then waits for that lock for ever. A line
holds ids and numbers, and nothing that a customer wrote but the request id.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import queue
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import redis

from backend.api.monitoring import broker

logger = logging.getLogger("ava.requests")

KEPT_DAYS = 7
MOST = 5_000
"""Requests of all tenants that are kept, and as many of those that failed or were slow."""
MOST_OF_TENANT = 200
"""Requests of one tenant that are kept whatever the others do."""
SLOW_MS = 1_000
ALL, FAILED = "ava:requests:all", "ava:requests:failed"
_WAITING = 5_000
_AT_ONCE = 500
_PAUSE_SECONDS = 1.0
_LAST_SECONDS = 10.0
"""A process that ends waits this long for its last lines; a send to a broker that is away takes four seconds."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One request. at: seconds since 1970. route: its pattern. tenant, caller: public ids, "" if nobody was
    authenticated. code: of the problem that was answered."""

    at: float
    request: str
    method: str
    route: str
    status: int
    ms: int
    tenant: str = ""
    caller: str = ""
    code: str = ""

    @property
    def when(self) -> datetime:
        return datetime.fromtimestamp(self.at, UTC)


def stream_of(tenant: str) -> str:
    """Return the stream of one tenant. tenant: its public id."""
    return f"ava:requests:of:{tenant}"


class Recorder:
    """Sends lines to Redis from a thread of its own, which begins with the first line of a process."""

    def __init__(self) -> None:
        self._lines: queue.Queue[Seen | None] = queue.Queue(_WAITING)
        self._lock = threading.Lock()
        self._process = 0
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()

    def note(self, line: Seen) -> None:
        """Take a line; drop it if too many wait."""
        if self._process != os.getpid():
            self._begin()
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            return

    def sent(self) -> None:
        """Wait until all lines so far are sent or dropped."""
        self._lines.join()

    def end(self) -> None:
        """Send what waits and end the thread, in at most _LAST_SECONDS. The recorder takes no line afterwards."""
        if self._thread is None or self._process != os.getpid():
            return
        self._ending.set()
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(_LAST_SECONDS)

    def _begin(self) -> None:
        with self._lock:
            if self._process == os.getpid():
                return
            # A fork has no thread, and the lines that waited are its parent's.
            self._lines = queue.Queue(_WAITING)
            self._thread = threading.Thread(target=self._send_all, name="recent-requests", daemon=True)
            self._thread.start()
            self._process = os.getpid()

    def _send_all(self) -> None:
        lines = self._lines
        while True:
            batch = [lines.get()]
            while len(batch) < _AT_ONCE and not lines.empty():
                batch.append(lines.get_nowait())
            sent = True
            try:
                _send([line for line in batch if line is not None])
            except redis.RedisError as error:
                sent = False
                logger.warning("%d requests are missing among the latest ones: %s", len(batch), type(error).__name__)
                self._ending.wait(_PAUSE_SECONDS)
            finally:
                for _ in batch:
                    lines.task_done()
            if self._ending.is_set() and (not sent or lines.empty()):
                return


RECORDER = Recorder()
atexit.register(RECORDER.end)


@cache
def _sender() -> redis.Redis:
    """Return the client of this process, which keeps its connection between batches and renews a lost one."""
    return broker.connect()


def _send(batch: list[Seen]) -> None:
    with _sender().pipeline(transaction=False) as pipeline:
        streams: set[str] = set()
        for line in batch:
            fields: dict[Any, Any] = {"line": json.dumps(asdict(line), separators=(",", ":"))}
            named = {ALL: MOST}
            if line.status >= 400 or line.ms >= SLOW_MS:
                named[FAILED] = MOST
            if line.tenant:
                named[stream_of(line.tenant)] = MOST_OF_TENANT
            for stream, most in named.items():
                pipeline.xadd(stream, fields, maxlen=most, approximate=True)
            streams |= named.keys()
        for stream in streams:
            pipeline.expire(stream, KEPT_DAYS * 86_400)
        pipeline.execute()


def latest(stream: str = ALL, *, now: float | None = None) -> list[Seen]:
    """Return the requests of a stream that are at most KEPT_DAYS old, the latest first. Raises redis.RedisError."""
    since = (time.time() if now is None else now) - KEPT_DAYS * 86_400
    with broker.connect() as client:
        rows: Any = client.xrevrange(stream, min=round(since * 1000), count=MOST)
    return [Seen(**json.loads(fields[b"line"])) for _, fields in rows]

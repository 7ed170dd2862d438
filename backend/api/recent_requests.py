"""The latest requests of the API, for the console: by tenant, key, route, status, latency and id.

They lie in Redis, in streams of a bounded length that are forgotten after KEPT_DAYS, because a row in the database for
each read of a customer would cost more than the read. A request waits for nothing: its line is put into a queue of its
process, and a thread sends the lines. If the queue is full or Redis is away, lines are dropped; the log has them all.
A line holds ids and numbers, and nothing that a customer wrote but the request id.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import threading
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import redis

from backend.api import broker

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
        self._lines: queue.Queue[Seen] = queue.Queue(_WAITING)
        self._lock = threading.Lock()
        self._process = 0

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

    def _begin(self) -> None:
        with self._lock:
            if self._process == os.getpid():
                return
            # A fork has no thread, and the lines that waited are its parent's.
            self._lines = queue.Queue(_WAITING)
            threading.Thread(target=self._send_all, name="recent-requests", daemon=True, args=(self._lines,)).start()
            self._process = os.getpid()

    def _send_all(self, lines: queue.Queue[Seen]) -> None:
        while True:
            batch = [lines.get()]
            while len(batch) < _AT_ONCE:
                try:
                    batch.append(lines.get_nowait())
                except queue.Empty:
                    break
            try:
                _send(batch)
            except redis.RedisError as error:
                logger.warning("%d requests are missing among the latest ones: %s", len(batch), type(error).__name__)
                time.sleep(_PAUSE_SECONDS)
            finally:
                for _ in batch:
                    lines.task_done()


RECORDER = Recorder()


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

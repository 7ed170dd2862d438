"""What 500 open streams of changes cost everybody else: times of another tenant's lists, and statements."""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg

from bench.abused_service import REQUESTS, AbusedService, abused_service, head_of
from bench.figures import Figure, Figures, at_most, show_progress

STREAMS, TENANTS = 500, 8
ROUNDS = 5
MINUTE_S = 60.0
SLOWER, STATEMENTS = 1.25, 15.0
"""Largest p95 with streams over the p95 without, and statements of an idle stream in a minute."""
RING_S = 5.0
"""Time between two changes of each tenant whose streams ring."""
_RING = """
UPDATE library_video SET version = version
WHERE tenant_id IN (SELECT id FROM tenancy_tenant WHERE slug LIKE 'crowd%')
"""


def figures() -> Figures:
    """Yield the figures of open streams: idle, and rung as by videos that grow."""
    with abused_service() as service:
        service.lists_p95()  # the first requests open connections
        calm = _statements(service)
        with _open_streams(service):
            idle = _statements(service)
        show_progress(f"{calm} statements in a minute without streams, {idle} with {STREAMS}")
        reference = f"{STREAMS} idle streams for a minute, less {calm} statements of a minute without streams"
        yield at_most("web_streams_statements_per_minute", max(0, idle - calm) / STREAMS, STATEMENTS, reference)
        for name, ringing in (("web_streams_list_p95_ratio", False), ("web_streams_rung_list_p95_ratio", True)):
            yield _slowdown(name, service, ringing=ringing)


def _slowdown(name: str, service: AbusedService, *, ringing: bool) -> Figure:
    pairs, noise = [], []
    for number in range(ROUNDS):
        before, again = service.lists_p95(), service.lists_p95()
        with _open_streams(service), _rung(service, ringing):
            loaded = service.lists_p95()
        show_progress(f"{name} {number}: {1000 * before:.1f}, {1000 * again:.1f}, with streams {1000 * loaded:.1f} ms")
        pairs.append(2 * loaded / (before + again))
        noise.append(max(before, again) / min(before, again))
    reference = (
        f"median of {ROUNDS} turns of {REQUESTS} lists, over two without streams, which differ by the factor "
        f"{statistics.median(noise):.2f}"
    )
    return at_most(name, statistics.median(pairs), SLOWER, reference)


@contextmanager
def _open_streams(service: AbusedService) -> Iterator[None]:
    """Keep streams of several tenants open, each tenant at an address of its own."""
    with ExitStack() as opened:
        streams = []
        for number, (key, _) in itertools.islice(itertools.cycle(enumerate(service.crowd[:TENANTS])), STREAMS):
            stream = opened.enter_context(service.connect(source=f"127.0.0.{10 + number}"))
            stream.sendall(f"GET /v1/stream?topics=videos,questions HTTP/1.1\r\n{head_of(key)}\r\n".encode())
            streams.append(stream)
        for stream in streams:
            if b" 200 " not in stream.recv(4_096):
                raise RuntimeError("a stream is refused")
        yield
    time.sleep(2)  # the server forgets them


@contextmanager
def _rung(service: AbusedService, ringing: bool) -> Iterator[None]:
    """Change a video of each tenant again and again, if the streams are to ring."""
    over = threading.Event()

    def ring() -> None:
        with psycopg.connect(service.database, autocommit=True) as superuser:
            while not over.wait(RING_S):
                superuser.execute(_RING)

    thread = threading.Thread(target=ring)
    if ringing:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if ringing:
            thread.join()


def _statements(service: AbusedService) -> int:
    """Return the statements that PostgreSQL runs in a minute, whoever sends them, by its log."""
    with psycopg.connect(service.database, autocommit=True) as superuser:
        superuser.execute("ALTER SYSTEM SET log_statement = 'all'")
        superuser.execute("SELECT pg_reload_conf()")
        time.sleep(1)
        begin = service.postgres_log.stat().st_size
        time.sleep(MINUTE_S)
        with service.postgres_log.open("rb") as log:
            log.seek(begin)
            lines = log.read().splitlines()
        superuser.execute("ALTER SYSTEM RESET log_statement")
        superuser.execute("SELECT pg_reload_conf()")
    return sum(b"LOG:  statement:" in line or b"LOG:  execute" in line for line in lines)

"""What cells cost: the router's share of a request, and the fence's share of a transaction."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import httpx

from bench.figures import Figures, at_least, at_most, side_by_side
from bench.stack import IndexedVideo, database

_REQUESTS = 400
_KEY = f"vk_live_0000000001_{'s' * 38}"


async def cell(scope: Any, receive: Any, send: Any) -> None:
    """Answer 2 kB at once: a cell without work of its own."""
    if scope["type"] == "lifespan":
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": f"{message['type']}.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"x" * 2_000})


@contextmanager
def _served(application: str, port: int, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "uvicorn", application, "--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen(command, env={**os.environ, **environment})
    try:
        for _ in range(600):
            try:
                httpx.get(f"http://127.0.0.1:{port}/healthz")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait()


def _processor_seconds(process: subprocess.Popen[bytes]) -> float:
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def costs() -> Figures:
    """Yield all figures of cells; one database serves both measurements."""
    with database() as video:
        yield from _fence(video)
        yield from _routing()


def _routing() -> Figures:
    """Compare requests through the router with requests to the cell itself, in turns."""
    from backend.tenancy.directory import Directory
    from backend.tenancy.management.commands.provision_directory import provision_directory

    with ExitStack() as stack:
        superuser = os.environ["DATABASE_SUPERUSER_URL"]
        parts = urlsplit(superuser)
        urls = {
            role: urlunsplit(parts._replace(netloc=f"{role}:{role}@{parts.hostname}:{parts.port}", path="/control"))
            for role in ("app_directory", "app_mover")
        }
        provision_directory(superuser, urls)
        with Directory(urls["app_mover"]) as directory:
            tenant = uuid4()
            directory.add_cell("a", "http://127.0.0.1:18461")
            directory.place_tenant(tenant, slug="a", cell="a")
            directory.register_key("0000000001", tenant)
        stack.enter_context(_served("bench.routing:cell", 18461))
        router = stack.enter_context(
            _served("backend.cells.router:application", 18462, DATABASE_CONTROL_URL=urls["app_directory"])
        )
        client = stack.enter_context(httpx.Client(headers={"X-Api-Key": _KEY}))

        def ask(port: int) -> float:
            began = time.perf_counter()
            client.get(f"http://127.0.0.1:{port}/v1/videos").raise_for_status()
            return (time.perf_counter() - began) * 1_000

        for port in (18461, 18462):
            ask(port)
        before = _processor_seconds(router)
        pairs = [(ask(18461), ask(18462)) for _ in range(_REQUESTS)]
        used = _processor_seconds(router) - before
    direct, routed = (statistics.median(side) for side in zip(*pairs, strict=True))
    reference = f"median {direct:.2f} ms to the cell itself, {routed:.2f} ms through the router"
    yield at_most("router_added_ms", routed - direct, 5.0, reference)
    yield at_least("router_per_core_s", _REQUESTS / used, 300.0, f"{used:.2f} s of processor time")


def _fence(video: IndexedVideo) -> Figures:
    """Compare entering a tenant through the fence with setting the tenant alone, each in a transaction."""
    from django.db import connection, transaction

    def transactions(statement: str) -> Callable[[], None]:
        def run() -> None:
            for _ in range(500):
                with transaction.atomic(), connection.cursor() as cursor:
                    cursor.execute(statement, [str(video.tenant_id)])
                    cursor.execute("SELECT count(*) FROM library_video")

        return run

    plain, fenced = side_by_side(
        5,
        transactions("SELECT set_config('app.tenant_id', %s, true)"),
        transactions("SELECT tenancy_enter(%s::uuid)"),
    )
    reference = f"{plain.median * 2:.3f} ms for a transaction that sets the tenant and reads, without the fence"
    yield at_most("scope_with_fence", fenced.median / plain.median, 1.2, reference)

"""What the requests of one tenant or address leave to others: threads, and bytes of bodies."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import override_settings

from backend.api.body_budget import FREE_BYTES, AddressHasTooMany, BodyBudget, ProcessHasTooMany
from backend.api.serving import Server
from backend.tenancy.authentication import Principal

PATIENCE_S = 60
ACME, GLOBEX = uuid4(), uuid4()
MIB = 1024**2


class Application:
    """Answers as the tenant whose name the key begins with; holds the thread of a request for /slow."""

    def __init__(self) -> None:
        self.release = threading.Event()

    def __call__(self, environ: dict[str, Any], start: Any) -> HttpResponse:
        if environ["PATH_INFO"] == "/slow":
            self.release.wait(PATIENCE_S)
        response: Any = HttpResponse(b"ok")
        key = environ["HTTP_AUTHORIZATION"].split()[-1]
        response.caller = Principal(ACME if key.startswith("acme") else GLOBEX, None, frozenset())
        return response


async def status(server: Server, path: str, key: str, address: str, *parts: bytes, more: bool = False) -> int:
    """Send a request and return the status of its reply. more: whether the body goes on after its parts, for ever."""
    coming = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    if not more:
        coming.append({"type": "http.request", "body": b"", "more_body": False})
    statuses: list[int] = []

    async def receive() -> Any:
        return coming.pop(0) if coming else await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "path": path, "query_string": b"",
        "headers": [(b"authorization", f"Bearer {key}".encode())], "client": (address, 5),
    }  # fmt: skip
    await server(scope, receive, send)
    return statuses[0]


@asynccontextmanager
async def running(**settings: int) -> AsyncIterator[tuple[Server, Application]]:
    application = Application()
    with override_settings(**settings):
        server: Any = Server(application)  # type: ignore[arg-type]
    try:
        yield server, application
    finally:
        application.release.set()
        server._threads.shutdown()


async def counted(server: Server, count: int) -> None:
    """Wait until the bodies under way have this number of bytes beyond the free ones."""
    async with asyncio.timeout(PATIENCE_S):
        while server._bodies._total < count:
            await asyncio.sleep(0)


def test_two_keys_of_a_tenant_from_two_addresses_leave_threads_for_others() -> None:
    async def share() -> None:
        async with running(API_THREADS=4) as (server, application):
            callers = [("acme-1", "192.0.2.1"), ("acme-2", "192.0.2.2")]
            for key, address in callers:
                assert await status(server, "/", key, address) == 200
            slow = [asyncio.create_task(status(server, "/slow", *caller)) for caller in callers * 4]
            other = asyncio.create_task(status(server, "/", "globex-1", "192.0.2.3"))
            async with asyncio.timeout(PATIENCE_S / 4):
                assert await other == 200
            assert not any(task.done() for task in slow)
            application.release.set()
            assert await asyncio.gather(*slow) == [200] * 8

    asyncio.run(share())


def test_the_bodies_of_one_address_leave_room_for_others() -> None:
    async def fill() -> None:
        async with running(BODY_BYTES=8 * MIB, BODY_BYTES_PER_ADDRESS=2 * MIB) as (server, _):
            part = b"x" * (MIB + FREE_BYTES)

            def dripped(address: str) -> asyncio.Task[int]:
                return asyncio.create_task(status(server, "/", "acme-1", address, part, more=True))

            held = [dripped("192.0.2.1") for _ in range(2)]
            await counted(server, 2 * MIB)
            assert await status(server, "/", "acme-1", "192.0.2.1", part) == 429
            assert await status(server, "/", "acme-1", "192.0.2.1", b"x" * FREE_BYTES) == 200
            assert await status(server, "/", "globex-1", "192.0.2.2", part) == 200

            held += [dripped(f"192.0.2.{number}") for number in (3, 3, 4, 4, 5, 5)]
            await counted(server, 8 * MIB)
            assert await status(server, "/", "globex-1", "192.0.2.2", part) == 503
            assert await status(server, "/", "globex-1", "192.0.2.2", b"x" * FREE_BYTES) == 200
            assert not any(task.done() for task in held)
            # What has ended counts no longer.
            for task in held:
                task.cancel()
            await asyncio.gather(*held, return_exceptions=True)
            assert await status(server, "/", "acme-1", "192.0.2.1", part) == 200

    asyncio.run(fill())


def test_a_refused_part_of_a_body_does_not_count() -> None:
    budget = BodyBudget(10, 6)
    with budget.body("a") as first, budget.body("b") as second:
        first.grow(FREE_BYTES + 6)
        with pytest.raises(AddressHasTooMany):
            first.grow(1)
        second.grow(FREE_BYTES + 4)
        with pytest.raises(ProcessHasTooMany):
            second.grow(1)
        assert (first.counted, second.counted) == (6, 4)
    with budget.body("b") as third:
        third.grow(FREE_BYTES + 6)

"""What the requests of one tenant or address leave to others: threads, and bytes of bodies."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import override_settings

from backend.api.limits import address_limits
from backend.api.server.body_budget import FREE_BYTES, AddressHasTooMany, BodyBudget, ProcessHasTooMany
from backend.api.server.serving import Server
from backend.tenancy.authentication import Principal

PATIENCE_S = 60
ACME, GLOBEX = uuid4(), uuid4()
LOG_IN = "/accounts/login/"
MIB = 1024**2


class Application:
    """Answers as the tenant whose name the key begins with; holds the thread of a request for /slow or a form with a
    password. It refuses the address of a request for /refused for 30 s."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.asked: list[str] = []

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        path = environ["PATH_INFO"]
        self.asked.append(path)
        if path in ("/slow", LOG_IN):
            self.release.wait(PATIENCE_S)
        response: Any = HttpResponse(b"ok")
        if path == "/refused":
            response.status_code, response.address_waits_s = 429, 30
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


def test_one_password_is_hashed_at_a_time_whoever_sends_it() -> None:
    async def guess() -> None:
        async with running(API_THREADS=8) as (server, application):
            guesses = [
                asyncio.create_task(status(server, LOG_IN, f"acme-{number}", f"192.0.2.{number}"))
                for number in range(6)
            ]
            async with asyncio.timeout(PATIENCE_S / 4):
                for path in ("/", "/accounts/oidc/acme/login/"):
                    assert await status(server, path, "globex-1", "192.0.2.9") == 200
            assert application.asked.count(LOG_IN) == 1
            application.release.set()
            assert await asyncio.gather(*guesses) == [200] * 6

    asyncio.run(guess())


def test_a_refused_address_takes_no_thread_until_it_may_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def flood() -> None:
        async with running() as (server, application):
            assert await status(server, "/refused", "acme-1", "192.0.2.1") == 429
            assert await status(server, "/", "acme-1", "192.0.2.1") == 429
            assert await status(server, "/", "globex-1", "192.0.2.2") == 200
            assert application.asked == ["/refused", "/"]
            later = time.monotonic() + 31
            monkeypatch.setattr(address_limits, "time", SimpleNamespace(monotonic=lambda: later))
            assert await status(server, "/", "acme-1", "192.0.2.1") == 200

    asyncio.run(flood())


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

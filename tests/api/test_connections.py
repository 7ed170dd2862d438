"""Connections whose clients drip, stand still or come in numbers, and threads that one caller cannot take alone."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from django.test import override_settings
from uvicorn import Config
from uvicorn.server import ServerState

from backend.api.server import connections
from backend.api.server.connections import BoundedConnection
from backend.api.server.fair_threads import FairThreads, TooManyRequests

PATIENCE_S = 60
WHOLE = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
BODY = b"x" * 32 * 1024**2


async def replying(scope: Any, receive: Any, send: Any) -> None:
    body = BODY if scope["path"] == "/large" else b"ok"
    length = str(len(body)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def listening(
    *, proxies: str = "127.0.0.9"
) -> AsyncIterator[Callable[..., Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]]:
    """Serve, and yield what opens a connection. proxies: peers that connect for everybody."""
    config = Config(replying, http=BoundedConnection, lifespan="off", log_config=None, forwarded_allow_ips=proxies)
    state = ServerState()
    config.load()
    server = await asyncio.get_running_loop().create_server(
        lambda: BoundedConnection(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    port = server.sockets[0].getsockname()[1]
    try:
        yield partial(asyncio.open_connection, "127.0.0.1", port)
    finally:
        server.close()
        for connection in list(state.connections):
            connection.transport.abort()


async def is_closed(reader: asyncio.StreamReader) -> bool:
    """Read until the server closes the connection; a server that never does fails the test."""
    async with asyncio.timeout(PATIENCE_S):
        try:
            while await reader.read(65_536):
                continue
        except ConnectionError:
            return True
    return True


def test_headers_that_do_not_end_close_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)

    async def drip() -> None:
        async with listening() as connect:
            silent, _ = await connect()
            dripping, to_dripping = await connect()
            to_dripping.write(WHOLE[:-2])
            kept, to_kept = await connect()
            to_kept.write(WHOLE)
            assert b"200 OK" in await kept.readuntil(b"ok")
            to_kept.write(WHOLE[:-2])

            assert await is_closed(silent)
            assert await is_closed(dripping)
            assert await is_closed(kept)

    asyncio.run(drip())


def test_an_idle_connection_is_kept_after_whole_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.05)

    async def pause() -> None:
        async with listening() as connect:
            reader, writer = await connect()
            for _ in range(3):
                writer.write(WHOLE)
                assert b"200 OK" in await reader.readuntil(b"ok")
                await asyncio.sleep(0.1)

    asyncio.run(pause())


def test_a_reader_that_stands_still_loses_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READER_SECONDS", 0.2)

    async def stand_still() -> None:
        async with listening() as connect:
            reader, writer = await connect()
            reader._transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(WHOLE.replace(b" / ", b" /large "))
            await asyncio.sleep(0.5)
            reader._transport.resume_reading()  # type: ignore[attr-defined]
            received = 0
            try:
                while more := await reader.read(65_536):
                    received += len(more)
            except ConnectionError:
                received += 0
            assert received < len(BODY)

            patient, to_patient = await connect()
            to_patient.write(WHOLE.replace(b" / ", b" /large "))
            await patient.readuntil(b"\r\n\r\n")
            assert await patient.readexactly(len(BODY)) == BODY

    asyncio.run(stand_still())


def test_connections_beyond_the_maximum_are_closed_at_once() -> None:
    async def crowd() -> None:
        async with listening() as connect:
            first, to_first = await connect()
            _second = await connect()
            third, _ = await connect()
            assert await is_closed(third)
            to_first.write(WHOLE)
            assert b"200 OK" in await first.readuntil(b"ok")

    with override_settings(API_CONNECTIONS=2):
        asyncio.run(crowd())


@pytest.mark.parametrize("proxies", ["127.0.0.9", "127.0.0.9,127.0.0.1"])
def test_one_address_leaves_connections_for_others(proxies: str) -> None:
    """A trusted proxy connects for everybody, so its connections have no maximum of their own."""
    trusted = "127.0.0.1" in proxies

    async def crowd() -> None:
        async with listening(proxies=proxies) as connect:

            async def is_served(source: str) -> bool:
                reader, writer = await connect(local_addr=(source, 0))
                kept.append(writer)
                try:
                    writer.write(WHOLE)
                    return b"200 OK" in await reader.readuntil(b"ok")
                except (ConnectionError, asyncio.IncompleteReadError):
                    return False

            kept: list[asyncio.StreamWriter] = []
            assert [await is_served("127.0.0.1") for _ in range(4)] == [True, True, trusted, trusted]
            assert [await is_served("127.0.0.2") for _ in range(3)] == [True, True, False]
            # A connection that ends makes room.
            kept[0].close()
            async with asyncio.timeout(PATIENCE_S):
                while not await is_served("127.0.0.1"):
                    continue

    with override_settings(CONNECTIONS_PER_ADDRESS=2):
        asyncio.run(crowd())


def test_a_caller_leaves_threads_for_others() -> None:
    async def share() -> None:
        threads, release, order = FairThreads(4, 100), threading.Event(), []

        def hold() -> None:
            release.wait(PATIENCE_S)

        greedy = [asyncio.create_task(threads.run(hold, ("10.0.0.1", "key a"))) for _ in range(20)]
        same_address = asyncio.create_task(threads.run(lambda: order.append("b"), ("10.0.0.1", "key b")))
        same_key = asyncio.create_task(threads.run(lambda: order.append("c"), ("10.0.0.2", "key a")))
        await asyncio.wait_for(threads.run(lambda: order.append("other"), ("10.0.0.3", "key c")), PATIENCE_S)
        assert order == ["other"]
        assert not any(task.done() for task in [*greedy, same_address, same_key])

        greedy.pop().cancel()  # waits for a thread
        greedy.pop(0).cancel()  # has one, and keeps it until its work is over
        release.set()
        await asyncio.wait_for(asyncio.gather(*greedy, same_address, same_key), PATIENCE_S)
        assert sorted(order) == ["b", "c", "other"]
        assert await threads.run(lambda: 7) == 7
        threads.shutdown()

    asyncio.run(share())


def test_a_caller_has_a_maximum_of_requests_under_way() -> None:
    threads = FairThreads(4, 2)
    with threads.admitted(("10.0.0.1", "key a")), threads.admitted(("10.0.0.1",)):
        with pytest.raises(TooManyRequests), threads.admitted(("10.0.0.1", "key b")):
            pass
        with threads.admitted(("10.0.0.2", "key a")):
            pass
    with threads.admitted(("10.0.0.1",)):
        threads.shutdown()


def test_a_reply_waits_for_no_acknowledgement() -> None:
    async def work() -> int:
        config, state = Config(replying, http=BoundedConnection, lifespan="off", log_config=None), ServerState()
        config.load()
        # The workers of uvicorn share a socket like this one, and asyncio does not know its protocol.
        shared = socket.socket(socket.AF_INET)
        shared.bind(("127.0.0.1", 0))
        server = await asyncio.get_running_loop().create_server(
            lambda: BoundedConnection(config=config, server_state=state, app_state={}), sock=shared
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", shared.getsockname()[1])
        writer.write(WHOLE)
        await reader.readuntil(b"ok")
        (connection,) = state.connections
        taken: socket.socket = connection.transport.get_extra_info("socket")
        found = taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        server.close()
        writer.close()
        connection.transport.abort()
        return found

    assert asyncio.run(work()) == 1

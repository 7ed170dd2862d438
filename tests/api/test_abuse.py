"""What a client without a key, or one key, holds open does not keep others from the API or its probes."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from infra.local import ports
from infra.local.state import State
from tests.api.servers import PATIENCE_S, ServerProcess
from tests.conftest import Cast

LOG_IN = (
    b"POST /console/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken=" + b"a" * 32 + b"\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000\r\n\r\nx="
)
CONNECTIONS, OF_ADDRESS = 100, 80
"""Connections of each process in these tests, and of one address in it."""


@pytest.fixture
def probed(tmp_path: Path, database: None) -> Iterator[tuple[ServerProcess, str]]:
    """A server with few connections, and the URL of its address for probes."""
    port = ports.claim(State(tmp_path), "health")
    settings = {"AVA_HEALTH_ADDRESS": f"127.0.0.1:{port}", "AVA_API_CONNECTIONS": str(CONNECTIONS)}
    settings |= {"AVA_CONNECTIONS_PER_ADDRESS": str(OF_ADDRESS), "FORWARDED_ALLOW_IPS": "127.0.0.9"}
    server = ServerProcess(tmp_path, **settings)
    try:
        server.wait(server.is_ready)
        yield server, f"http://127.0.0.1:{port}"
    finally:
        server.stop()


def asked(url: str, path: str) -> httpx.Response:
    return httpx.get(f"{url}{path}", timeout=PATIENCE_S, trust_env=False)


def test_dripped_bodies_headers_and_slow_readers_stop_nobody(
    probed: tuple[ServerProcess, str], acme: Cast, globex: Cast
) -> None:
    server, probes = probed
    read_nothing = f"GET /v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {acme.key}\r\n\r\n"
    with ExitStack() as opened:
        for begun in (LOG_IN, LOG_IN[:40], read_nothing.encode()):
            for _ in range(20):
                connection = opened.enter_context(socket.socket())
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
                connection.connect(("127.0.0.1", server.port))
                connection.sendall(begun)

        videos = server.get_from("127.0.0.2", "/v1/videos", globex.key)
        assert (videos.status_code, videos.json()["data"]) == (200, [])
        assert server.get_from("127.0.0.2", "/healthz").json() == {"status": "ok"}
        assert server.get_from("127.0.0.2", "/readyz").json()["status"] == "ready"

        # More connections than both processes take together.
        crowd = [opened.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(300)]
        deadline = time.monotonic() + PATIENCE_S
        while not any(is_closed(connection) for connection in crowd):
            assert time.monotonic() < deadline, "no connection was closed"
        # The crowd has one address, and others have room.
        for _ in range(10):
            videos = server.get_from("127.0.0.2", "/v1/videos", globex.key)
            assert (videos.status_code, videos.json()["data"]) == (200, [])
        assert asked(probes, "/healthz").json() == {"status": "ok"}
        assert asked(probes, "/readyz").json()["status"] == "ready"
        assert asked(probes, "/v1/videos").status_code == 404

    server.wait(lambda: server.get("/v1/videos", acme.key).status_code == 200)


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed a connection on which it owes nothing."""
    connection.settimeout(0.01)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True

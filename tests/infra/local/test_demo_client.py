"""The demo's client outlives the end of a connection, and repeats nothing that may have had an effect."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from infra.local.demo.client import Client

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


@contextmanager
def resetting(served: list[str], *, resets: int) -> Iterator[str]:
    """Yield the URL of a server that resets its first connections after it has read a request, then answers."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                served.append(connection.recv(1 << 16).decode().partition(" ")[0])
                if len(served) > resets:
                    connection.sendall(ANSWER)
                else:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def test_a_read_whose_connection_ends_is_sent_again() -> None:
    served: list[str] = []
    with resetting(served, resets=2) as url:
        assert Client(url, "key").call("GET", "/videos") == {}
    assert served == ["GET", "GET", "GET"]


def test_a_write_whose_connection_ends_is_not_repeated() -> None:
    served: list[str] = []
    with resetting(served, resets=1) as url, pytest.raises(httpx.TransportError):
        Client(url, "key").call("POST", "/questions", {})
    assert served == ["POST"]

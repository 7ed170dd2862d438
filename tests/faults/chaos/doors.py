"""A TCP door in front of a server: it passes connections on, refuses them, or lets them hang."""

from __future__ import annotations

import socket
import threading
from enum import Enum
from urllib.parse import urlsplit, urlunsplit

CHUNK = 1 << 16


class Way(Enum):
    OPEN = "open"
    SHUT = "shut"
    HANGING = "hanging"


class Door:
    """Listens on a port of 127.0.0.1 until close(). target: URL of the server behind the door.

    SHUT ends every connection and refuses new ones with a reset. HANGING accepts connections and passes nothing on.
    """

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        assert parts.hostname is not None
        assert parts.port is not None
        self._target = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = urlunsplit(parts._replace(netloc=f"127.0.0.1:{self._listener.getsockname()[1]}"))
        self._way = Way.OPEN
        self._passing = threading.Event()
        self._passing.set()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def turn(self, way: Way) -> None:
        """Let connections pass, refuse them, or hold what they carry."""
        self._way = way
        if way is Way.HANGING:
            self._passing.clear()
            return
        if way is Way.SHUT:
            with self._lock:
                ending = list(self._open)
            for connection in ending:
                _end(connection)
        self._passing.set()  # after the end of its connection, nothing that was held is passed on

    def close(self) -> None:
        self.turn(Way.SHUT)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._way is Way.SHUT:
                _end(client)
                client.close()
                continue
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._target, timeout=5)
        except OSError:
            _end(client)
            client.close()
            return
        server.settimeout(None)
        pair = {client, server}
        with self._lock:
            self._open |= pair
        back = threading.Thread(target=self._pass_on, args=(server, client), daemon=True)
        back.start()
        self._pass_on(client, server)
        back.join()
        with self._lock:
            self._open -= pair
        for connection in pair:
            connection.close()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(CHUNK):
                self._passing.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            _end(source)
            _end(sink)


def _end(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return

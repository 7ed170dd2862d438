"""A way to object storage that holds back one request, as a network does that is slow for a moment."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from urllib.parse import urlsplit


class HeldStorage:
    """Forwards connections to the S3 server. The first request whose head has `held` waits for release()."""

    def __init__(self, server: str, held: bytes) -> None:
        parts = urlsplit(server)
        self._server = (parts.hostname or "", parts.port or 80)
        self._held = held
        self.reached, self._released = threading.Event(), threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> HeldStorage:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()
        self._listener.close()

    def release(self) -> None:
        """Let the held request go on."""
        self._released.set()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            threading.Thread(target=self._forward, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._forward, args=(server, client, False), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, requests: bool) -> None:
        try:
            while data := source.recv(1 << 16):
                if requests and self._held in data:
                    self.reached.set()
                    self._released.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            return  # one side has closed: so does the other

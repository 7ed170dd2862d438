"""A customer's webhook receiver: a real HTTP server that answers by script and keeps what it received."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: str


@dataclass
class ScriptedReceiver:
    """A scripted receiver. replies: (status, headers, body) in turn; 204 when the script is used up."""

    replies: list[tuple[int, dict[str, str], bytes]]
    url: str = ""
    received: list[Received] = field(default_factory=list)

    def reply(self) -> tuple[int, dict[str, str], bytes]:
        return self.replies.pop(0) if self.replies else (204, {}, b"")


@contextmanager
def receiving(*statuses: int, replies: Sequence[tuple[int, dict[str, str], bytes]] = ()) -> Iterator[ScriptedReceiver]:
    script = ScriptedReceiver([*((status, {}, b"said by the receiver") for status in statuses), *replies])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = self.rfile.read(length).decode()
            if len(body.encode()) < length:
                return  # the sender left in the middle of its request
            script.received.append(Received(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            status, headers, content = script.reply()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(b"" if status == 204 else content)

        def log_message(self, *arguments: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def hanging() -> Iterator[tuple[str, list[socket.socket]]]:
    """Accept connections and never answer. Yields the URL and the connections so far."""
    opened: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    opened.append(server.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/hook", opened
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in opened:
                connection.close()

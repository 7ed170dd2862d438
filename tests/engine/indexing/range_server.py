"""A small HTTP server with byte ranges, like an object store, that can break off in the middle.

/moved/NAME redirects to /NAME.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@contextmanager
def serving(folder: Path, *, break_after: int | None = None) -> Iterator[tuple[str, list[int]]]:
    """Yield (URL of folder, bytes sent by each request). break_after: bytes of a body after which the connection
    closes."""
    sent: list[int] = []

    class Ranges(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path.startswith("/moved/"):
                self.send_response(302)
                self.send_header("Location", self.path.removeprefix("/moved"))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            path = folder / self.path.partition("?")[0].lstrip("/")
            if not path.is_file():
                self.send_error(404)
                return
            data = path.read_bytes()
            first, last = 0, len(data) - 1
            asked = self.headers.get("Range", "")
            if asked:
                begin, _, end = asked.removeprefix("bytes=").partition("-")
                first, last = int(begin), min(int(end) if end else last, last)
            body = data[first : last + 1]
            self.send_response(206 if asked else 200)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(len(body)))
            if asked:
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
            self.end_headers()
            part = body if break_after is None else body[:break_after]
            try:
                self.wfile.write(part)
            except OSError:
                return  # the reader has enough
            finally:
                sent.append(len(part))
                self.close_connection = len(part) < len(body)

        def log_message(self, format: str, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Ranges) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", sent
        finally:
            server.shutdown()

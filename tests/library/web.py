"""A customer's web server that hands out recordings by script."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Page:
    """One page. length: whether the response announces the body's length."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    length: bool = True


@dataclass(slots=True)
class ScriptedWeb:
    """The server's script. pages: by path, without the query. asked: the path of every request."""

    pages: dict[str, Page]
    url: str = ""
    asked: list[str] = field(default_factory=list)


@contextmanager
def serving(**pages: Page) -> Iterator[ScriptedWeb]:
    """Serve each page under /<name>.mp4; any other path is 404."""
    web = ScriptedWeb({f"/{name}.mp4": page for name, page in pages.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.asked.append(self.path)
            page = web.pages.get(self.path.partition("?")[0], Page(404))
            self.send_response(page.status)
            for name, value in page.headers:
                self.send_header(name, value)
            if page.length:
                self.send_header("content-length", str(len(page.body)))
            self.end_headers()
            self.wfile.write(page.body)

        def log_message(self, *arguments: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""The customers' webhook receiver: it fails three of ten deliveries at random, and keeps what it was sent."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.faults.chaos.doors import Door

FAILED = 0.3
STATUSES = (503, 500, 429, 302)
"""Answers of a delivery that fails. A redirect is no acceptance either."""


class Receiver:
    """bodies: by webhook id, every body that arrived. accepted: how often each id was answered with 204."""

    def __init__(self, chance: random.Random) -> None:
        self.bodies: dict[str, list[bytes]] = defaultdict(list)
        self.accepted: dict[str, int] = defaultdict(int)
        self._chance, self._lock = chance, threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                self.send_response(receiver.take(self.headers["webhook-id"], body))
                self.send_header("location", receiver.url)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.door = Door(f"http://127.0.0.1:{self._server.server_port}")
        self.url = self.door.url
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, id: str, body: bytes) -> int:
        with self._lock:
            self.bodies[id].append(body)
            if self._chance.random() < FAILED:
                return self._chance.choice(STATUSES)
            self.accepted[id] += 1
            return 204

    def close(self) -> None:
        self.door.close()
        self._server.shutdown()
        self._server.server_close()

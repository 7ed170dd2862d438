"""A customer's webhook receiver: it verifies the signature before it uses anything else of a delivery."""

from __future__ import annotations

import json
import queue
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ava_cloud import webhooks


@dataclass(frozen=True, slots=True)
class Received:
    """One delivery. verified: whether its signature matches the endpoint's secret and its timestamp is recent."""

    id: str
    type: str
    data: dict[str, Any]
    verified: bool


class Receiver:
    """Listens on a free port of 127.0.0.1 until close(). secret is set once the endpoint is registered."""

    def __init__(self) -> None:
        self.secret = ""
        self.received: queue.Queue[Received] = queue.Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                status = receiver.take(dict(self.headers), body)
                self.send_response(status)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing: the demo itself shows deliveries."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hooks"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, headers: dict[str, str], body: bytes) -> int:
        lower = {name.lower(): value for name, value in headers.items()}
        try:
            message, verified = webhooks.unwrap(body, headers, self.secret), True
        except webhooks.InvalidSignature:
            message, verified = json.loads(body), False
        self.received.put(
            Received(lower.get("webhook-id", ""), message.get("type", ""), message.get("data", {}), verified)
        )
        return 204 if verified else 400

    def wait_for(self, type: str, video_id: str, *, timeout_s: float) -> Received | None:
        """Return the first delivery of this type about this video; None after timeout_s. Others are skipped."""
        try:
            while True:
                received = self.received.get(timeout=timeout_s)
                if received.type == type and received.data.get("id") == video_id:
                    return received
        except queue.Empty:
            return None

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

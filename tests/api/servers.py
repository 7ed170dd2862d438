"""A real process group of the API, and clients that speak HTTP/1.1 byte by byte."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from infra.local import ports
from infra.local.app_processes import app_processes
from infra.local.state import State

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE_S = 90
PROCESSES = 2


class Connection:
    """One HTTP/1.1 request whose reply is read as it comes."""

    def __init__(
        self, port: int, method: str, path: str, key: str, body: Any = None, source: str = "127.0.0.1", **headers: str
    ) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S, source_address=(source, 0))
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {key}"]
        lines += [f"Content-Length: {len(content)}", "Content-Type: application/json"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode() + content)
        self.received = b""

    def read_until(self, text: bytes) -> bytes:
        """Read until text has come. Fails if the server closes first."""
        while text not in self.received:
            more = self._socket.recv(65_536)
            assert more, f"the reply ended without {text!r}: {self.received[-500:]!r}"
            self.received += more
        return self.received

    def close(self) -> None:
        self._socket.close()


class ServerProcess:
    """The API with its two processes. settings: environment next to the tests' own."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.port = ports.claim(State(folder), "api")
        self.log = folder / "api.log"
        (api,) = (process for process in app_processes(self.port) if process.name == "api")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                api.arguments, cwd=PROJECT, env=os.environ | settings, stdout=log, stderr=log
            )

    def get(self, path: str, key: str = "", **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        url = f"http://127.0.0.1:{self.port}{path}"
        # Without authorities, whose certificates would be read for each request.
        return httpx.get(url, headers=headers, timeout=PATIENCE_S, trust_env=False, verify=False, **options)

    def wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            assert time.monotonic() < deadline, self.log.read_text()[-3000:]
            time.sleep(0.1)

    def get_from(self, source: str, path: str, key: str = "") -> httpx.Response:
        """Get a path from another address of the loopback network, such as 127.0.0.2."""
        transport = httpx.HTTPTransport(local_address=source)
        with httpx.Client(transport=transport, timeout=PATIENCE_S, trust_env=False) as client:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            return client.get(f"http://127.0.0.1:{self.port}{path}", headers=headers)

    def is_ready(self) -> bool:
        try:
            return self.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def threads(self) -> list[int]:
        """Return the number of threads of each process that serves."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        status = [Path(f"/proc/{child}/status").read_text() for child in children]
        return [int(text.partition("Threads:")[2].split()[0]) for text in status]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE_S)

"""What one tenant, or somebody without a key, does to a service. Each abuse runs for as long as its block."""

from __future__ import annotations

import http.server
import itertools
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx

from bench.abused_service import PATIENCE_S, AbusedService, head_of

DRIP_S = 2.0
STREAMS, WAITS = 500, 50
"""Streams of a crowd of tenants, and requests of one more that wait for their answers."""
_FORM = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000\r\n\r\nx="


@contextmanager
def dripped_bodies(service: AbusedService) -> Iterator[None]:
    """Forty log-in forms without a key, whose bodies come byte by byte."""
    head = f"POST /console/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken={'a' * 32}\r\n{_FORM}"
    with _dripping(service, head, 40):
        yield


@contextmanager
def dripped_headers(service: AbusedService) -> Iterator[None]:
    """Two hundred requests whose headers come byte by byte."""
    with _dripping(service, "GET /v1/videos HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: a", 200):
        yield


@contextmanager
def streams(service: AbusedService) -> Iterator[None]:
    """The largest number of streams that one key may have, of one open question."""
    asked = service.call("POST", "/questions", {"question": "What happens?", "video_ids": [service.video_id]})
    request = f"GET /v1/questions/{asked['id']}/stream HTTP/1.1\r\nAccept: text/event-stream\r\n{service.head}\r\n"
    with ExitStack() as opened:
        for _ in range(64):
            opened.enter_context(service.connect()).sendall(request.encode())
        yield


@contextmanager
def crowds(service: AbusedService) -> Iterator[None]:
    """Eight tenants with 500 open streams, and 50 requests of another that wait for their answers."""
    *streaming, (waiting_key, waiting_video) = service.crowd
    asked = {
        key: service.call("POST", "/questions", {"question": "What?", "video_ids": [video]}, key=key)["id"]
        for key, video in streaming
    }
    with ExitStack() as opened:

        def send(number: int, request: str) -> socket.socket:
            connection = opened.enter_context(service.connect(source=f"127.0.0.{10 + number}"))
            connection.sendall(request.encode())
            return connection

        streams = [
            send(number, f"GET /v1/questions/{question}/stream HTTP/1.1\r\n{head_of(key)}\r\n")
            for number, (key, question) in itertools.islice(itertools.cycle(enumerate(asked.items())), STREAMS)
        ]
        for stream in streams:
            if b" 200 " not in stream.recv(4_096):
                raise RuntimeError("a stream is refused")
        body = json.dumps({"question": "What?", "video_ids": [waiting_video]})
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nPrefer: wait=60\r\n\r\n"
        for _ in range(WAITS):
            send(len(asked), f"POST /v1/questions HTTP/1.1\r\n{head_of(waiting_key)}{kind}{body}")
        deadline = time.monotonic() + PATIENCE_S
        while len(service.call("GET", "/questions?limit=100", None, key=waiting_key)["data"]) < WAITS:
            if time.monotonic() > deadline:
                raise RuntimeError("the questions are not taken")
            time.sleep(0.5)
        yield


@contextmanager
def slow_readers(service: AbusedService) -> Iterator[None]:
    """Forty clients that ask for a large reply and read nothing."""
    with _reading_nothing(service, "/v1/openapi.json"):
        yield


@contextmanager
def slow_results(service: AbusedService) -> Iterator[None]:
    """Forty clients that ask for the results of a batch, which are streamed, and read nothing."""
    with _reading_nothing(service, f"/v1/question-batches/{service.batch_id}/results"):
        yield


@contextmanager
def _reading_nothing(service: AbusedService, path: str) -> Iterator[None]:
    with ExitStack() as opened:
        for _ in range(40):
            reader = opened.enter_context(service.connect(receive_buffer=4_096))
            reader.sendall(f"GET {path} HTTP/1.1\r\n{service.head}\r\n".encode())
        yield


@contextmanager
def dripping_urls(service: AbusedService) -> Iterator[None]:
    """Ten recordings at a server that sends a byte every few seconds."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _DrippingFile)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for number in range(10):
            url = f"http://127.0.0.1:{server.server_port}/{number}.mp4"
            service.call("POST", "/videos", {"source": {"type": "url", "url": url}})
        yield
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def huge_pages(service: AbusedService) -> Iterator[None]:
    """Twenty times a second the largest pages, and limits that are none."""
    paths = ("/v1/videos?limit=100", "/v1/videos?limit=000000001000000", "/v1/usage?group_by=day,meter,video,question")
    turns = itertools.cycle(paths)
    with _repeating(lambda client: client.get(next(turns), headers=service.authorization), service, every_s=0.05):
        yield


@contextmanager
def worst_questions(service: AbusedService) -> Iterator[None]:
    """Twenty times a second an estimate or a question of 4,000 characters, of the kinds that are worst to read."""
    worst = ("how many x" + "!" * 3_000 + "y", "a " * 2_000, " " * 3_999 + "x", "„" * 4_000, "[" * 4_000)
    texts = itertools.cycle(worst)
    paths = itertools.cycle(("/v1/questions:estimate", "/v1/questions:estimate", "/v1/questions"))

    def post(client: httpx.Client) -> None:
        body = {"question": next(texts), "video_ids": [service.video_id]}
        client.post(next(paths), json=body, headers=service.authorization)

    with _repeating(post, service, every_s=0.05):
        yield


@contextmanager
def log_in_floods(service: AbusedService) -> Iterator[None]:
    """Twenty guesses a second at the members' sign-in, each with a valid form."""
    with httpx.Client(base_url=service.url, trust_env=False, timeout=60) as first:
        page = first.get("/accounts/login/")
        (token,) = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[:1]
        cookies = dict(first.cookies)
    form = {"csrfmiddlewaretoken": token, "login": "owner@example.org", "password": "guess"}

    def guess(client: httpx.Client) -> None:
        client.post("/accounts/login/", data=form, cookies=cookies)

    with _repeating(guess, service, every_s=0.05):
        yield


@contextmanager
def slow_providers(service: AbusedService) -> Iterator[None]:
    """Sixteen browsers that sign in again and again by the abuser's identity provider, which drips its replies."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _DrippingFile)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    issuer = f"http://127.0.0.1:{server.server_port}"
    found = service.call("PATCH", "/sign-in-settings", {"oidc_issuer": issuer, "oidc_client_id": "abuser"})
    path = found["oidc_callback_path"].removesuffix("callback/")
    with httpx.Client(base_url=service.url, trust_env=False, timeout=60) as first:
        page = first.get("/accounts/login/")
        (token,) = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[:1]
        cookies = dict(first.cookies)

    def sign_in(client: httpx.Client) -> None:
        client.post(path, data={"csrfmiddlewaretoken": token}, cookies=cookies)

    try:
        # From four addresses, so that the threads of one address do not bound it.
        with ExitStack() as running:
            for number in range(4):
                source = f"127.0.0.{30 + number}"
                running.enter_context(_repeating(sign_in, service, every_s=0.05, source=source))
            yield
    finally:
        server.shutdown()
        server.server_close()


class _DrippingFile(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "9000000")
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(b"\0")
                self.wfile.flush()
                time.sleep(DRIP_S)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@contextmanager
def _dripping(service: AbusedService, head: str, count: int) -> Iterator[None]:
    over = threading.Event()

    def drip() -> None:
        while not over.wait(DRIP_S):
            for number, connection in enumerate(connections):
                try:
                    connection.sendall(b"a")
                except OSError:
                    # The service has closed it, so the abuser begins again.
                    connection.close()
                    connections[number] = begun()

    def begun() -> socket.socket:
        connection = service.connect()
        connection.sendall(head.encode())
        return connection

    connections = [begun() for _ in range(count)]
    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for connection in connections:
            connection.close()


@contextmanager
def _repeating(
    act: Callable[[httpx.Client], object], service: AbusedService, *, every_s: float, source: str = "127.0.0.1"
) -> Iterator[None]:
    over = threading.Event()

    def repeat() -> None:
        transport = httpx.HTTPTransport(local_address=source)
        with httpx.Client(base_url=service.url, transport=transport, timeout=60) as client:
            while not over.wait(4 * every_s):
                act(client)

    threads = [threading.Thread(target=repeat, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


ABUSES = (
    dripped_bodies,
    dripped_headers,
    streams,
    crowds,
    slow_readers,
    slow_results,
    dripping_urls,
    huge_pages,
    worst_questions,
    log_in_floods,
    slow_providers,
)
"""All abuses."""

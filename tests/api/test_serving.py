"""The API's server process under open streams and waiting requests: what holds no thread cannot take it down."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import psycopg
import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

from backend.api import public_ids
from backend.api.server import asgi_requests, serving
from backend.questions.models import Question
from tests.api.servers import PATIENCE_S, PROCESSES, Connection, ServerProcess
from tests.conftest import Cast, make_tenant
from tests.factories import make_video
from tests.questions.world import ask, finish


def stream(server: ServerProcess, cast: Cast, question_id: Any, source: str = "127.0.0.1") -> Connection:
    path = f"/v1/questions/{public_ids.encode('qst', question_id)}/stream"
    return Connection(server.port, "GET", path, cast.key, source=source, Accept="text/event-stream")


def wait(server: ServerProcess, cast: Cast, video_id: Any, source: str) -> Connection:
    body = {"question": "Which car?", "video_ids": [public_ids.encode("vid", video_id)]}
    return Connection(server.port, "POST", "/v1/questions", cast.key, body, source=source, Prefer="wait=60")


def connections_of_the_api() -> int:
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as superuser:
        (row,) = superuser.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND application_name LIKE 'ava%%'",
            [settings.DATABASES["default"]["NAME"]],
        ).fetchall()
    return int(row[0])


def test_the_garbage_collector_passes_over_what_is_loaded_at_the_start() -> None:
    gc.unfreeze()

    serving.keep_what_is_loaded()

    assert gc.get_freeze_count() > 100_000
    assert len(gc.get_objects()) < 10_000


@pytest.mark.long
def test_500_open_streams_and_50_waits_take_no_thread_from_others(server: ServerProcess, globex: Cast) -> None:
    from django.db import connections

    tenants = [make_tenant(f"streaming{number}") for number in range(8)]
    asked = [ask(tenant) for tenant in tenants]
    initech = make_tenant("initech")
    with initech.scope():
        waited_video = make_video(indexed_until_ms=30_000).id
    connections.close_all()
    with ExitStack() as opened:

        def keep(connection: Connection) -> Connection:
            opened.callback(connection.close)
            return connection

        def open_streams(number: int, count: int) -> list[Connection]:
            question, source = asked[number][0], f"127.0.0.{10 + number}"
            return [keep(stream(server, tenants[number], question, source)) for _ in range(count)]

        streams = [open_streams(number, 64 if number else 52) for number in range(8)]
        assert sum(map(len, streams)) == 500
        waits = [keep(wait(server, initech, waited_video, "127.0.0.3")) for _ in range(50)]
        for connection in itertools.chain(*streams):
            assert b" 200 " in connection.read_until(b"event: progress")

        def all_asked() -> bool:
            with initech.scope():
                return Question.objects.count() == 50

        server.wait(all_asked)

        # Each process has its threads for requests and seven others: main, isolation, metrics, chores, readyz, callers
        # and recent-requests.
        assert all(count <= settings.API_THREADS + 7 for count in server.threads()), server.threads()
        assert server.get("/healthz").json() == {"status": "ok"}
        assert server.get("/readyz").json()["status"] == "ready"
        assert server.get("/v1/videos", globex.key).status_code == 200
        refused = server.get(f"/v1/questions/{public_ids.encode('qst', asked[1][0])}/stream", tenants[1].key)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_open_streams")
        assert refused.headers["Retry-After"] == "1"
        # Two connections per thread and for /readyz, and one per process for notices.
        assert connections_of_the_api() - len(connections.all(initialized_only=True)) <= PROCESSES * (
            2 * settings.API_THREADS + 3
        )

        finish(tenants[1], *asked[1])
        for connection in streams[1]:
            assert b"a red car" in connection.read_until(b"event: answer")
        with initech.scope():
            for question in Question.objects.all():
                finish(initech, question.id, waited_video)
        for connection in waits:
            reply = connection.read_until(b'"answer":"a red car"')
            assert b"HTTP/1.1 200 " in reply
            assert b"preference-applied: wait=60" in reply

    def may_open_again() -> bool:
        again = stream(server, tenants[1], asked[1][0])
        try:
            return b"HTTP/1.1 200 " in again.read_until(b"\r\n\r\n")
        finally:
            again.close()

    server.wait(may_open_again)


@pytest.mark.long
def test_a_client_that_leaves_counts_no_more(server: ServerProcess, acme: Cast) -> None:
    asked, _ = ask(acme)
    for _ in range(2):
        streams = [stream(server, acme, asked) for _ in range(64)]
        for connection in streams:
            connection.read_until(b"event: progress")
            connection.close()

        def none_is_open() -> bool:
            import redis

            with redis.Redis.from_url(settings.REDIS_URL) as broker:
                return broker.zcard(f"open:{acme.tenant_id}") == 0

        server.wait(none_is_open)


def test_replies_are_as_django_writes_them(server: ServerProcess, acme: Cast) -> None:
    url = f"http://127.0.0.1:{server.port}"
    with httpx.Client(base_url=url, timeout=PATIENCE_S, trust_env=False) as client:
        client.headers["Authorization"] = f"Bearer {acme.key}"
        named = client.get("/v1/videos", headers={"X-Request-Id": "mine.1"})
        assert (named.status_code, named.headers["X-Request-Id"]) == (200, "mine.1")
        json_body = {"Content-Type": "application/json"}
        too_large = client.post("/v1/videos", content=b"x" * (2 * 1024**2 + 1), headers=json_body)
        assert (too_large.status_code, too_large.json()["code"]) == (413, "body_too_large")

        def pieces() -> Iterator[bytes]:
            for _ in range(33):
                yield b"x" * 65_536

        chunked = client.post("/v1/videos", content=pieces(), headers=json_body)
        assert (chunked.status_code, chunked.json()["code"]) == (413, "body_too_large")
        spoofed = client.get("/v1/videos?limit=1", headers={"X_Request_Id": "spoofed"})
        assert spoofed.headers["X-Request-Id"].startswith("req_")
        login = client.get("/accounts/login/", follow_redirects=True)
        assert "ava_csrf" in login.headers["Set-Cookie"]
        style = client.get("/static/admin/css/base.css", headers={"Accept-Encoding": "identity"})
        assert (style.status_code, style.headers["Content-Type"]) == (200, 'text/css; charset="utf-8"')
        assert int(style.headers["Content-Length"]) == len(style.content) > 0
        compressed = client.get("/static/admin/css/base.css", headers={"Accept-Encoding": "gzip"})
        assert (compressed.headers["Content-Encoding"], compressed.content) == ("gzip", style.content)
        assert client.head("/healthz").content == b""


def test_a_real_stream_is_logged_to_its_end(server: ServerProcess, acme: Cast) -> None:
    asked, video_id = ask(acme)
    path = f"/v1/questions/{public_ids.encode('qst', asked)}/stream"
    stream = Connection(server.port, "GET", path, acme.key, **{"X-Request-Id": "mine.2", "Accept": "text/event-stream"})
    stream.read_until(b"event: progress")
    finish(acme, asked, video_id)
    stream.read_until(b"event: answer")
    stream.read_until(b"0\r\n\r\n")
    stream.close()

    def ended() -> list[str]:
        lines = server.log.read_text().splitlines()
        return [line for line in lines if "an open reply ended" in line and "mine.2" in line]

    server.wait(lambda: bool(ended()))
    for field in ("/v1/questions/<str:question_id>/stream", public_ids.encode("tnt", acme.tenant_id)):
        assert field in ended()[0]


def test_a_body_that_does_not_end_is_answered_with_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi_requests, "BODY_SECONDS", 0.05)
    parts = [{"type": "http.request", "body": b"{", "more_body": True}]
    sent: list[Any] = []

    async def receive() -> Any:
        if parts:
            return parts.pop()
        return await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        sent.append(message)

    async def request() -> None:
        scope = {"type": "http", "method": "POST", "path": "/v1/questions", "headers": [(b"content-length", b"9")]}
        await serving.Server(WSGIHandler())(scope, receive, send)

    asyncio.run(request())
    assert [message.get("status") for message in sent] == [408, None]


def test_a_stream_ends_when_the_server_is_asked_to_stop(server: ServerProcess, acme: Cast) -> None:
    asked, _ = ask(acme)
    open_stream = stream(server, acme, asked)
    open_stream.read_until(b"event: progress")
    server.process.send_signal(signal.SIGTERM)
    # The last chunk of a reply that ended in order.
    open_stream.read_until(b"0\r\n\r\n")
    assert server.process.wait(timeout=PATIENCE_S) == 0
    open_stream.close()

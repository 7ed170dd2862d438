"""The page of the latest API requests: what it shows, to whom, how much is kept, and that no request waits for it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from django.conf import settings
from django.test import Client

from backend.api.monitoring import broker, recent_requests
from backend.api.monitoring.recent_requests import ALL, FAILED, KEPT_DAYS, MOST, RECORDER, Recorder, Seen
from backend.api.public_ids import encode
from tests.conftest import Cast
from tests.console.signing_in import appointed, the_api


def forget_requests() -> None:
    RECORDER.sent()
    with redis.Redis.from_url(settings.REDIS_URL) as server:
        server.delete(*server.keys("ava:requests:*") or ["none"])


@pytest.fixture(autouse=True)
def _none_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # On a busy machine any request is slow.
    monkeypatch.setattr(recent_requests, "SLOW_MS", 10_000_000)
    forget_requests()
    yield
    forget_requests()


def asked(cast: Cast) -> None:
    """Send four requests of a tenant, one of them refused, and one without a key."""
    with the_api():
        cast.client.get("/v1/videos", headers={"X-Request-Id": "req_list"})
        cast.client.get("/v1/videos/vid_none", headers={"X-Request-Id": "req_missing"})
        cast.client.post("/v1/questions", {}, headers={"X-Request-Id": "req_refused"})
        Client().get("/v1/videos", headers={"X-Request-Id": "req_nobody"})
        Client().get("/healthz")
    RECORDER.sent()


def page(browser: Client, **query: Any) -> str:
    reply = browser.get("/console/requests/", query)
    assert reply.status_code == 200
    return reply.content.decode()


def shown(text: str) -> list[str]:
    """Return the ids of the requests that a page lists."""
    return [name for name in ("req_list", "req_missing", "req_refused", "req_nobody") if f">{name}</a>" in text]


def test_requests_are_found_by_tenant_key_route_status_and_latency(acme: Cast, globex: Cast, staff: Client) -> None:
    asked(acme)
    key = encode("key", acme.key_id)
    everything = page(staff)
    assert shown(everything) == ["req_list", "req_missing", "req_refused", "req_nobody"]
    for word in ("Acme", key, "GET /v1/videos", "not_found", "not_authenticated", "p95 ms"):
        assert word in everything, word
    assert "/healthz" not in everything
    for query, found in (
        ({"tenant": encode("tnt", acme.tenant_id)}, ["req_list", "req_missing", "req_refused"]),
        ({"tenant": encode("tnt", globex.tenant_id)}, []),
        ({"tenant": "somebody"}, []),
        ({"caller": key}, ["req_list", "req_missing", "req_refused"]),
        ({"route": "Questions"}, ["req_refused"]),
        ({"status": "4"}, ["req_missing", "req_refused", "req_nobody"]),
        ({"status": "401"}, ["req_nobody"]),
        ({"request": "req_list"}, ["req_list"]),
        ({"which": "failed"}, ["req_missing", "req_refused", "req_nobody"]),
        ({"least_ms": "10000000"}, []),
    ):
        assert shown(page(staff, **query)) == found, query
    assert "No request of the latest ones matches." in page(staff, request="req_none")
    assert 'role="alert"' in page(staff, status="nine")


def test_a_request_id_opens_its_request(acme: Cast, staff: Client) -> None:
    asked(acme)
    found = staff.get("/console/find/", {"q": "req_missing"})
    assert found.status_code == 302
    assert shown(staff.get(found.headers["Location"]).content.decode()) == ["req_missing"]
    assert "Nothing that you may open" in staff.get("/console/find/", {"q": "req_unknown"}).content.decode()


@pytest.mark.parametrize(("role", "status"), [("operator", 200), ("support", 200), ("finance", 403)])
def test_those_who_do_the_work_see_the_page(acme: Cast, role: str, status: int) -> None:
    browser = appointed(role)
    assert browser.get("/console/requests/").status_code == status
    linked = 'href="/console/requests/"' in browser.get("/console/").content.decode()
    assert linked == (status == 200)
    assert browser.post("/console/requests/").status_code in (403, 405)


def line(n: int, **more: Any) -> Seen:
    return Seen(
        **{"at": time.time(), "request": f"r{n}", "method": "GET", "route": "/v1/x", "status": 200, "ms": n, **more}
    )


def test_what_is_kept_is_bounded_and_forgotten(acme: Cast, globex: Cast) -> None:
    mine, theirs = encode("tnt", acme.tenant_id), encode("tnt", globex.tenant_id)
    recent_requests._send([line(0, tenant=mine, status=500)])
    for start in range(0, MOST + 2_000, 1_000):
        recent_requests._send([line(0, tenant=theirs) for _ in range(start, start + 1_000)])
    with redis.Redis.from_url(settings.REDIS_URL) as server:
        # Redis cuts whole nodes of a stream, so a few more may be left.
        assert server.xlen(ALL) <= MOST + 200
        assert server.xlen(recent_requests.stream_of(theirs)) <= recent_requests.MOST_OF_TENANT + 200
        assert 0 < server.ttl(ALL) <= KEPT_DAYS * 86_400
    # A busy tenant pushes out neither another tenant's requests nor those that failed.
    assert [one.tenant for one in recent_requests.latest(recent_requests.stream_of(mine))] == [mine]
    assert [one.status for one in recent_requests.latest(FAILED)] == [500]
    assert recent_requests.latest(FAILED, now=time.time() + (KEPT_DAYS + 1) * 86_400) == []


def test_a_full_queue_drops_lines_and_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    going, go = threading.Event(), threading.Event()

    def stuck(batch: list[Seen]) -> None:
        going.set()
        go.wait(60)

    monkeypatch.setattr(recent_requests, "_send", stuck)
    recorder = Recorder()
    recorder.note(line(0))
    assert going.wait(60)
    for n in range(2 * recent_requests._WAITING):
        recorder.note(line(n))
    assert recorder._lines.qsize() == recent_requests._WAITING
    go.set()
    recorder.sent()


_LAST_LINE = """
import django
django.setup()
from backend.api.monitoring.recent_requests import RECORDER, Seen
RECORDER.note(Seen(at=1.0, request="req_last", method="GET", route="/v1/videos", status=200, ms=1))
"""


def test_a_process_that_ends_sends_its_last_lines_and_leaves_no_lock_taken() -> None:
    for _ in range(2):
        subprocess.run([sys.executable, "-c", _LAST_LINE], check=True, timeout=120)
    with broker.connect() as client:
        rows: Any = client.xrange(ALL)
    assert sum(b"req_last" in fields[b"line"] for _, fields in rows) == 2


def test_a_recorder_ends_although_the_broker_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_requests, "_sender", away)
    monkeypatch.setattr(recent_requests, "_PAUSE_SECONDS", 3_600)
    recorder = Recorder()
    for n in range(2_000):
        recorder.note(line(n))
    recorder.end()
    assert recorder._thread is not None
    assert not recorder._thread.is_alive()


def away() -> redis.Redis:
    return redis.Redis.from_url("redis://127.0.0.1:9/0")


def test_without_the_broker_requests_are_answered_and_the_page_says_so(
    acme: Cast, staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "connect", away)
    monkeypatch.setattr(recent_requests, "_sender", away)
    monkeypatch.setattr(recent_requests, "_PAUSE_SECONDS", 0)
    with the_api():
        assert acme.client.get("/v1/videos").status_code == 200
    RECORDER.sent()
    assert "The broker that keeps the requests is away" in page(staff)
    assert staff.get("/console/find/", {"q": "req_list"}).status_code == 200


def test_a_line_holds_no_content(acme: Cast) -> None:
    with the_api():
        acme.client.get("/v1/videos?external_id=secret-name", headers={"X-Request-Id": "req_secret"})
    RECORDER.sent()
    (seen,) = recent_requests.latest()
    assert "secret-name" not in json.dumps([str(seen)])
    assert (seen.route, seen.tenant) == ("/v1/videos", encode("tnt", acme.tenant_id))

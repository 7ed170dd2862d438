"""What is refused or answered on the event loop looks and is logged like a reply of Django, and so are open replies."""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.test import override_settings
from rest_framework.test import APIClient

from backend.api import middleware
from backend.api.browsers import API_POLICY
from backend.api.limits import rate_limits
from backend.api.server import asgi_requests, serving
from backend.api.server.awaiting import EventStream
from backend.api.server.open_replies import OpenReply
from tests.conftest import Cast

HSTS = "max-age=31536000"
PATH = "/v1/questions/qst_1/stream"


def answer(application: Any, *, path: str = PATH, method: str = "GET", body_comes: bool = True) -> Any:
    """Return the status and the headers that the server sends for one request."""
    sent: list[Any] = []

    async def receive() -> Any:
        if body_comes and not sent:
            return {"type": "http.request", "body": b""}
        return await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        sent.append(message)

    async def request() -> None:
        await serving.Server(application)(
            {
                "type": "http",
                "http_version": "1.1",
                "method": method,
                "path": path,
                "query_string": b"",
                "headers": [(b"x-request-id", b"mine.1"), (b"x-api-key", b"k")],
                "client": ("203.0.113.9", 5),
            },
            receive,
            send,
        )

    asyncio.run(request())
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def assert_safe_for_browsers(headers: Any) -> None:
    assert headers["cache-control"] == "no-store"
    assert headers["content-security-policy"] == API_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["strict-transport-security"] == HSTS


@override_settings(SECURE_HSTS_SECONDS=31_536_000)
def test_a_refusal_before_django_has_an_id_the_headers_and_a_line(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi_requests, "BODY_SECONDS", 0.05)
    status, headers = answer(WSGIHandler(), method="POST", body_comes=False)

    assert (status, headers["x-request-id"]) == (408, "mine.1")
    assert_safe_for_browsers(headers)
    (line,) = [line for line in lines() if line["logger"] == "ava.requests"]
    route = "/v1/questions/<str:question_id>/stream"
    assert line["message"] == f"POST {route} 408 for 203.0.113.9"
    assert (line["request"], line["route"], line["status"], line["reason"]) == ("mine.1", route, 408, "body_too_slow")
    assert "qst_1" not in str(lines())


@override_settings(SECURE_HSTS_SECONDS=31_536_000)
def test_a_caller_with_too_many_requests_is_refused_with_an_id_and_a_line(lines: Any) -> None:
    with override_settings(REQUESTS_PER_CALLER=0):
        status, headers = answer(WSGIHandler(), path="/nowhere")
    assert (status, headers["x-request-id"], headers["retry-after"]) == (429, "mine.1", "1")
    assert_safe_for_browsers(headers)
    assert [(line["request"], line["route"], line["reason"]) for line in lines()] == [
        ("mine.1", "unmatched", "too_many_requests")
    ]


@override_settings(SECURE_HSTS_SECONDS=31_536_000)
def test_probes_have_the_headers(database: None) -> None:
    for path, method, status in (("/healthz", "GET", 200), ("/readyz", "GET", 200), ("/healthz", "POST", 405)):
        found, headers = answer(WSGIHandler(), path=path, method=method)
        assert found == status, path
        assert_safe_for_browsers(headers)


@pytest.mark.parametrize("refusal", ["by address", "preflight", "unavailable"])
def test_early_replies_of_the_middlewares_have_the_headers(
    acme: Cast, monkeypatch: pytest.MonkeyPatch, refusal: str
) -> None:
    headers, address = {}, f"198.51.100.{len(refusal)}"
    if refusal == "by address":
        rate_limits.take_from(f"address:{address}", settings.ADDRESS_RATE_PER_MINUTE, cost=10**9)
    elif refusal == "preflight":
        headers = {"Origin": "https://app.example.com", "Access-Control-Request-Method": "GET"}
    else:
        monkeypatch.setattr(middleware.WATCH, "faulty", True)
    with override_settings(SECURE_HSTS_SECONDS=31_536_000, ALLOWED_HOSTS=["*"]):
        # A handler of its own: the middleware reads its settings once.
        client = APIClient(REMOTE_ADDR=address)
        send = client.options if refusal == "preflight" else client.get
        reply = send("/v1/videos", headers=headers, secure=True)

    assert reply.status_code == {"by address": 429, "preflight": 204, "unavailable": 503}[refusal]
    assert_safe_for_browsers({name.lower(): value for name, value in reply.headers.items()})
    assert reply.headers["X-Request-Id"].startswith("req_")


class ScriptedSubject:
    """A subject that is over at the first look, which writes a line or fails."""

    seconds = 5.0

    def __init__(self, failure: Exception | None = None) -> None:
        self.subject: UUID = uuid4()
        self.over = False
        self._failure = failure

    def look(self) -> bytes:
        logging.getLogger("looked").warning("a look")
        if self._failure is not None:
            raise self._failure
        self.over = True
        return b"data: x"


FIELDS = {"request": "mine.1", "route": "/v1/x", "tenant": "tnt_1"}


def stream_of(subject: ScriptedSubject) -> Any:
    def application(environ: Any, start: Any) -> Any:
        response = EventStream(subject, OpenReply(uuid4()))
        response.log_fields = FIELDS  # type: ignore[attr-defined]
        return response

    return application


def test_lines_of_an_open_reply_carry_request_route_and_tenant(lines: Any) -> None:
    answer(stream_of(ScriptedSubject()))
    assert {line["logger"]: {name: line.get(name) for name in FIELDS} for line in lines()} == {
        "looked": FIELDS,
        "backend.api.server.serving": FIELDS,
    }


def test_a_reply_that_breaks_off_is_logged_with_its_request(lines: Any) -> None:
    with pytest.raises(RuntimeError):
        answer(stream_of(ScriptedSubject(RuntimeError("broken"))))
    (line,) = [line for line in lines() if line["logger"] == "backend.api.server.serving"]
    assert (line["message"], line["level"]) == ("an open reply broke off", "ERROR")
    assert {name: line.get(name) for name in FIELDS} == FIELDS

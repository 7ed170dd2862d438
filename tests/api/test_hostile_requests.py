"""Requests that no client of ours would send are refused with 4xx, never answered with 5xx."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler

from backend.api.server.asgi_requests import address_of, environ_of, key_digest_of
from tests.conftest import Cast

DEEP = "[" * 100_000 + "]" * 100_000
QUERIES = [
    "questions?external_id=%00",
    "question-batches?external_id=%00",
    "sessions?external_id=%00",
    "videos?external_id=%00",
    "webhook-deliveries?event_type=%00",
    "usage/events?meter=%00",
    "usage/events?model=%00",
    "usage?to=0001-01-02",
    "usage?to=0001-01-01T00:00:00%2B14:00",
    "usage?from=9999-12-31T23:59:59-14:00",
    "usage?from=0001-01-01&to=0001-02-01",
    "usage?to=9999-12-31",
    "usage?to=9998-12-31T23:59:59-14:00",
    "usage?group_by=%00",
    "videos?cursor=%00",
    "videos?cursor=WyJpZCIsICJcdTAwMDAiXQ",
    "videos?status=%ff%fe",
    "videos/%00",
    "questions/%ff?include=%00",
    "videos?collection_id=col_%00",
]
BODIES: list[tuple[str, Any]] = [
    ("uploads", {"filename": "a", "size_bytes": 1, "content_type": "vidéo/視"}),
    ("uploads", {"filename": "a\0", "size_bytes": 1, "content_type": "video/mp4"}),
    ("uploads", {"filename": "a", "size_bytes": 10**30, "content_type": "video/mp4"}),
    ("uploads", {"filename": "a", "size_bytes": 1, "content_type": "video/mp4", "metadata": {"a\0": "b"}}),
    ("uploads", {"filename": "a", "size_bytes": 1, "content_type": "video/mp4", "metadata": {"a": "b\0"}}),
    ("uploads", {"filename": "a", "size_bytes": 1, "content_type": "video/mp4", "metadata": {"a\ud800": "b"}}),
    ("uploads", {"filename": "a\ud800", "size_bytes": 1, "content_type": "video/mp4"}),
    ("uploads", {"\ud800": 1}),
    ("uploads", {"filename": "a", "size_bytes": 1, "content_type": "video/mp4", "recorded_at": "0001-01-01T00:00:00"}),
    ("collections", {"name": "\0"}),
    ("collections", {"name": "\ud800"}),
    ("questions", {"question": "Who?", "video_ids": ["vid_\0"]}),
    ("questions", {"question": "Who?\0"}),
    ("questions", {"question": "Who?", "metadata": {"a": {"b": 1}}}),
    ("search", {"query": "\0"}),
    ("search", {"query": "Who?", "limit": 10**30}),
    ("search", {"query": "Who?", "limit": 1e300}),
    ("api-keys", {"name": "a", "scopes": ["videos:read"], "expires_at": "9999-12-31T23:59:59-14:00"}),
    ("api-keys", {"name": "a", "scopes": ["videos:read"], "expires_at": "0001-01-01T00:00:00+14:00"}),
    ("api-keys", {"name": "a", "scopes": ["\0"]}),
    ("webhook-endpoints", {"url": "https://example.com/\0"}),
    ("webhook-endpoints", {"url": "https://exa\ud800mple.com/"}),
    ("webhook-endpoints", {"url": "https://" + "a" * 300 + ".example/"}),
    ("webhook-endpoints", {"url": "https://[::1"}),
    ("webhook-endpoints", {"url": "https://example.com:٣/"}),
    ("videos", {"source": {"type": "url", "url": "https://example.com/\ud800"}}),
    ("uploads", []),
    ("uploads", None),
    ("uploads", 1),
]
RAW: list[tuple[bytes, str]] = [
    (DEEP.encode(), "application/json"),
    (b'{"filename": NaN}', "application/json"),
    (b'{"size_bytes": 1e999}', "application/json"),
    (b'{"size_bytes": ' + b"9" * 5_000 + b"}", "application/json"),
    (b"\xff\xfe{}", "application/json"),
    (b"{}", "application/json; charset=utf-16"),
    (b"{}", "vidéo/視"),
    (b"{}", "multipart/form-data"),
]


@pytest.mark.parametrize("path", QUERIES)
def test_a_query_that_makes_no_sense_is_refused(acme: Cast, path: str) -> None:
    response = acme.client.get(f"/v1/{path}")

    assert response.status_code in ({200} if path.startswith("usage?to=9998") else {400, 404}), response.content


@pytest.mark.parametrize(("path", "body"), BODIES, ids=lambda value: ascii(value)[:60])
def test_a_body_that_makes_no_sense_is_refused(acme: Cast, path: str, body: Any) -> None:
    response = acme.client.generic("POST", f"/v1/{path}", json.dumps(body), content_type="application/json")

    assert 400 <= response.status_code < 500, response.content
    assert response.json()["code"] != "internal_error"


@pytest.mark.parametrize(("body", "content_type"), RAW, ids=lambda value: ascii(value)[:40])
def test_bytes_that_are_no_json_are_refused(acme: Cast, body: bytes, content_type: str) -> None:
    response = acme.client.generic("POST", "/v1/uploads", body, content_type=content_type)

    assert response.status_code in {400, 415}, response.content


@pytest.mark.parametrize("charset", ["bz2", "rot13", "undefined", "utf-16", "none-such"])
def test_a_charset_is_no_way_to_fail_without_a_key(database: None, charset: str) -> None:
    """Through the server's own reading of a request: the test client makes Django's request another way."""
    for method, path, status in (("GET", "/v1/videos", 401), ("GET", "/healthz", 200), ("POST", "/v1/uploads", 401)):
        scope = {
            "method": method,
            "path": path,
            "query_string": b"x=1",
            "http_version": "1.1",
            "headers": [(b"host", b"testserver"), (b"content-type", b'a/b; charset="%s"' % charset.encode())],
        }
        response = WSGIHandler()(environ_of(scope, b""), lambda *_, **__: None)
        assert response.status_code == status, (path, response.content)
        response.close()


def test_the_addresses_of_one_ipv6_network_are_one_caller() -> None:
    def counted(address: str) -> str:
        return address_of({"client": (address, 4000), "headers": []})

    assert counted("2001:db8::1") == counted("2001:db8::ffff:2")
    assert counted("2001:db8::1") != counted("2001:db8:0:1::1")
    assert counted("192.0.2.1") == "192.0.2.1"


def test_one_key_is_one_caller_however_it_is_written() -> None:
    def digest(*headers: tuple[bytes, bytes]) -> str | None:
        return key_digest_of({"headers": headers})

    assert digest() is None
    spellings = [b"Bearer vk_1", b"bearer  vk_1", b"BEARER\tvk_1 "]
    assert len({digest((b"authorization", text)) for text in spellings} | {digest((b"x-api-key", b"vk_1"))}) == 1
    assert digest((b"authorization", b"Bearer vk_2")) != digest((b"authorization", b"Bearer vk_1"))
    assert digest((b"authorization", b"")) is not None

"""Every refusal is a problem of RFC 9457 with a stable code, and says nothing of our insides."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.test import APIClient
from uuid6 import uuid7

from backend.api.problems import field_errors
from backend.api.public_ids import encode
from backend.library.models import Collection
from tests.conftest import Cast

MEMBERS = {"type", "title", "status", "detail", "instance", "code", "request_id", "errors"}


def test_a_problem_has_all_members_and_the_request_id_of_the_header(acme: Cast) -> None:
    response = acme.client.get("/v1/videos/vid_nonsense", HTTP_X_REQUEST_ID="trace-1")

    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json() == {
        "type": f"{settings.PUBLIC_URL}/errors#not_found",
        "title": "Not Found",
        "status": 404,
        "detail": "There is no such resource.",
        "instance": "/v1/videos/vid_nonsense",
        "code": "not_found",
        "request_id": "trace-1",
        "errors": [],
    }
    assert response.headers["X-Request-Id"] == "trace-1"


def test_a_request_id_that_could_forge_a_log_line_is_replaced(acme: Cast) -> None:
    response = acme.client.get("/v1/videos", HTTP_X_REQUEST_ID="a b\tc")

    assert response.headers["X-Request-Id"].startswith("req_")


@pytest.mark.parametrize(
    ("method", "path", "options", "status", "code"),
    [
        ("delete", "/v1/videos", {}, 405, "method_not_allowed"),
        ("options", "/v1/videos", {}, 405, "method_not_allowed"),
        ("get", "/v1/videos", {"HTTP_ACCEPT": "text/html"}, 406, "not_acceptable"),
        ("post", "/v1/collections", {"data": b"{", "content_type": "application/json"}, 400, "malformed_body"),
        ("post", "/v1/collections", {"data": b"[" * 99_999, "content_type": "application/json"}, 400, "malformed_body"),
        ("post", "/v1/collections", {"data": b'{"a": NaN}', "content_type": "application/json"}, 400, "malformed_body"),
        ("post", "/v1/collections", {"data": b"\xff", "content_type": "application/json"}, 400, "malformed_body"),
        ("post", "/v1/collections", {"data": b"[]", "content_type": "application/json"}, 400, "invalid_request"),
        ("post", "/v1/collections", {"data": b"name=x", "content_type": "text/plain"}, 415, "unsupported_media_type"),
        (
            "post", "/v1/collections",
            {"data": b" " * (2 * 1024**2 + 1), "content_type": "application/json"}, 413, "body_too_large",
        ),
        ("get", "/v1/nothing", {}, 404, "not_found"),
        ("get", "/elsewhere", {}, 404, "not_found"),
    ],
)  # fmt: skip
def test_refusals_of_the_protocol(
    acme: Cast, method: str, path: str, options: dict[str, Any], status: int, code: str
) -> None:
    response = getattr(acme.client, method)(path, **options)

    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.headers["Content-Type"] == "application/problem+json"
    assert set(response.json()) == MEMBERS
    with acme.scope():
        assert Collection.objects.count() == 0


def test_an_unexpected_error_is_a_500_without_its_cause(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: Any) -> None:
        Collection.objects.create(tenant_id=acme.tenant_id, name="half")
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr("backend.library.services.collections.create_collection", broken)

    response = acme.client.post("/v1/collections", {"name": "x"})

    assert (response.status_code, response.json()["code"]) == (500, "internal_error")
    assert b"hunter2" not in response.content
    with acme.scope():
        assert Collection.objects.count() == 0


def test_a_database_that_is_away_is_a_503_to_try_again(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**_: Any) -> None:
        raise OperationalError("connection to 10.0.0.7 refused")

    monkeypatch.setattr("backend.library.services.collections.create_collection", away)

    response = acme.client.post("/v1/collections", {"name": "x"})

    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert response.headers["Retry-After"] == "2"
    assert b"10.0.0.7" not in response.content


def test_without_a_key_nothing_is_answered() -> None:
    response = APIClient().get("/v1/videos")

    assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="api"'


@pytest.mark.parametrize(
    ("detail", "pointers"),
    [
        ({"name": ["bad"]}, ["/name"]),
        ({"parts": [{}, {"etag": ["bad"]}]}, ["/parts/1/etag"]),
        # The shape of many=True since DRF 3.18 is a mapping from the index.
        ({"parts": {1: {"etag": ["bad"]}}}, ["/parts/1/etag"]),
        ({"non_field_errors": ["bad"]}, [""]),
        ({"a": {"b/c~d": ["bad", "worse"]}}, ["/a/b~1c~0d", "/a/b~1c~0d"]),
        (["bad"], [""]),
    ],
)
def test_validation_errors_point_at_their_place(detail: Any, pointers: list[str]) -> None:
    assert [error.pointer for error in field_errors(ValidationError(detail).detail)] == pointers


def test_a_bad_value_has_one_shape_whoever_finds_it(acme: Cast) -> None:
    """A serializer, a view and a service each refuse one value."""
    found = [
        acme.client.get("/v1/videos?status=eaten"),
        acme.client.post("/v1/videos", {"source": {"type": "segments"}, "collection_id": encode("col", uuid7())}),
        acme.client.post("/v1/webhook-endpoints", {"url": "ftp://example.org/"}),
    ]

    for response, pointer, code in zip(
        found,
        ("/status", "/collection_id", "/url"),
        ("invalid_choice", "not_found", "invalid_url"),
        strict=True,
    ):
        body = response.json()
        assert (response.status_code, body["code"]) == (400, "invalid_request")
        assert body["detail"] == "The request is not valid."
        assert [(error["pointer"], error["code"]) for error in body["errors"]] == [(pointer, code)]


def test_a_mistake_in_a_list_of_bodies_points_at_its_item(acme: Cast) -> None:
    from tests.library.uploading import create_upload

    upload = create_upload(acme.client, b"x")
    body = {"parts": [{"part_number": 1, "etag": "e"}, {"part_number": 0, "etag": "e"}]}

    errors = acme.client.post(f"/v1/uploads/{upload['id']}/complete", body).json()["errors"]

    assert [(error["pointer"], error["code"]) for error in errors] == [("/parts/1/part_number", "min_value")]


def test_codes_of_validation_errors_are_kept() -> None:
    detail = {"name": [ErrorDetail("no", code="unknown_field")]}

    assert [error.code for error in field_errors(detail)] == ["unknown_field"]

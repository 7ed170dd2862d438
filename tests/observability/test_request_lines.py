"""Every line that a request writes carries its id, route and tenant, and refusals are written with the address."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from backend.api import problems
from backend.api.public_ids import encode
from backend.tenancy.models import ApiKey, Tenant
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast


def test_a_line_inside_a_request_carries_its_id_route_and_tenant(
    acme: Cast, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from backend.library.api import videos

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(videos.VideosView, "get", fail)
    response = acme.client.get("/v1/videos", headers={"X-Request-Id": "req-1"})

    assert response.status_code == 500
    by_logger = {line["logger"]: line for line in lines()}
    error, request = by_logger["backend.api.problems"], by_logger["ava.requests"]
    tenant = encode("tnt", acme.tenant_id)
    assert (error["message"], error["level"]) == ("unexpected error", "ERROR")
    assert (request["message"], request["status"]) == ("GET /v1/videos 500", 500)
    for line in (error, request):
        assert (line["request"], line["route"], line["tenant"]) == ("req-1", "/v1/videos", tenant)


@pytest.mark.parametrize(("key", "status", "code"), [("vk_live_none", 401, "invalid_api_key"), (None, 401, "not_auth")])
def test_a_failed_authentication_is_written(
    database: None, lines: Any, key: str | None, status: int, code: str
) -> None:
    client = APIClient(REMOTE_ADDR="203.0.113.9")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    assert client.get("/v1/videos?secret=1", headers=headers).status_code == status

    written = [line for line in lines() if line["logger"] == "ava.refusals"]
    assert [line["level"] for line in written] == ["WARNING"]
    assert written[0]["message"].startswith(f"refused a request from 203.0.113.9: {status} {code}")
    assert written[0]["route"] == "/v1/videos"
    assert "vk_live" not in json.dumps(lines())
    assert "secret" not in json.dumps(lines())


def expire(key: ApiKey) -> None:
    ApiKey.objects.filter(id=key.id).update(expires_at=timezone.now())


def revoke(key: ApiKey) -> None:
    ApiKey.objects.filter(id=key.id).update(revoked_at=timezone.now())


def limit(key: ApiKey) -> None:
    ApiKey.objects.filter(id=key.id).update(allowed_ips=["198.51.100.0/24"])


def suspend(key: ApiKey) -> None:
    Tenant.objects.filter(id=key.tenant_id).update(suspended_at=timezone.now())


def change_secret(key: ApiKey) -> None:
    ApiKey.objects.filter(id=key.id).update(digest=b"other")


def rename(key: ApiKey) -> None:
    ApiKey.objects.filter(id=key.id).update(public_id="0123456789")


@pytest.mark.parametrize(
    ("end", "reason", "status"),
    [
        (expire, "expired", 401),
        (revoke, "revoked", 401),
        (suspend, "tenant_suspended", 401),
        (change_secret, "wrong_secret", 401),
        (rename, "unknown", 401),
        (limit, "other_address", 403),
    ],
)
def test_why_a_key_was_refused_is_written_and_not_shown(
    acme: Cast, lines: Any, end: Callable[[ApiKey], None], reason: str, status: int
) -> None:
    with acme.scope():
        key, text = issue_api_key(name="ending", scopes=["videos:read"])
        public_id = key.public_id
        end(key)
    reply = APIClient().get("/v1/videos", headers={"Authorization": f"Bearer {text}", "X-Request-Id": "req-1"})
    assert reply.status_code == status

    (line,) = [line for line in lines() if line["logger"] == "ava.refusals"]
    assert line["reason"] == reason
    known = reason != "unknown"
    assert line.get("key") == (public_id if known else None)
    assert line.get("tenant") == (encode("tnt", acme.tenant_id) if known else None)
    assert text not in json.dumps(lines())
    if status == 401:
        never = APIClient().get("/v1/videos", headers={"Authorization": "Bearer x", "X-Request-Id": "req-1"})
        assert reply.json() == never.json()


def test_a_missing_scope_is_written(acme: Cast, lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with acme.scope():
        _, narrow = issue_api_key(name="narrow", scopes=["videos:read"])
    assert APIClient().get("/v1/usage", headers={"Authorization": f"Bearer {narrow}"}).status_code == 403
    assert [line["message"].split(": ")[1] for line in lines() if line["logger"] == "ava.refusals"] == [
        "403 insufficient_scope"
    ]


def test_other_answers_are_no_refusals(acme: Cast, lines: Any) -> None:
    assert acme.client.get("/v1/videos/vid_none").status_code == 404
    assert not [line for line in lines() if line["logger"] == "ava.refusals"]
    assert {401, 403, 429} == problems._LOGGED

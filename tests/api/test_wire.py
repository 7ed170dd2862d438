"""Public ids, pages, rate limits."""

from __future__ import annotations

import base64
import json
from typing import Any
from uuid import UUID

import pytest
from django.http import Http404
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from backend.accounts import suspension
from backend.api.limits import rate_limits
from backend.api.public_ids import decode, encode, parse
from backend.library.models import Collection
from backend.tenancy.models import ApiKey
from tests.conftest import Cast
from tests.factories import make_video


@given(st.uuids())
def test_an_id_survives_the_way_out_and_back(value: UUID) -> None:
    assert decode("vid", encode("vid", value)) == value


@given(st.text(max_size=30))
def test_only_one_spelling_of_an_id_is_accepted(text: str) -> None:
    value = parse("vid", text)
    assert value is None or encode("vid", value) == text


@pytest.mark.parametrize(
    "text", ["", "vid_", "vid", "evt_1111111111111111", "vid_" + "z" * 22, "vid_" + "1" * 17, "vid_0OIl"]
)
def test_a_malformed_id_is_an_unknown_id(text: str) -> None:
    with pytest.raises(Http404):
        decode("vid", text)


def fill(cast: Cast, count: int) -> None:
    with cast.scope():
        for n in range(count):
            Collection.objects.create(tenant_id=cast.tenant_id, name=f"c{n}")


def test_pages_reach_every_row_once_while_rows_are_added(acme: Cast) -> None:
    fill(acme, 5)
    first = acme.client.get("/v1/collections", {"limit": 2}).json()
    with acme.scope():
        Collection.objects.create(tenant_id=acme.tenant_id, name="newcomer")
    second = acme.client.get("/v1/collections", {"limit": 2, "cursor": first["next_cursor"]}).json()
    third = acme.client.get("/v1/collections", {"limit": 2, "cursor": second["next_cursor"]}).json()

    assert [[row["name"] for row in body["data"]] for body in (first, second, third)] == [
        ["c4", "c3"],
        ["c2", "c1"],
        ["c0"],
    ]
    assert third["next_cursor"] is None


def test_a_full_last_page_has_no_next_cursor(acme: Cast) -> None:
    fill(acme, 2)

    assert acme.client.get("/v1/collections", {"limit": 2}).json()["next_cursor"] is None


def _cursor(parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    ["x", "%00", "é", _cursor({}), _cursor(["id"]), _cursor(["id", "not-a-uuid"]), _cursor(["id", None]),
     _cursor(["name,id", "a", str(UUID(int=1))]), _cursor(["id", [1]]), _cursor(["id", str(UUID(int=1)), 1])],
)  # fmt: skip
def test_a_cursor_that_no_list_gave_is_refused(acme: Cast, cursor: str) -> None:
    response = acme.client.get("/v1/collections", {"cursor": cursor})

    assert (response.status_code, response.json()["errors"][0]["code"]) == (400, "invalid_cursor")


def test_a_cursor_is_of_one_list_and_of_one_order(acme: Cast) -> None:
    fill(acme, 3)
    cursor = acme.client.get("/v1/collections", {"limit": 1, "sort": "created_at"}).json()["next_cursor"]

    replies = [
        acme.client.get("/v1/collections", {"cursor": cursor}),
        acme.client.get("/v1/collections", {"cursor": cursor, "sort": "-created_at"}),
        acme.client.get("/v1/videos", {"cursor": cursor, "sort": "created_at"}),
        acme.client.get("/v1/questions", {"cursor": cursor}),
    ]

    refused = [(reply.status_code, reply.json()["errors"][0]["code"]) for reply in replies]
    assert refused == [(400, "invalid_cursor")] * 4
    goes_on = acme.client.get("/v1/collections", {"cursor": cursor, "sort": "created_at"}).json()
    assert [row["name"] for row in goes_on["data"]] == ["c1", "c2"]


def test_a_cursor_of_one_tenant_shows_another_only_its_own_rows(acme: Cast, globex: Cast) -> None:
    fill(globex, 1)
    fill(acme, 3)
    cursor = acme.client.get("/v1/collections", {"limit": 1}).json()["next_cursor"]

    body = globex.client.get("/v1/collections", {"cursor": cursor}).json()

    assert [row["name"] for row in body["data"]] == ["c0"]


def test_a_tenant_has_its_requests_per_minute_and_no_more(acme: Cast, globex: Cast) -> None:
    with override_settings(RATE_LIMIT_PER_MINUTE=3):
        answers = [acme.client.get("/v1/videos") for _ in range(4)]
        other = globex.client.get("/v1/videos")

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert other.status_code == 200
    assert answers[0].headers["RateLimit-Policy"] == '"requests";q=3;w=60'
    assert answers[0].headers["RateLimit"].startswith('"requests";r=2;t=')
    refused = answers[3]
    assert refused.json()["code"] == "rate_limited"
    assert 1 <= int(refused.headers["Retry-After"]) <= 20
    assert refused.headers["RateLimit"] == f'"requests";r=0;t={refused.headers["Retry-After"]}'
    assert refused.headers["X-RateLimit-Remaining"] == "0"


def test_what_is_worked_out_for_nothing_has_a_bucket_of_its_own(acme: Cast, globex: Cast) -> None:
    with acme.scope():
        video = encode("vid", make_video(indexed_until_ms=30_000).id)

    def estimate(cast: Cast) -> Any:
        return cast.client.post("/v1/questions:estimate", {"method": "ava", "effort": "low"})

    with override_settings(FREE_REQUESTS_PER_MINUTE=3):
        free = [
            acme.client.post("/v1/videos:estimate", {"duration_ms": 1_000}),
            acme.client.get(f"/v1/videos/{video}/events", {"q": "van"}),
            *(estimate(acme) for _ in range(2)),
        ]
        others = [acme.client.get("/v1/videos"), acme.client.get(f"/v1/videos/{video}/events"), estimate(globex)]

    assert [reply.status_code for reply in free] == [200, 200, 200, 429]
    assert (free[3].json()["code"], "estimates and text filters" in free[3].json()["detail"]) == ("rate_limited", True)
    assert int(free[3].headers["Retry-After"]) >= 1
    assert [reply.status_code for reply in others] == [200, 200, 200]


def test_the_headers_show_the_limit_that_is_met_first(acme: Cast) -> None:
    with acme.scope():
        ApiKey.objects.filter(id=acme.key_id).update(requests_per_minute=5)

    with override_settings(RATE_LIMIT_PER_MINUTE=7):
        of_key = acme.client.get("/v1/videos").headers
    with override_settings(RATE_LIMIT_PER_MINUTE=3):
        of_tenant = acme.client.get("/v1/videos").headers

    assert (of_key["RateLimit-Policy"], of_key["X-RateLimit-Remaining"]) == ('"requests";q=5;w=60', "4")
    assert (of_tenant["RateLimit-Policy"], of_tenant["X-RateLimit-Limit"]) == ('"requests";q=3;w=60', "3")


def test_a_throttled_tenant_is_answered_what_staff_allow(acme: Cast, globex: Cast) -> None:
    with acme.scope():
        assert suspension.throttle(suspension.Throttle(2)) == suspension.Throttle()
    answers = [acme.client.get("/v1/videos") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0].headers["RateLimit-Policy"] == '"requests";q=2;w=60'
    assert globex.client.get("/v1/videos").headers["RateLimit-Policy"] == '"requests";q=600;w=60'
    with acme.scope():
        assert suspension.throttle(suspension.Throttle()) == suspension.Throttle(2)
    assert acme.client.get("/v1/videos").headers["RateLimit-Policy"] == '"requests";q=600;w=60'


def test_without_redis_requests_pass_uncounted(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "_silent_until", 0.0)
    with override_settings(REDIS_URL="redis://127.0.0.1:9/0", RATE_LIMIT_PER_MINUTE=1):
        rate_limits._client.cache_clear()
        answers = [acme.client.get("/v1/videos") for _ in range(3)]
    rate_limits._client.cache_clear()

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert "RateLimit" not in answers[0].headers

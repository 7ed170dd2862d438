"""Limits before and after authentication: per address, per key, per plan, per statement and per page."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, connections
from django.test import override_settings
from rest_framework.test import APIClient
from uuid6 import uuid7

from backend.api import public_ids
from backend.api.limits.address_limits import network_of
from backend.api.problems import Problem, problem_of
from backend.api.server.open_replies import open_reply
from backend.billing.services.usage import ledger
from backend.library.models import Upload
from backend.library.services.storage_quota import hold_storage
from backend.tenancy.authentication import Principal
from backend.tenancy.context import bounded_statements
from backend.tenancy.models import Tenant
from backend.tenancy.services import issue_api_key
from gpu_workers.engine.models.roles import ModelCall
from tests.conftest import Cast
from tests.factories import make_video
from tests.isolation.test_catalog import superuser
from tests.people.cast import Browser, member_of
from tests.tenancy.test_api_keys import with_key

# 100 + 10 tokens.
CALL = ModelCall("answer", "qwen", wall_ms=2_000, prompt_tokens=100, cached_tokens=40, completion_tokens=10)
UPLOAD = {"filename": "a.mp4", "content_type": "video/mp4", "size_bytes": 5}


def get_from(address: str, key: str = "", path: str = "/v1/videos") -> Any:
    return APIClient(REMOTE_ADDR=address).get(path, HTTP_AUTHORIZATION=f"Bearer {key}" if key else "")


@pytest.mark.parametrize(
    "limit", ["0", "101", "1000", "000000001000000", "0000000010" + "0" * 30, "²", "-1", "1.0", ""]
)
def test_a_limit_is_a_limit(acme: Cast, limit: str) -> None:
    response = acme.client.get("/v1/videos", {"limit": limit})
    assert (response.status_code, response.json()["errors"][0]["code"]) == (400, "out_of_range")
    assert acme.client.get("/v1/videos?limit=100").status_code == 200
    assert acme.client.get("/v1/videos?limit=007").status_code == 200


def test_an_address_that_guesses_keys_is_refused_before_it_is_authenticated(acme: Cast) -> None:
    with override_settings(ADDRESS_RATE_PER_MINUTE=200):
        guesses = [get_from("203.0.113.5", "vk_live_wrong").status_code for _ in range(12)]
        # Each of 1 + 30 requests: seven of them use 200 up, but for what a second gives back.
        assert guesses[:6] == [401] * 6
        assert guesses[-1] == 429
        refused = get_from("203.0.113.5", acme.key)
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
        assert int(refused["Retry-After"]) >= 1
        assert refused.address_waits_s == int(refused["Retry-After"]), "the server refuses the address itself then"
        assert get_from("203.0.113.6", acme.key).status_code == 200


def test_a_flood_of_log_ins_is_refused(database: None) -> None:
    form = {"username": "admin", "password": "wrong"}
    with override_settings(ADDRESS_RATE_PER_MINUTE=150):
        client = APIClient(REMOTE_ADDR="203.0.113.7")
        replies = [client.post("/console/login/", form, format="multipart").status_code for _ in range(4)]
    assert replies[0] != 429
    assert replies[-1] == 429


def test_addresses_of_one_network_of_ipv6_count_together() -> None:
    assert network_of("2001:db8:1:2:3::4") == network_of("2001:db8:1:2:ffff::") == "2001:db8:1:2::/64"
    assert network_of("2001:db8:1:3::4") != network_of("2001:db8:1:2::4")
    assert network_of("198.51.100.1") == "198.51.100.1"
    assert network_of("::ffff:198.51.100.1") == "198.51.100.1"
    assert network_of("") == "unknown"


def test_a_statement_of_a_request_is_bounded(acme: Cast) -> None:
    def shown() -> str:
        with acme.scope(), connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return str(cursor.fetchone()[0])

    assert shown() == "5min"
    with bounded_statements(20):
        assert shown() == "20s"
    assert shown() == "5min"
    with pytest.raises(Exception, match="statement timeout") as raised, bounded_statements(0.05):  # noqa: SIM117
        with acme.scope(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(60)")
    problem = problem_of(raised.value)
    assert (problem.status, problem.code) == (503, "took_too_long")


def test_open_uploads_have_a_maximum(acme: Cast, globex: Cast) -> None:
    with override_settings(OPEN_UPLOADS_PER_TENANT=2):
        first = acme.client.post("/v1/uploads", UPLOAD).json()["id"]
        assert acme.client.post("/v1/uploads", UPLOAD).status_code == 201
        refused = acme.client.post("/v1/uploads", UPLOAD)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_open_uploads")
        assert globex.client.post("/v1/uploads", UPLOAD).status_code == 201
        assert acme.client.delete(f"/v1/uploads/{first}").status_code == 204
        assert acme.client.post("/v1/uploads", UPLOAD).status_code == 201


def test_open_uploads_of_a_key_have_a_maximum_below_the_tenants(acme: Cast) -> None:
    with acme.scope():
        _, other = issue_api_key(name="other", scopes=["videos:write"])
    with override_settings(OPEN_UPLOADS_PER_KEY=1):
        assert acme.client.post("/v1/uploads", UPLOAD).status_code == 201
        refused = acme.client.post("/v1/uploads", UPLOAD)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_open_uploads")
        assert "of this API key" in refused.json()["detail"]
        assert with_key(other).post("/v1/uploads", UPLOAD, format="json").status_code == 201


def test_open_uploads_of_a_member_have_a_maximum_below_the_tenants(acme: Cast) -> None:
    ada, bob = (Browser(member_of(acme, "developer").person, acme.slug) for _ in range(2))
    with override_settings(OPEN_UPLOADS_PER_KEY=1):
        opened = ada.api("POST", "/v1/uploads", UPLOAD)
        assert opened.status_code == 201, opened.content
        refused = ada.api("POST", "/v1/uploads", UPLOAD)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_open_uploads")
        assert "of this member" in refused.json()["detail"]
        # A colleague and a key have their own maximum.
        assert bob.api("POST", "/v1/uploads", UPLOAD).status_code == 201
        assert acme.client.post("/v1/uploads", UPLOAD).status_code == 201
        assert ada.api("DELETE", f"/v1/uploads/{opened.json()['id']}").status_code == 204
        assert ada.api("POST", "/v1/uploads", UPLOAD).status_code == 201


def test_uploads_that_begin_at_once_do_not_pass_the_maximum(acme: Cast) -> None:
    def begin() -> int:
        try:
            return int(acme.client.post("/v1/uploads", UPLOAD).status_code)
        finally:
            connections.close_all()

    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with override_settings(OPEN_UPLOADS_PER_TENANT=1), ThreadPoolExecutor() as pool, superuser() as server:
        with acme.scope():
            hold_storage()
            begun = [pool.submit(begin) for _ in range(2)]
            while server.execute(waiting).fetchone() != (2,):
                assert not any(reply.done() for reply in begun)
                threading.Event().wait(0.02)
        assert sorted(reply.result() for reply in begun) == [201, 429]


def test_an_upload_shows_who_began_it(acme: Cast) -> None:
    ada = member_of(acme, "developer").person
    by_ada = Browser(ada, acme.slug).api("POST", "/v1/uploads", UPLOAD).json()
    by_key = acme.client.post("/v1/uploads", UPLOAD).json()
    makers = {by_ada["id"]: public_ids.encode("per", ada.id), by_key["id"]: public_ids.encode("key", acme.key_id)}
    assert {row["id"]: row["created_by"] for row in (by_ada, by_key)} == makers
    assert {row["id"]: row["created_by"] for row in acme.client.get("/v1/uploads").json()["data"]} == makers


def test_open_streams_of_a_member_have_a_maximum_below_the_tenants(acme: Cast) -> None:
    def member() -> Principal:
        return Principal(acme.tenant_id, None, frozenset({"videos:read"}), person_id=uuid7())

    ada, bob = member(), member()
    with override_settings(OPEN_STREAMS_PER_KEY=1):
        first = open_reply(ada)
        with pytest.raises(Problem) as refused:
            open_reply(ada)
        others = open_reply(bob)
    for reply in (first, others):
        reply.close()
    assert refused.value.code == "too_many_open_streams"
    assert "of this member" in str(refused.value.detail)


def test_a_plan_has_minutes_of_recordings_and_tokens(acme: Cast, globex: Cast) -> None:
    with globex.scope():
        Tenant.objects.filter(id=globex.tenant_id).update(plan="large")
    videos = {}
    for cast in (acme, globex):
        with cast.scope():
            video = make_video(indexed_until_ms=30_000)
            videos[cast.slug] = public_ids.encode("vid", video.id)
            ledger.record_media_seconds(segment_id=uuid7(), video_id=video.id, seconds=60)
            ledger.record_model_calls(source_type="question", source_id=uuid7(), calls=[CALL], question_id=uuid7())
    with override_settings(MEDIA_MINUTES_PER_PLAN={"standard": 1.0}, TOKENS_PER_PLAN={"standard": 110.0}):
        refused = acme.client.post("/v1/uploads", UPLOAD)
        assert (refused.status_code, refused.json()["code"]) == (402, "plan_exhausted")
        with acme.scope():
            assert Upload.objects.count() == 0
        assert globex.client.post("/v1/uploads", UPLOAD).status_code == 201
        for cast, status in ((acme, 402), (globex, 202)):
            question = {"question": "Which car?", "video_ids": [videos[cast.slug]]}
            assert cast.client.post("/v1/questions", question).status_code == status
    with override_settings(MEDIA_MINUTES_PER_PLAN={"standard": 1.1}, TOKENS_PER_PLAN={"standard": 111.0}):
        assert acme.client.post("/v1/uploads", UPLOAD).status_code == 201

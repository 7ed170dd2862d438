"""A request whose statement takes too long ends with a typed refusal, and requests of other tenants go on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connections
from django.test import override_settings
from psycopg import sql

from backend.api import public_ids
from tests.conftest import Cast
from tests.factories import make_video
from tests.isolation.test_catalog import superuser

LIMIT_S = 3
RESPOND_ASYNC = {"Prefer": "respond-async"}
LISTED = {"videos": "library_video", "searches": "questions_search"}


@contextmanager
def slow_rows(table: str, cast: Cast) -> Iterator[psycopg.Connection]:
    """Let PostgreSQL sleep for minutes when it reads a table as this tenant; other tenants read as before."""
    policy = sql.SQL(
        "CREATE POLICY slow_rows ON {table} AS RESTRICTIVE FOR SELECT USING ((SELECT CASE WHEN "
        "current_setting('app.tenant_id', true) = {tenant} THEN pg_sleep(300) IS NOT NULL ELSE true END))"
    ).format(table=sql.Identifier(table), tenant=sql.Literal(str(cast.tenant_id)))
    with superuser() as server:
        server.execute(policy)
        try:
            yield server
        finally:
            server.execute(sql.SQL("DROP POLICY slow_rows ON {}").format(sql.Identifier(table)))


def until_asleep(server: psycopg.Connection, reply: Future[Any]) -> None:
    """Return when a statement of the service sleeps. Fails if the reply comes before."""
    asleep = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app_rw' AND wait_event = 'PgSleep'"
    while server.execute(asleep).fetchone() == (0,):
        assert not reply.done(), reply.result()
        threading.Event().wait(0.02)


def in_a_thread(call: Any) -> Any:
    """Return the result of a request, and close the connections that it opened in this thread."""
    try:
        return call()
    finally:
        connections.close_all()


def search_request(cast: Cast) -> dict[str, Any]:
    """Return the body of a search in a ready video of this tenant."""
    with cast.scope():
        video = make_video(status="ready", indexed_until_ms=30_000)
    return {"query": "dog", "video_ids": [public_ids.encode("vid", video.id)]}


def require_took_too_long(response: Any) -> None:
    body = response.json()
    assert (response.status_code, body["status"], body["code"]) == (503, 503, "took_too_long")
    assert response["Content-Type"] == "application/problem+json"
    assert int(response["Retry-After"]) >= 1
    assert "pg_sleep" not in response.content.decode()


@pytest.mark.parametrize("listed", LISTED)
@override_settings(REQUEST_STATEMENT_SECONDS=LIMIT_S)
def test_a_list_that_takes_too_long_is_refused_and_another_tenants_is_not(
    acme: Cast, globex: Cast, listed: str
) -> None:
    path = f"/v1/{listed}"
    asked = search_request(acme)
    assert acme.client.post("/v1/search", asked, format="json", headers=RESPOND_ASYNC).status_code == 202
    with slow_rows(LISTED[listed], acme) as server, ThreadPoolExecutor() as pool:
        slow = pool.submit(in_a_thread, lambda: acme.client.get(path))
        until_asleep(server, slow)
        assert globex.client.get(path).json()["data"] == []
        require_took_too_long(slow.result())
        assert acme.client.get("/v1/collections").status_code == 200, "only what reads the slow table is refused"
    assert len(acme.client.get(path).json()["data"]) == 1


@override_settings(REQUEST_STATEMENT_SECONDS=LIMIT_S)
def test_a_search_that_takes_too_long_is_refused_and_leaves_no_row(acme: Cast, globex: Cast) -> None:
    asked = {cast.slug: search_request(cast) for cast in (acme, globex)}

    def search(cast: Cast) -> Any:
        return cast.client.post("/v1/search", asked[cast.slug], format="json", headers=RESPOND_ASYNC)

    with slow_rows("library_video", acme) as server, ThreadPoolExecutor() as pool:
        slow = pool.submit(in_a_thread, lambda: search(acme))
        until_asleep(server, slow)
        assert search(globex).status_code == 202
        require_took_too_long(slow.result())
    assert acme.client.get("/v1/searches").json()["data"] == []
    assert search(acme).status_code == 202

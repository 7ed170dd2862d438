"""The router on a real socket, before scripted cells: which cell a request reaches, and what passes through."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
import uvicorn

from backend.cells import router as router_module
from backend.cells.router import Router, public_id_of
from backend.tenancy.directory import Directory
from tests.cells.world import Cells

ONE, TWO, UNKNOWN = (f"vk_live_{name}_{'s' * 38}" for name in ("0000000001", "0000000002", "0000000003"))


@contextmanager
def serving(application: Any) -> Iterator[str]:
    """Serve an ASGI application on a free port; yields its address."""
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.02)
            assert thread.is_alive()
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


class ScriptedCell:
    """A cell that answers with its name and what it received. /stream never ends; /refused answers 401."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.left = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (message := await receive())["type"] != "lifespan.shutdown":
                await send({"type": f"{message['type']}.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        status = 401 if scope["path"] == "/refused" else 200
        await send({"type": "http.response.start", "status": status, "headers": [(b"x-cell", self.name.encode())]})
        if scope["path"] == "/stream":
            await send({"type": "http.response.body", "body": b"first\n", "more_body": True})
            while (await receive())["type"] != "http.disconnect":
                await asyncio.sleep(0)
            self.left.set()
            return
        seen = {
            "method": scope["method"], "path": scope["raw_path"].decode(), "query": scope["query_string"].decode(),
            "body": body.decode(), "headers": {name.decode(): value.decode() for name, value in scope["headers"]},
        }  # fmt: skip
        await send({"type": "http.response.body", "body": json.dumps(seen).encode()})


class World:
    def __init__(self, cells: Cells, stack: ExitStack) -> None:
        self.cells = cells
        self.a, self.b = ScriptedCell("a"), ScriptedCell("b")
        self.tenants = (uuid4(), uuid4())
        with Directory(cells.mover_url) as directory:
            for cell in (self.a, self.b):
                directory.add_cell(cell.name, stack.enter_context(serving(cell)))
            for key, tenant, cell in zip((ONE, TWO), self.tenants, "ab", strict=True):
                directory.place_tenant(tenant, slug=tenant.hex, cell=cell)
                directory.register_key(key.split("_")[2], tenant)
        self.url = stack.enter_context(serving(Router(cells.control_url)))
        self.client = stack.enter_context(httpx.Client(base_url=self.url, timeout=30))

    def ask(self, key: str, path: str = "/v1/videos") -> httpx.Response:
        return self.client.get(path, headers={"Authorization": f"Bearer {key}"})

    def move(self, tenant: UUID, target: str) -> None:
        with Directory(self.cells.mover_url) as directory:
            directory.begin_move(tenant, target=target, phase="draining")


@pytest.fixture
def world(cells: Cells) -> Iterator[World]:
    with ExitStack() as stack:
        yield World(cells, stack)


def test_a_key_leads_to_its_cell(world: World) -> None:
    replies = [world.ask(ONE), world.ask(TWO), world.client.get("/v1/videos", headers={"X-Api-Key": TWO})]
    assert [reply.headers["x-cell"] for reply in replies] == ["a", "b", "b"]
    assert world.ask(UNKNOWN).headers["x-cell"] == "a"
    assert world.client.get("/v1/openapi.json").headers["x-cell"] == "a"
    assert world.client.get("/healthz").json() == {"status": "ok"}


def test_a_request_arrives_as_it_was_sent(world: World) -> None:
    sent = world.client.post(
        "/v1/vid%2Feos?a=1&b=%20", content=b"body " * 100_000, headers={"X-Api-Key": TWO, "Idempotency-Key": "k"}
    ).json()

    assert (sent["method"], sent["path"], sent["query"]) == ("POST", "/v1/vid%2Feos", "a=1&b=%20")
    assert sent["body"] == "body " * 100_000
    assert sent["headers"]["idempotency-key"] == "k"
    assert sent["headers"]["host"] == world.url.removeprefix("http://")
    assert sent["headers"]["x-forwarded-for"] == "127.0.0.1"


def test_a_stream_passes_block_by_block_and_ends_with_its_reader(world: World) -> None:
    with world.client.stream("GET", "/stream", headers={"X-Api-Key": ONE}) as reply:
        # An iterator that nobody holds would close the reply.
        blocks = reply.iter_text()
        assert next(blocks) == "first\n"
        assert not world.a.left.is_set()
    assert world.a.left.wait(60)


def test_a_moving_tenant_is_answered_503_and_then_by_its_new_cell(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(router_module, "REMEMBER_SECONDS", 0)
    world.move(world.tenants[0], "b")
    moving = world.ask(ONE)
    with Directory(world.cells.mover_url) as directory:
        directory.switch(world.tenants[0], "switched")

    assert (moving.status_code, moving.json()["code"], moving.headers["retry-after"]) == (503, "tenant_moving", "2")
    assert moving.headers["content-type"] == "application/problem+json"
    assert world.ask(ONE).headers["x-cell"] == "b"


def test_a_cell_that_no_longer_knows_a_key_makes_the_router_ask_again(world: World) -> None:
    assert world.ask(ONE).headers["x-cell"] == "a"
    world.move(world.tenants[0], "b")
    with Directory(world.cells.mover_url) as directory:
        directory.switch(world.tenants[0], "switched")

    assert world.ask(ONE, "/refused").headers["x-cell"] == "a"
    assert world.ask(ONE).headers["x-cell"] == "b"


def test_known_keys_are_served_while_the_control_database_is_away(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(router_module, "REMEMBER_SECONDS", 0)
    assert world.ask(ONE).headers["x-cell"] == "a"

    async def away(self: Any, name: Any) -> Any:
        raise psycopg.OperationalError("away")

    monkeypatch.setattr(router_module.Routes, "_ask", away)

    assert world.ask(ONE).headers["x-cell"] == "a"
    unknown = world.ask(TWO)
    assert (unknown.status_code, unknown.json()["code"]) == (503, "unavailable")


def test_a_cell_that_is_away_is_503(world: World) -> None:
    with Directory(world.cells.mover_url) as directory:
        directory.add_cell("a", "http://127.0.0.1:9")

    assert (world.ask(ONE).status_code, world.ask(TWO).status_code) == (503, 200)


@pytest.mark.parametrize(
    ("headers", "public_id"),
    [
        ([(b"authorization", f"Bearer {ONE}".encode())], "0000000001"),
        ([(b"x-api-key", TWO.encode())], "0000000002"),
        ([(b"authorization", b"Bearer vk_live_short")], ""),
        ([(b"authorization", b"Bearer \xff\xfe")], ""),
        ([(b"cookie", ONE.encode())], ""),
    ],
)
def test_the_public_part_of_a_key(headers: list[tuple[bytes, bytes]], public_id: str) -> None:
    assert public_id_of(headers) == public_id


def test_a_browser_reaches_the_cell_of_the_tenant_that_it_names(world: World) -> None:
    one, two = (tenant.hex for tenant in world.tenants)
    by_header = [world.client.get("/v1/videos", headers={"AVA-Tenant": slug}) for slug in (one, two, "nobody", "?")]
    assert [reply.headers["x-cell"] for reply in by_header] == ["a", "b", "a", "a"]
    assert world.client.get(f"/v1/videos?tenant={two}").headers["x-cell"] == "b"
    # A key says whose the request is, whatever else it names.
    named = {"AVA-Tenant": two, "X-Api-Key": ONE}
    assert world.client.get("/v1/videos", headers=named).headers["x-cell"] == "a"


def test_the_pages_of_signing_in_stay_in_the_cell_of_the_tenant_they_were_opened_for(world: World) -> None:
    two = world.tenants[1].hex
    opened = world.client.get(f"/accounts/login/?tenant={two}")
    assert opened.headers["x-cell"] == "b"
    assert opened.headers["set-cookie"] == f"__Host-ava_cell_of={two}; Path=/; Secure; HttpOnly; SameSite=Lax"

    cookie = {"Cookie": f"other=1; __Host-ava_cell_of={two}"}
    assert world.client.post("/accounts/login/", headers=cookie).headers["x-cell"] == "b"
    assert world.client.get("/accounts/login/").headers["x-cell"] == "a"
    for path in ("/accounts/login/?tenant=nobody", f"/v1/videos?tenant={two}"):
        assert "set-cookie" not in world.client.get(path).headers


def test_a_browser_follows_a_tenant_that_has_moved(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(router_module, "REMEMBER_SECONDS", 0)
    named = {"AVA-Tenant": world.tenants[0].hex}
    world.move(world.tenants[0], "b")
    assert world.client.get("/v1/videos", headers=named).json()["code"] == "tenant_moving"
    with Directory(world.cells.mover_url) as directory:
        directory.switch(world.tenants[0], "switched")
    assert world.client.get("/v1/videos", headers=named).headers["x-cell"] == "b"

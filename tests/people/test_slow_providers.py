"""Identity providers that send a byte now and then: how many threads they hold, and for how long."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connections
from django.test import Client, override_settings

from backend.api.public_ids import encode
from backend.people import provider_exchanges
from tests.conftest import Cast

PATIENCE_S = 60


class Provider(http.server.ThreadingHTTPServer):
    """An identity provider that sends its discovery document, if it is well, and drips all other replies."""

    daemon_threads = True

    def __init__(self, *, discovered: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Replies)
        self.discovered = discovered
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.paths: list[str] = []
        self.asked, self.released = threading.Event(), threading.Event()


class _Replies(http.server.BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        self.send_response(200)
        if self.server.discovered and self.path == "/.well-known/openid-configuration":
            places = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
            found = {f"{name}_endpoint": f"{self.server.url}/{path}" for name, path in places.items()}
            found |= {"issuer": self.server.url, "jwks_uri": f"{self.server.url}/keys"}
            document = json.dumps(found).encode()
            self.send_header("Content-Length", str(len(document)))
            self.end_headers()
            self.wfile.write(document)
            return
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        self.server.asked.set()
        with suppress(OSError):
            while not self.server.released.wait(0.05):
                self.wfile.write(b" ")

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@contextmanager
def provider(*casts: Cast, discovered: bool = False) -> Iterator[Provider]:
    """Run a provider of the tenants."""
    server = Provider(discovered=discovered)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for cast in casts:
        reply = cast.client.patch("/v1/sign-in-settings", {"oidc_issuer": server.url, "oidc_client_id": "ava"})
        assert reply.status_code == 200, reply.content
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def _private() -> Iterator[None]:
    with override_settings(OIDC_ALLOW_PRIVATE=True):
        yield


def log_in(cast: Cast, browser: Client | None = None) -> Any:
    return (browser or Client()).post(f"/accounts/oidc/{encode('tnt', cast.tenant_id)}/login/")


def in_a_thread(pool: ThreadPoolExecutor, cast: Cast) -> Future[int]:
    def work() -> int:
        try:
            return int(log_in(cast).status_code)
        finally:
            connections.close_all()

    return pool.submit(work)


def test_a_tenant_has_one_exchange_at_a_time(acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_exchanges, "EXCHANGE_S", PATIENCE_S)
    with provider(acme) as slow, provider(globex, discovered=True), ThreadPoolExecutor() as pool:
        first = in_a_thread(pool, acme)
        assert slow.asked.wait(PATIENCE_S)
        refused = log_in(acme)
        others = log_in(globex)
        slow.released.set()
        assert first.result(PATIENCE_S) == 401

    assert (refused.status_code, refused["Retry-After"]) == (429, "2")
    assert "Too many people sign in" in refused.content.decode()
    assert others.status_code == 302
    assert slow.paths == ["/.well-known/openid-configuration"]


def test_a_process_has_two_exchanges_at_a_time(acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_exchanges, "EXCHANGE_S", PATIENCE_S)
    monkeypatch.setattr(provider_exchanges, "PER_PROCESS", 1)
    with provider(acme) as slow, provider(globex, discovered=True) as well, ThreadPoolExecutor() as pool:
        first = in_a_thread(pool, acme)
        assert slow.asked.wait(PATIENCE_S)
        refused = log_in(globex)
        slow.released.set()
        assert first.result(PATIENCE_S) == 401
        assert log_in(globex).status_code == 302

    assert refused.status_code == 429
    assert well.paths == ["/.well-known/openid-configuration"]


def test_one_deadline_ends_an_exchange_with_a_provider_that_drips(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider drips for as long as the test runs, so only the deadline can end the request."""
    monkeypatch.setattr(provider_exchanges, "EXCHANGE_S", 0.5)
    browser, callback = Client(), f"/accounts/oidc/{encode('tnt', acme.tenant_id)}/login/callback/"
    with provider(acme, discovered=True) as server:
        away = log_in(acme, browser)
        assert away.status_code == 302, away.content
        (state,) = parse_qs(urlsplit(away["Location"]).query)["state"]
        back = browser.get(callback, {"state": state, "code": "x"})
        assert back.status_code == 401
        # What it may ask for once is kept; the callback has not asked for it again.
        assert server.paths == ["/.well-known/openid-configuration", "/token"]


def test_a_refused_callback_can_be_sent_again(acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_exchanges, "EXCHANGE_S", 0.5)
    browser, callback = Client(), f"/accounts/oidc/{encode('tnt', acme.tenant_id)}/login/callback/"
    with provider(acme, discovered=True) as server:
        (state,) = parse_qs(urlsplit(log_in(acme, browser)["Location"]).query)["state"]
        with provider_exchanges.exchange(acme.tenant_id) as other:
            other.begin()
            refused = browser.get(callback, {"state": state, "code": "x"})
        assert (refused.status_code, refused["Refresh"]) == (429, "2")
        assert server.paths == ["/.well-known/openid-configuration"]
        assert browser.get(callback, {"state": state, "code": "x"}).status_code == 401
        assert server.paths[-1] == "/token"

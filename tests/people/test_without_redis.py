"""What happens to people while Redis, which counts attempts to sign in, does not answer."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.test import Client, override_settings

from tests.conftest import Cast
from tests.people.cast import PASSWORD, Browser, member_of, person


@contextmanager
def redis_at(port: int) -> Iterator[None]:
    """Look for Redis at another port."""
    other = {**settings.CACHES["default"], "LOCATION": f"redis://127.0.0.1:{port}/0"}
    with override_settings(CACHES={"default": other}):
        yield


@pytest.fixture(params=["refuses", "is silent"])
def away(request: pytest.FixtureRequest) -> Iterator[None]:
    """No server listens at the port, or one that never sends a byte."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        if request.param == "refuses":
            silent.close()
        with redis_at(port):
            yield


def sign_in(email: str, **browser: Any) -> Any:
    client = Client(raise_request_exception=False, **browser)
    return client.post("/accounts/login/", {"login": email, "password": PASSWORD})


def test_nobody_signs_in_without_counted_attempts(acme: Cast, away: None, caplog: pytest.LogCaptureFixture) -> None:
    ada = person("ada")
    member_of(acme, "viewer", ada)
    with caplog.at_level(logging.ERROR, "backend.people"):
        refused = sign_in(ada.email)
    assert (refused.status_code, refused["Retry-After"]) == (503, "10")
    assert "Signing in is not possible at this moment." in refused.content.decode()
    assert "ava_session" not in refused.cookies
    assert "attempts cannot be counted" in caplog.text
    # The same words for an address that is nobody's.
    unknown = sign_in("nobody@example.org")
    assert (unknown.status_code, unknown.content) == (503, refused.content)
    assert Client().get("/accounts/login/").status_code == 200


def test_sessions_and_keys_go_on_without_redis(acme: Cast, away: None) -> None:
    ada = person("ada")
    member_of(acme, "viewer", ada)
    assert Browser(ada, acme.slug).api("GET", "/v1/videos").status_code == 200
    assert acme.client.get("/v1/videos").status_code == 200


def test_people_sign_in_again_when_redis_is_back(acme: Cast) -> None:
    ada = person("ada")
    member_of(acme, "viewer", ada)
    with redis_at(9):
        assert sign_in(ada.email).status_code == 503
    assert sign_in(ada.email).status_code == 302

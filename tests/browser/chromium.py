"""The system's Chromium over this process's own server, for tests of pages."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from django.core.handlers.wsgi import WSGIHandler

FAULTS = {"error", "warning"}
"""Kinds of messages that the browser's console must not have."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
in_chromium = [
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: the service logs its requests itself."""


class _Threads(ThreadingMixIn, WSGIServer):
    # A browser keeps connections open that it does not use yet, and would block a server of one thread.
    daemon_threads = True


@contextmanager
def served() -> Iterator[str]:
    """Serve this process's routes, and return the address."""
    server = make_server("127.0.0.1", 0, WSGIHandler(), server_class=_Threads, handler_class=_Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def launched() -> Iterator[Any]:
    """Launch a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def in_a_thread(work: Callable[[], Any]) -> Any:
    """Run database work away from the thread of playwright, which has an event loop. Raises what the work raises."""
    results: list[Any] = []
    faults: list[BaseException] = []

    def run() -> None:
        from django.db import connections

        try:
            results.append(work())
        except BaseException as fault:
            faults.append(fault)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return results[0]


def listened(page: Any) -> list[str]:
    """Return the list to which errors and warnings of this page are added."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in FAULTS else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


def serious_faults(page: Any) -> list[str]:
    """Return the serious and critical faults of accessibility of the open page."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {fault['nodes'][0]['html'][:160]} ({len(fault['nodes'])})"
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]

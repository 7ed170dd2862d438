"""The system's Chromium over this process's own server, for tests of pages."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
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


def pictured(page: Any, name: str) -> None:
    """Picture the open page as it is, if AVA_SCREENSHOTS names a folder for pictures."""
    folder = os.environ.get("AVA_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


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
def launched(*options: str) -> Iterator[Any]:
    """Launch a browser. options: of its command line."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *options])
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


PATIENCE_MS = 90_000
"""Time that a page or a condition may take: the machine may be busy with other work."""
_ABORTED = "net::ERR_ABORTED"
"""What a browser says of a recording that it need not read to its end."""


def listened(page: Any) -> list[str]:
    """Return the list to which errors, warnings and failed requests of this page are added."""
    said: list[str] = []
    page.set_default_timeout(PATIENCE_MS)
    page.on("console", lambda message: said.append(message.text) if message.type in FAULTS else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("response", lambda reply: said.append(f"{reply.status} {reply.url}") if reply.status >= 400 else None)
    page.on(
        "requestfailed",
        lambda request: said.append(f"{request.failure} {request.url}") if request.failure != _ABORTED else None,
    )
    return said


def shows(page: Any, words: str) -> bool:
    """Whether the open page shows these words somewhere."""
    return page.get_by_text(words).filter(visible=True).count() > 0


def overhang(page: Any) -> int:
    """Return the number of pixels by which the open page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


_MARK = """selector => {
  document.activeElement?.blur();
  const sought = [...document.querySelectorAll(selector)].filter(
    one => one.checkVisibility() && !one.disabled && one.type !== "hidden");
  window.look = one => { const s = getComputedStyle(one); return [s.outline, s.boxShadow, s.border].join(); };
  sought.forEach((one, n) => { one.dataset.sought = n; one.dataset.look = window.look(one); });
  return sought.length;
}"""
_FOCUSED = "() => document.activeElement?.dataset.sought ?? ''"
_SHOWN = """() => { const one = document.activeElement;
  return one.matches(":focus-visible") && window.look(one) !== one.dataset.look; }"""


def out_of_reach(page: Any, selector: str) -> list[str]:
    """Return the visible controls that Tab does not reach, or that do not show that they have the focus."""
    left = {str(n) for n in range(page.evaluate(_MARK, selector))}
    hidden = []
    stops = page.evaluate("document.querySelectorAll('a, button, input, select, textarea, summary, [tabindex]').length")
    for _ in range(2 * stops + 10):
        if not left:
            break
        page.keyboard.press("Tab")
        number = page.evaluate(_FOCUSED)
        if number not in left:
            continue
        left.discard(number)
        # The policy of a page forbids that playwright waits for an expression there.
        if not any(page.evaluate(_SHOWN) or page.wait_for_timeout(100) for _ in range(50)):
            hidden.append(number)
    find = "n => document.querySelector(`[data-sought='${n}']`).outerHTML.slice(0, 160)"
    return [page.evaluate(find, number) for number in (*sorted(left), *hidden)]


def serious_faults(page: Any) -> list[str]:
    """Return the serious and critical faults of accessibility of the open page."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {fault['nodes'][0]['html'][:160]} ({len(fault['nodes'])})"
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


def with_authenticator(page: Any) -> Callable[[], list[dict[str, Any]]]:
    """Give a tab an authenticator that keeps passkeys and agrees to each request. Returns a reader of its passkeys."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    made = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return lambda: list(devtools.send("WebAuthn.getCredentials", made)["credentials"])

"""The pages of accounts in Chromium: by keyboard, without JavaScript, with axe and an empty console.

`make test-browser` runs these; without a Chromium they are skipped (`apt-get install chromium`).
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core.cache import cache
from django.core.handlers.wsgi import WSGIHandler
from django.test import override_settings

from backend.people.models import Membership
from tests.conftest import Cast
from tests.people.cast import PASSWORD, invited, person

FAULTS = {"error", "warning"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: the service logs its requests itself."""


@pytest.fixture
def site(database: None) -> Iterator[str]:
    cache.clear()
    server = make_server("127.0.0.1", 0, WSGIHandler(), handler_class=_Quiet)
    address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with override_settings(CSRF_TRUSTED_ORIGINS=[address], PUBLIC_URL=address):
        yield address
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def checked(page: Any) -> None:
    """Check the open page for faults of accessibility."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def in_a_thread(work: Any) -> Any:
    """Run database work away from the thread of playwright, which has an event loop."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def test_an_invitation_is_accepted_by_keyboard(acme: Cast, site: str, chromium: Any) -> None:
    _, path = in_a_thread(lambda: invited(acme, "eve@example.org", "analyst"))
    context = chromium.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in FAULTS else None)
    page.on("pageerror", lambda error: said.append(str(error)))

    page.goto(site + path)
    checked(page)
    page.get_by_role("link", name="Create an account").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/accounts/signup/**")
    checked(page)
    page.get_by_label("Password").focus()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{path}")
    checked(page)
    page.get_by_role("button", name="Accept as eve@example.org").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/accounts/")
    checked(page)
    assert page.get_by_role("cell", name="Acme", exact=True).is_visible()
    for where in ("2fa/", "sessions/", "password/change/"):
        page.goto(f"{site}/accounts/{where}")
        checked(page)
    assert said == []

    def members() -> list[str]:
        with acme.scope():
            return list(Membership.objects.values_list("role", flat=True))

    assert in_a_thread(members) == ["analyst"]


def test_sign_in_works_without_javascript(acme: Cast, site: str, chromium: Any) -> None:
    ada = in_a_thread(person)
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(f"{site}/accounts/?tab=1")
    page.wait_for_url("**/accounts/login/?next=**")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/accounts/?tab=1")
    assert page.get_by_text(f"You are signed in as {ada.email}").is_visible()


def test_the_page_of_sign_in_is_accessible(site: str, chromium: Any) -> None:
    page = chromium.new_context().new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in FAULTS else None)
    page.goto(f"{site}/accounts/login/")
    checked(page)
    page.goto(f"{site}/accounts/password/reset/")
    checked(page)
    assert said == []

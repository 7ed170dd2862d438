"""Uploads of the app that are interrupted, in Chromium: only what is missing is sent again."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from backend.library.models import Upload, Video
from tests.browser.chromium import in_a_thread, in_chromium
from tests.conftest import Cast
from tests.web.app import App

pytestmark = in_chromium

PART = 16 * 1024**2
FILE = {"name": "long.mp4", "mimeType": "video/mp4", "buffer": bytes(2 * PART + 5_000)}
PUTS = re.compile(r"partNumber=")


def number_of(request: Any) -> int:
    return int(parse_qs(urlsplit(request.url).query)["partNumber"][0])


def test_after_a_reload_only_the_missing_parts_are_sent(acme: Cast, app: App, tmp_path: Any) -> None:
    page = app.page
    path = tmp_path / FILE["name"]
    path.write_bytes(FILE["buffer"])
    sent: list[int] = []
    is_away = True

    def storage(route: Any) -> None:
        if route.request.method == "PUT" and is_away and number_of(route.request) != 1:
            route.abort()
            return
        if route.request.method == "PUT":
            sent.append(number_of(route.request))
        route.continue_()

    page.route(PUTS, storage)
    page.on("dialog", lambda dialog: dialog.accept())
    app.open("library")
    page.locator("#files").set_input_files(path)
    page.wait_for_function("() => document.querySelector('.upload [role=progressbar]')?.ariaValueNow >= 49")

    page.reload()
    app.settle()
    assert sent == [1]
    app.said.clear()  # parts that did not arrive, and the page that was left
    is_away = False
    page.get_by_text("1 upload was interrupted").wait_for()
    app.check("upload-interrupted")
    page.locator(".tray input[type=file]").set_input_files(path)
    page.get_by_text("Queued for indexing").wait_for()
    assert sorted(sent) == [1, 2, 3]

    def stored() -> tuple[int, int]:
        with acme.scope():
            return Upload.objects.count(), Video.objects.get().size_bytes

    assert in_a_thread(stored) == (1, 2 * PART + 5_000)


def test_an_upload_goes_on_when_the_storage_comes_back_and_ends_when_it_is_canceled(acme: Cast, app: App) -> None:
    page = app.page
    failures = 3

    def storage(route: Any) -> None:
        nonlocal failures
        if route.request.method == "PUT" and failures:
            failures -= 1
            route.abort()
        else:
            route.continue_()

    page.route(PUTS, storage)
    app.open("library")
    page.locator("#files").set_input_files({**FILE, "buffer": bytes(5_000)})
    page.get_by_text("Queued for indexing").wait_for()
    assert failures == 0
    app.said.clear()
    failures = 1_000
    page.locator("#files").set_input_files({**FILE, "name": "other.mp4", "buffer": bytes(6_000)})
    page.get_by_role("button", name="Cancel: other.mp4").click()

    def statuses() -> list[str]:
        with acme.scope():
            return sorted(Upload.objects.values_list("status", flat=True))

    page.get_by_role("button", name="Cancel: other.mp4").wait_for(state="detached")
    for _ in range(100):
        if in_a_thread(statuses) in (["aborted", "completed"], ["completed"]):
            break
        page.wait_for_timeout(100)
    assert "open" not in in_a_thread(statuses)
    app.said.clear()

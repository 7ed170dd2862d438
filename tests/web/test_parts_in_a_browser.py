"""The parts of uploads of the app in Chromium: how many at once, in two tabs, refused ones, and a storage away."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backend.library.models import Upload, Video
from tests.browser.chromium import in_a_thread, in_chromium, listened
from tests.conftest import Cast
from tests.web.app import PHONE, WIDE, App
from tests.web.test_uploads_in_a_browser import PART, PUTS, number_of

pytestmark = in_chromium

AT_ONCE = 6
AWAY_S = 10


@pytest.fixture(params=[WIDE, PHONE], ids=["desk", "phone"])
def sized(app: App, request: Any) -> App:
    app.page.set_viewport_size(request.param)
    return app


def file_of(folder: Path, size: int) -> Path:
    path = folder / "long.mp4"
    with path.open("wb") as file:
        file.truncate(size)
    return path


def sizes(acme: Cast) -> list[int]:
    with acme.scope():
        return list(Video.objects.values_list("size_bytes", flat=True))


def test_many_parts_are_sent_six_at_once(acme: Cast, sized: App, tmp_path: Path) -> None:
    page = sized.page
    path = file_of(tmp_path, 9 * PART)
    under_way: set[Any] = set()
    most = 0

    def begun(request: Any) -> None:
        nonlocal most
        if request.method == "PUT" and PUTS.search(request.url):
            under_way.add(request)
            most = max(most, len(under_way))

    page.on("request", begun)
    for event in ("requestfinished", "requestfailed"):
        page.on(event, lambda request: under_way.discard(request))
    sized.open("library")
    page.locator("#files").set_input_files(path)
    page.get_by_text("Queued for indexing").wait_for()
    assert most == AT_ONCE
    assert in_a_thread(lambda: sizes(acme)) == [9 * PART]


def test_an_upload_outlasts_a_storage_that_is_away_for_ten_seconds(acme: Cast, app: App, tmp_path: Path) -> None:
    page = app.page
    begun = 0.0

    def storage(route: Any) -> None:
        nonlocal begun
        if route.request.method == "PUT" and number_of(route.request) > 1:
            begun = begun or time.monotonic()
            if time.monotonic() - begun < AWAY_S:
                route.abort()
                return
        route.continue_()

    page.route(PUTS, storage)
    app.open("library")
    page.locator("#files").set_input_files(file_of(tmp_path, 3 * PART))
    page.get_by_text("Queued for indexing").wait_for()
    assert begun
    assert in_a_thread(lambda: sizes(acme)) == [3 * PART]
    app.said.clear()


def test_a_part_that_arrives_damaged_is_refused_and_sent_again(acme: Cast, sized: App, tmp_path: Path) -> None:
    page = sized.page
    sent: Counter[int] = Counter()
    refused: list[int] = []

    def storage(route: Any) -> None:
        if route.request.method != "PUT":
            route.continue_()
            return
        number = number_of(route.request)
        sent[number] += 1
        if number == 2 and sent[number] == 1:
            route.continue_(post_data=b"\x01" * 5_000)  # its checksum is that of other bytes
        else:
            route.continue_()

    page.on("response", lambda reply: refused.append(reply.status) if PUTS.search(reply.url) and not reply.ok else None)
    page.route(PUTS, storage)
    sized.open("library")
    page.locator("#files").set_input_files(file_of(tmp_path, PART + 5_000))
    page.get_by_text("Queued for indexing").wait_for()
    assert (sent, refused) == (Counter({2: 2, 1: 1}), [400])
    assert in_a_thread(lambda: sizes(acme)) == [PART + 5_000]
    sized.said.clear()


def test_two_tabs_do_not_send_the_same_upload(acme: Cast, sized: App, tmp_path: Path) -> None:
    first = sized.page
    path = file_of(tmp_path, 2 * PART)
    sent: Counter[int] = Counter()
    held: list[Any] = []

    def storage(route: Any) -> None:
        if route.request.method == "PUT":
            sent[number_of(route.request)] += 1
            if number_of(route.request) == 2:
                held.append(route)
                return
        route.continue_()

    first.context.route(PUTS, storage)
    sized.open("library")
    first.locator("#files").set_input_files(path)
    first.wait_for_function("() => document.querySelector('.upload [role=progressbar]')?.ariaValueNow >= 49")
    second = first.context.new_page()
    said = listened(second)
    second.goto(f"{sized.site}/app/{sized.slug}/library")
    second.get_by_text("1 upload was interrupted").wait_for()
    second.locator(".tray input[type=file]").set_input_files(path)
    second.get_by_text("Another tab sends this file").wait_for()
    held.pop().continue_()
    first.get_by_text("Queued for indexing").wait_for()
    second.get_by_role("button", name="Try again: long.mp4").click()
    second.get_by_text("Queued for indexing").wait_for()
    assert sent == Counter({1: 1, 2: 1})

    def uploads() -> int:
        with acme.scope():
            return int(Upload.objects.count())

    assert (in_a_thread(uploads), in_a_thread(lambda: sizes(acme))) == (1, [2 * PART])
    assert [each for each in said if not re.match("net::ERR_ABORTED", each)] == []

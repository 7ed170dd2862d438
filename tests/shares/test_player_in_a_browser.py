"""The player of shared pages in Chromium: evidence, captions, chapters, keyboard, several recordings, and frames."""

from __future__ import annotations

import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from django.test import override_settings
from django.utils import timezone
from PIL import Image
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.ekg.models import Topic, TranscriptLine
from backend.playback.services import tokens as tokens_of_playback
from backend.questions.models import Evidence, Question, QuestionStatus, QuestionVideo
from tests.browser.chromium import (
    in_a_thread,
    in_chromium,
    launched,
    listened,
    overhang,
    pictured,
    serious_faults,
    served,
)
from tests.browser.hls import CHAPTERS, KINDS, answer_with, growing, make_rendition
from tests.conftest import Cast
from tests.ekg.recorded import new_id, record
from tests.engine.media.burnt_in import H264, made, time_in
from tests.playback.ten_hours import ten_hours
from tests.playback.watched import watched

pytestmark = in_chromium
MOMENTS = (
    (0, 24_000, 27_000, "He opens the gate."),
    (0, 34_000, 40_000, "A dog runs."),
    (1, 50_000, 55_000, "Nobody."),
)
"""Pieces of evidence: position of the recording, begin and end in ms, quote."""
STATE = """() => { const v = document.querySelector('video');
  return {at: v.currentTime, paused: v.paused, rate: v.playbackRate, muted: v.muted, length: v.duration}; }"""
THUMBNAIL = "() => document.querySelector('media-preview-thumbnail').shadowRoot.querySelector('img').naturalWidth > 0"
SHOWN = """() => [...document.querySelector('video').textTracks]
  .filter(track => track.kind === 'captions' && track.mode === 'showing').map(track => track.label)"""


@pytest.fixture
def site(database: None) -> Iterator[str]:
    with served() as address:
        yield address


@pytest.fixture(scope="module")
def rendition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rendition")
    make_rendition(folder)
    return folder


@pytest.fixture
def page() -> Iterator[Any]:
    with launched("--autoplay-policy=no-user-gesture-required") as browser:
        yield browser.new_page(reduced_motion="reduce", viewport={"width": 1280, "height": 900})


def in_an_hour() -> str:
    return (timezone.now() + timedelta(hours=1)).isoformat()


def shared(cast: Cast, *, recordings: int = 1) -> str:
    """Share an answer about recordings that have topics and a transcript; return the path of its page."""
    videos = [record(cast).video_id for _ in range(recordings)]
    with cast.scope():
        TranscriptLine.objects.filter(video_id__in=videos).update(language="en")
        question = Question.objects.create(
            tenant_id=cast.tenant_id, text="Who leaves?", answer="A man leaves, and a dog follows.",
            status=QuestionStatus.SUCCEEDED, finish_reason="answered",
        )  # fmt: skip
        for video in videos:
            QuestionVideo.objects.create(tenant_id=cast.tenant_id, question=question, video_id=video)
        for ordinal, (recording, start, end, quote) in enumerate(MOMENTS):
            Evidence.objects.create(
                tenant_id=cast.tenant_id, question=question, video_id=videos[min(recording, recordings - 1)],
                ordinal=ordinal, event_id=new_id(), start_ms=start, end_ms=end, quote=quote, frame_ms=start,
            )  # fmt: skip
        if not Topic.objects.filter(video_id=videos[0]).exists():
            Topic.objects.create(
                id=uuid7(), tenant_id=cast.tenant_id, video_id=videos[0], index_version=1, n=0, start_ms=0,
                end_ms=30_000, first_event=0, end_event=1, title="One", summary="One",
            )  # fmt: skip
    body = {"question_id": encode("qst", question.id), "play_recordings": True, "expires_at": in_an_hour()}
    made = cast.client.post("/v1/shares", body)
    assert made.status_code == 201, made.content
    return urlsplit(made.json()["url"]).path


def state(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(STATE)
    return found


def until(page: Any, wanted: Any) -> dict[str, Any]:
    """Wait until the state of the player is as wanted; return it."""
    for _ in range(900):
        found = state(page)
        if wanted(found):
            return found
        page.wait_for_timeout(100)
    raise AssertionError(found)


def opened(page: Any, site: str, path: str) -> list[str]:
    """Open a page whose player is ready; return the list of what the browser complains about."""
    said = listened(page)
    page.goto(site + path)
    until(page, lambda now: now["length"] and now["length"] > 0)
    return said


def current(page: Any, words: str) -> None:
    """Check that this piece of evidence, and no other, is marked as the one that is shown."""
    marked = page.locator("a[data-moment][aria-current]")
    marked.get_by_text(words).wait_for()
    assert marked.count() == 1


def test_a_shared_recording_plays_from_its_rendition(acme: Cast, site: str, page: Any) -> None:
    def path() -> str:
        with override_settings(KEEP_RENDITIONS=True):
            body = {"video_id": encode("vid", watched(acme, made("v.mp4", *H264)))}
        made_share = acme.client.post("/v1/shares", {**body, "expires_at": in_an_hour()})
        return urlsplit(made_share.json()["url"]).path

    said = opened(page, site, f"{in_a_thread(path)}#t=9,11")

    begun = until(page, lambda now: now["at"] > 0)
    assert (begun["length"], begun["at"]) == (pytest.approx(14, abs=0.3), 9)
    page.keyboard.press("k")
    until(page, lambda now: 9.5 < now["at"] < 11)
    box = page.locator("media-time-range").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    page.wait_for_function(THUMBNAIL)
    assert said == []


FIRST_PICTURE = """document.addEventListener("DOMContentLoaded", () => {
  const video = document.querySelector("video");
  video?.requestVideoFrameCallback(() => {
    const read = performance.getEntriesByType("resource").map(one => new URL(one.name).pathname);
    const pen = Object.assign(document.createElement("canvas"), {width: video.videoWidth, height: video.videoHeight});
    pen.getContext("2d").drawImage(video, 0, 0);
    window.first = {at: video.currentTime, picture: pen.toDataURL("image/png"),
      media: read.filter(path => /[.](mp4|m3u8)$/.test(path)).length};
  });
});"""
"""Notes what is drawn first, and how many requests for media and playlists had ended by then."""


def test_the_last_minute_of_ten_hours_is_drawn_after_a_few_requests(acme: Cast, site: str, page: Any) -> None:
    def path() -> str:
        with override_settings(KEEP_RENDITIONS=True):
            body = {"video_id": encode("vid", watched(acme, ten_hours())), "expires_at": in_an_hour()}
        return urlsplit(acme.client.post("/v1/shares", body).json()["url"]).path

    address = f"{site}{in_a_thread(path)}#t=35940"
    replies: list[Any] = []
    page.on("response", lambda reply: replies.append(reply) if ".m3u8" in reply.url or ".mp4" in reply.url else None)
    page.add_init_script(FIRST_PICTURE)
    said = listened(page)

    page.goto(address)
    page.wait_for_function("() => window.first !== undefined")

    first = page.evaluate("() => window.first")
    assert first["at"] == pytest.approx(35_940, abs=0.1)
    assert time_in(np.asarray(Image.open(BytesIO(b64decode(first["picture"].partition(",")[2]))).convert("L"))) == 40
    assert first["media"] <= 4
    assert sum(int(reply.headers.get("content-length", 0)) for reply in replies if reply.ok) <= 3_000_000
    assert state(page)["length"] == pytest.approx(36_000, abs=1)
    assert said == []


def test_a_press_on_evidence_plays_that_moment_and_ends_or_repeats_it(
    acme: Cast, site: str, page: Any, rendition: Path
) -> None:
    path = in_a_thread(lambda: shared(acme))
    answer_with(page, rendition)
    said = opened(page, site, path)
    pictured(page, "share-player")

    page.get_by_role("link", name="00:24–00:27").click()
    until(page, lambda now: 24 <= now["at"] < 27 and not now["paused"])
    current(page, "00:24–00:27")
    ended = until(page, lambda now: now["paused"])
    assert 27 <= ended["at"] < 28

    page.get_by_role("button", name="Repeat moment").click()
    page.get_by_role("link", name="00:24–00:27").click()
    until(page, lambda now: 26 < now["at"] < 27.5)
    again = until(page, lambda now: now["at"] < 26)
    assert (again["at"] >= 24, again["paused"]) == (True, False)
    assert said == []


def test_captions_and_chapters_come_from_the_recording(acme: Cast, site: str, page: Any, rendition: Path) -> None:
    path = in_a_thread(lambda: shared(acme))
    answer_with(page, rendition)
    said = opened(page, site, path)

    assert page.locator("[data-chapters] a").all_inner_texts() == [*CHAPTERS]
    page.get_by_role("link", name=CHAPTERS[1]).click()
    until(page, lambda now: 20 <= now["at"] < 24)
    assert page.evaluate(SHOWN) == []
    page.keyboard.press("c")
    page.wait_for_function("() => [...document.querySelector('video').textTracks].some(t => t.activeCues?.length)")
    assert page.evaluate(SHOWN) == ["English"]
    box = page.locator("media-time-range").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2)
    page.locator("media-time-range[mediapreviewimage*='sheet.jpg']").wait_for()
    assert said == []


def test_the_keyboard_moves_the_player(acme: Cast, site: str, page: Any, rendition: Path) -> None:
    path = in_a_thread(lambda: shared(acme))
    answer_with(page, rendition)
    said = opened(page, site, path)

    for key, wanted in (
        ("l", lambda now: now["at"] == 10), ("ArrowRight", lambda now: now["at"] == 15),
        ("j", lambda now: now["at"] == 5), ("ArrowLeft", lambda now: now["at"] == 0),
        ("End", lambda now: now["at"] == now["length"]), ("Home", lambda now: now["at"] == 0),
        ("m", lambda now: now["muted"]), (">", lambda now: now["rate"] == 1.25), ("<", lambda now: now["rate"] == 1),
        (" ", lambda now: not now["paused"]), ("k", lambda now: now["paused"]),
        ("n", lambda now: 24 <= now["at"] < 27), ("n", lambda now: 34 <= now["at"] < 40),
        ("p", lambda now: 24 <= now["at"] < 27),
    ):  # fmt: skip
        page.keyboard.press(key)
        until(page, wanted)
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement !== null")
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement === null")
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keyboard").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog", name="Keyboard").is_visible()
    assert said == []


def test_a_link_begins_at_its_moment_and_evidence_switches_the_recording(
    acme: Cast, site: str, page: Any, rendition: Path
) -> None:
    path = in_a_thread(lambda: shared(acme, recordings=2))
    answer_with(page, rendition)
    opened(page, site, f"{path}#t=34,40")

    assert until(page, lambda now: now["at"] > 0)["at"] == 34
    current(page, "Recording 1, 00:34–00:40")
    page.get_by_role("link", name="Recording 2, 00:50–00:55").click()
    until(page, lambda now: 50 <= now["at"] < 55)
    current(page, "Recording 2, 00:50–00:55")
    assert page.locator("nav [aria-current]").all_inner_texts() == ["Recording 2"]


def test_a_rendition_that_grows_or_is_not_there_yet_is_explained(
    acme: Cast, site: str, page: Any, rendition: Path
) -> None:
    path = in_a_thread(lambda: shared(acme))
    replies: list[dict[str, Any]] = [
        {"status": 503, "headers": {"Retry-After": "1", "Content-Type": "application/problem+json"}, "body": "{}"},
        {
            "body": growing((rendition / "index.m3u8").read_text(), 4),
            "headers": {"Content-Type": KINDS[".m3u8"]},
        },
    ]
    answer_with(page, rendition, lambda _: replies.pop(0) if len(replies) > 1 else replies[0])
    page.goto(site + path)

    page.get_by_text("The recording is being prepared for playback.").wait_for()
    page.get_by_text("Playable up to 0:24 of 0:30.").wait_for()
    until(page, lambda now: now["length"] == pytest.approx(24, abs=0.5))
    replies[0] = {"status": 404, "body": "{}"}
    page.reload()
    page.get_by_text("This recording cannot be played any more.").wait_for()


def test_the_player_gets_new_addresses_before_its_own_end(
    acme: Cast, site: str, page: Any, rendition: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = in_a_thread(lambda: shared(acme))
    answer_with(page, rendition)
    page.clock.install()
    opened(page, site, path)
    tokens = "() => [...document.querySelectorAll('track')].map(t => new URL(t.src).searchParams.get('token'))"
    (first,) = set(page.evaluate(tokens))

    # The ends of tokens lie on a clock of a quarter of an hour: another life stands for the next quarter.
    monkeypatch.setattr(tokens_of_playback, "LIFETIME_S", tokens_of_playback.LIFETIME_S // 2)
    with page.expect_response("**?recordings=1"):
        page.clock.fast_forward("05:01")
    page.wait_for_function(f"({tokens})().some(token => token !== '{first}')")
    assert len({first, *page.evaluate(tokens)}) == 2


def test_the_page_is_accessible_and_fits_any_screen(acme: Cast, site: str, page: Any, rendition: Path) -> None:
    path = in_a_thread(lambda: shared(acme, recordings=2))
    answer_with(page, rendition)
    assert opened(page, site, path) == []
    for name, query in (("page", ""), ("frame", "?embed=1")):
        page.goto(f"{site}{path}{query}")
        until(page, lambda now: now["length"] and now["length"] > 0)
        for scheme, width in (("dark", 390), ("light", 1280)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            pictured(page, f"share-{name}-{width}")
            assert serious_faults(page) == [], (name, scheme)
            assert overhang(page) <= 0, (name, width)


@contextmanager
def elsewhere(framed: str) -> Iterator[str]:
    """Serve a page of somebody else that has a frame; return its origin."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f'<iframe src="{framed}" width="640" height="600" allow="fullscreen"></iframe>'.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_frame_plays_on_pages_of_listed_origins_and_is_empty_on_others(
    acme: Cast, site: str, page: Any, rendition: Path
) -> None:
    path = in_a_thread(lambda: shared(acme))
    answer_with(page, rendition)
    with elsewhere(f"{site}{path}?embed=1") as listed, elsewhere(f"{site}{path}?embed=1") as foreign:
        body = {"origins": [], "embed_origins": [listed]}
        assert in_a_thread(lambda: acme.client.put("/v1/allowed-origins", body)).status_code == 200
        said = listened(page)
        page.goto(foreign)
        frame = page.frame_locator("iframe")
        for _ in range(100):
            if any("frame-ancestors" in each for each in said):
                break
            page.wait_for_timeout(100)
        assert any("frame-ancestors" in each for each in said)
        assert frame.get_by_text("A man leaves").count() == 0
        page.goto(listed)
        frame.get_by_text("A man leaves, and a dog follows.").wait_for()
        frame.get_by_role("link", name="00:34–00:40").click()
        playing = frame.locator("video")
        for _ in range(600):
            at = playing.evaluate("v => v.paused ? -1 : v.currentTime")
            if 34 <= at < 40:
                break
            page.wait_for_timeout(100)
        assert 34 <= at < 40

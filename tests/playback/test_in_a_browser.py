"""What Chromium plays of every kind of recording, picture by picture."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import numpy as np
import pytest
from PIL import Image

from backend.playback.services.signed_urls import playlist_url
from backend.playback.services.tokens import token_of
from tests.browser.chromium import PATIENCE_MS, in_a_thread, in_chromium, launched, served
from tests.conftest import Cast
from tests.engine.media.burnt_in import H264, HEVC, made, time_in
from tests.library import growing
from tests.playback.watched import watched
from tests.tasks.world import RENDERING, WITHOUT_MODELS, run_due

pytestmark = in_chromium
PLAYER = Path(__file__).parent / "player.js"
XVID = ("-c:v", "mpeg4", "-bf", "2", "-q:v", "2", "-c:a", "libmp3lame")
UNEVEN = "select='not(eq(mod(n,7),3))*not(between(t,5.05,6.95))'"


@pytest.fixture
def site(database: None) -> Iterator[str]:
    with served() as address:
        yield address


@pytest.fixture
def page(site: str) -> Iterator[Any]:
    with launched() as browser:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        # A page of ours, whose content policy allows media of the storage alone.
        page.goto(f"{site}/docs/quickstart")
        page.evaluate("() => document.body.replaceChildren(document.createElement('video'))")
        page.evaluate(PLAYER.read_text())
        yield page


def address_of(cast: Cast, video_id: UUID, **query: int) -> str:
    """The signed address of a playlist, on the test's own server."""
    url = urlsplit(playlist_url(video_id, token_of(cast.tenant_id, video_id), **query))
    return f"{url.path}?{url.query}"


def picture(page: Any, seconds: float) -> Image.Image:
    shown = page.evaluate("time => window.player.picture(time)", seconds)
    return Image.open(BytesIO(base64.b64decode(shown["url"].partition(",")[2])))


def says(page: Any, seconds: float) -> float:
    """The time that the picture shows which is on the screen at a time."""
    return time_in(np.asarray(picture(page, seconds).convert("L")))


def plays_directly(page: Any, content: bytes, kind: str) -> bool:
    """Whether the browser plays a file as it is."""
    script = """([bytes, type]) => new Promise(done => {
      const video = document.createElement("video");
      video.onerror = () => done(false);
      video.onloadedmetadata = () => { if (!video.videoWidth) done(false); };
      video.requestVideoFrameCallback(() => done(true));
      video.muted = true;
      const data = Uint8Array.from(atob(bytes), each => each.charCodeAt(0));
      video.src = URL.createObjectURL(new Blob([data], {type}));
      video.play().catch(() => done(false)); })"""
    return bool(page.evaluate(script, [base64.b64encode(content).decode(), kind]))


@pytest.mark.parametrize(
    ("name", "options", "direct"),
    [
        ("v.mkv", HEVC, False),
        ("v.avi", XVID, False),
        ("v.mp4", H264, True),
        ("silent.mp4", (*H264[:4], "-an"), True),
    ],
)
def test_it_plays_and_seeks_to_the_picture_of_each_time(
    acme: Cast, page: Any, name: str, options: tuple[str, ...], direct: bool
) -> None:
    content = made(name, *options)
    video_id = in_a_thread(lambda: watched(acme, content))

    opened = page.evaluate("address => window.player.open(address)", address_of(acme, video_id))

    assert opened["isEnded"]
    assert opened["duration"] == pytest.approx(14, abs=0.05)
    assert plays_directly(page, content, "video/x-matroska" if name.endswith("mkv") else "video/mp4") == direct
    for seconds in (0.05, 3.15, 6.05, 9.95, 13.85):
        assert says(page, seconds) == pytest.approx(int(seconds * 10) / 10, abs=0.01)
    assert page.evaluate("() => window.player.played(1, 2)") >= 3


def test_a_turned_video_of_uneven_rate_stands_upright_at_its_times(acme: Cast, page: Any) -> None:
    content = made(
        "v.mov", "-c:v", "libx264", "-fps_mode", "vfr", "-g", "20", rate="30", filters=f"{UNEVEN},transpose=2"
    )
    turned = made_turned(content)
    video_id = in_a_thread(lambda: watched(acme, turned))

    page.evaluate("address => window.player.open(address)", address_of(acme, video_id))

    assert picture(page, 1.02).size == (320, 180)
    for seconds in (0.52, 3.02, 9.02):
        assert says(page, seconds) == pytest.approx(seconds, abs=0.1)
    # Nothing was recorded for two seconds, so the picture before them stands.
    assert says(page, 6.5) == pytest.approx(5, abs=0.1)


def made_turned(content: bytes) -> bytes:
    """The recording with a mark that its pictures are to be turned clockwise, as phones write it."""
    from tempfile import TemporaryDirectory

    from tests.engine.indexing.media import run_ffmpeg

    with TemporaryDirectory() as folder:
        stored, turned = Path(folder) / "a.mov", Path(folder) / "b.mov"
        stored.write_bytes(content)
        run_ffmpeg("-display_rotation", "-90", "-i", str(stored), "-c", "copy", str(turned))
        return turned.read_bytes()


def test_playback_of_a_recording_that_grows_with_a_missing_piece(acme: Cast, page: Any) -> None:
    def begun() -> UUID:
        video_id = growing.begin(acme)
        for n in range(6):
            content = b"broken" if n == 2 else made("v.mp4", *H264, seconds=4)
            growing.send(acme, video_id, content)
            run_due(classes=WITHOUT_MODELS)
        run_due(classes=RENDERING)
        return video_id

    video_id = in_a_thread(begun)
    opened = page.evaluate("address => window.player.open(address)", address_of(acme, video_id))
    assert not opened["isEnded"]
    # The broken file takes no time.
    assert opened["duration"] == pytest.approx(20, abs=0.3)
    for seconds in (0.55, 4.55, 9.05, 17.05):
        assert says(page, seconds) == pytest.approx(int(seconds % 4 * 10) / 10, abs=0.11)

    def ended() -> None:
        growing.close(acme, video_id)
        run_due(classes=WITHOUT_MODELS)
        run_due(classes=RENDERING)

    in_a_thread(ended)
    assert page.evaluate("address => window.player.open(address)", address_of(acme, video_id))["isEnded"]


def test_a_part_and_the_whole_open_at_once(acme: Cast, page: Any) -> None:
    video_id = in_a_thread(lambda: watched(acme, made("v.mp4", *H264)))

    second = page.evaluate("address => window.player.open(address)", address_of(acme, video_id))["second"]
    # The player puts the fragment to the beginning, as players do.
    opening = [address_of(acme, video_id, start_ms=7_500, end_ms=9_000), second]
    part = page.evaluate("([address, shift]) => window.player.open(address, shift)", opening)
    assert float(part["first"]) == pytest.approx(7.5 - second, abs=0.001)
    assert says(page, float(part["first"]) + 0.02) == pytest.approx(7.5, abs=0.01)

    page.evaluate("address => window.player.open(address)", address_of(acme, video_id))
    assert says(page, 7.52) == pytest.approx(7.5, abs=0.01)

"""The page of a share in Chromium without scripts, and when the share has ended. The player has tests of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from backend.api.public_ids import decode, encode
from backend.library.storage import ObjectStorage
from backend.questions.models import Evidence, Question, QuestionStatus, QuestionVideo
from infra.local import ffmpeg
from tests.browser.chromium import (
    in_a_thread,
    in_chromium,
    launched,
    listened,
    overhang,
    serious_faults,
    served,
)
from tests.conftest import Cast
from tests.ekg.recorded import new_id
from tests.library.test_storage_quota import probe
from tests.library.uploading import make_video

pytestmark = in_chromium
# The smallest JPEG that a browser shows: one grey pixel.
PIXEL = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300" + "01" * 64 + "ffc0000b080001000101011100ffc400140001"
    "00000000000000000000000000000009ffc40014100100000000000000000000000000000000ffda0008010100003f0054dfffd9"
)


@pytest.fixture
def site(database: None) -> Iterator[str]:
    with served() as address:
        yield address


@pytest.fixture
def chromium() -> Iterator[Any]:
    with launched() as browser:
        yield browser


def playable() -> bytes:
    """Return 12 s of video in a codec that browsers play."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "a.mp4"
        picture = ["-f", "lavfi", "-i", "testsrc=duration=12:rate=4:size=320x180"]
        codec = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "ultrafast"]
        subprocess.run([str(ffmpeg.ffmpeg()), "-nostdin", "-v", "error", *picture, *codec, str(file)], check=True)
        return file.read_bytes()


def shared(cast: Cast) -> list[str]:
    """Make a recording and an answer about it; return the paths of a share of each."""
    video = decode("vid", make_video(cast.client, playable())["id"])
    probe(cast, video)
    key = f"t/{cast.tenant_id}/q/x/1.jpg"
    ObjectStorage().put(key, PIXEL, content_type="image/jpeg")
    with cast.scope():
        question = Question.objects.create(
            tenant_id=cast.tenant_id,
            text="Who leaves?",
            answer="Nobody.",
            status=QuestionStatus.SUCCEEDED,
            finish_reason="answered",
        )
        linked = {"tenant_id": cast.tenant_id, "question": question, "video_id": video}
        QuestionVideo.objects.create(**linked)
        Evidence.objects.create(
            **linked, ordinal=0, event_id=new_id(), start_ms=0, end_ms=3_000, quote="Grey.", frame_ms=0, frame_key=key
        )
    until = (timezone.now() + timedelta(hours=1)).isoformat()
    named: list[dict[str, str]] = [{"video_id": encode("vid", video)}, {"question_id": encode("qst", question.id)}]
    return [urlsplit(cast.client.post("/v1/shares", {**one, "expires_at": until}).json()["url"]).path for one in named]


def test_without_scripts_an_answer_shows_its_picture_and_a_recording_its_files(
    acme: Cast, site: str, chromium: Any
) -> None:
    played, answered = in_a_thread(lambda: shared(acme))
    page = chromium.new_context(java_script_enabled=False, reduced_motion="reduce").new_page()
    said = listened(page)

    page.goto(site + answered)
    assert page.get_by_text("Nobody.").is_visible()
    assert page.evaluate("() => document.querySelector('img').naturalWidth") == 1
    page.goto(site + played)
    page.get_by_text("The recording as it was uploaded").click()
    page.locator("details video").evaluate("video => { video.preload = 'metadata'; video.load(); }")
    loaded = "video => new Promise(done => { const check = () => video.error ? done(video.error.message)"
    loaded += " : video.readyState >= 1 ? done(video.duration) : setTimeout(check, 50); check(); })"
    assert page.locator("details video").evaluate(loaded) == pytest.approx(12, abs=0.5)
    assert not page.get_by_role("region", name="Player").is_visible()
    assert said == []


def test_an_ended_share_says_so(acme: Cast, site: str, chromium: Any) -> None:
    page = chromium.new_page(reduced_motion="reduce")
    page.goto(f"{site}/share/never-made")
    assert page.get_by_role("heading", name="There is nothing here").is_visible()
    checked(page)


def checked(page: Any) -> None:
    for scheme, width in (("dark", 390), ("light", 1280)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        assert serious_faults(page) == [], (page.url, scheme)
        assert overhang(page) <= 0, page.url

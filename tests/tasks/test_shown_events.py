"""What a player shows at the start of an event is the picture that the index keeps of this time."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from django.conf import settings
from numpy.typing import NDArray

from backend.ekg.models import Event, Frame
from backend.library.storage import ObjectStorage
from tests.conftest import Cast
from tests.engine.media.burnt_in import H264, HEVC, made, pictures_in, time_in
from tests.playback.watched import media, playlist
from tests.scripted_openai import ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.eyes import GREEN, RED, chunk_n, description, see
from tests.tasks.world import arrived, run_due

BORDER = 2
"""Number of chunks of 3 s in the first event."""


def tell_two_events(request: ScriptedRequest) -> Any:
    if request.schema_name != "chunk_description":
        return see(request)
    n = chunk_n(request)
    return {"description": description(RED if n < BORDER else GREEN, n), "on_screen_clock": "", "on_screen_text": []}


def similarity(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """Return the structural similarity of two grey pictures (Wang et al. 2004; Gaussian window of 11, sigma 1.5)."""

    def local(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(cv2.GaussianBlur(values, (11, 11), 1.5))

    a, b = one.astype(np.float64), other.astype(np.float64)
    mean_a, mean_b = local(a), local(b)
    spread = local(a * a) - mean_a**2 + local(b * b) - mean_b**2
    shared = local(a * b) - mean_a * mean_b
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    found = (2 * mean_a * mean_b + c1) * (2 * shared + c2) / ((mean_a**2 + mean_b**2 + c1) * (spread + c2))
    return float(found.mean())


@pytest.mark.parametrize(("name", "codecs"), [("v.mp4", H264[:4]), ("v.mkv", HEVC[:4])])
def test_the_picture_at_the_start_of_an_event_is_its_thumbnail(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch, name: str, codecs: tuple[str, ...]
) -> None:
    monkeypatch.setattr(settings, "KEEP_RENDITIONS", True)
    vlm.script = tell_two_events
    video_id = arrived(acme, made(name, *codecs, seconds=8, sound=False))
    run_due()

    shown = pictures_in(media(acme, video_id, playlist(acme, video_id)))

    with acme.scope():
        starts = list(Event.objects.filter(video_id=video_id).order_by("n").values_list("start_ms", flat=True))
        frames = dict(Frame.objects.filter(video_id=video_id).values_list("ms", "thumbnail_key"))
    assert starts == [0, BORDER * 3_000]
    for start_ms in starts:
        coded = np.frombuffer(ObjectStorage().get(frames[start_ms]), np.uint8)
        thumbnail = np.asarray(cv2.imdecode(coded, cv2.IMREAD_GRAYSCALE), np.uint8)
        high, wide = thumbnail.shape
        picture = max((at, n) for n, (at, _) in enumerate(shown) if at <= start_ms / 1000 + 0.001)[1]
        now = np.asarray(cv2.resize(shown[picture][1], (wide, high)), np.uint8)
        assert similarity(now, thumbnail) >= 0.9
        assert time_in(now) == time_in(thumbnail) == start_ms / 1000

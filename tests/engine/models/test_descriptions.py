"""What a describer sends and keeps: video, unchanged chunks, names, lists that never end."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from gpu_workers.engine.ekg import Picture, SampledFrame, Span
from gpu_workers.engine.models.change import unchanged_since
from gpu_workers.engine.models.pictures import jpeg_of, jpeg_size, jpeg_tokens, picture_tokens
from gpu_workers.engine.models.roles import ChatCapabilities, ChunkView, Meter, SegmentView
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.transport import RetryPolicy
from gpu_workers.engine.models.served.vision import VlmDescriber
from tests.scripted_openai import ScriptedOpenAIServer, ScriptedRequest, looping, with_window

WIDTH, HEIGHT = 640, 360
SEES_VIDEO = ChatCapabilities(32_768, images=True, video=True)
SEES_IMAGES = ChatCapabilities(32_768, images=True)


def _model(server: ScriptedOpenAIServer, capabilities: ChatCapabilities = SEES_VIDEO) -> OpenAIChatModel:
    return OpenAIChatModel(
        base_url=server.url, model="scripted", capabilities=capabilities, retry=RetryPolicy(attempts=1)
    )


def _scene(ball: int | None, *, noise: int = 0, light: int = 0) -> Picture:
    """A hall with a door, as a still camera sees it, and a ball at a place, if any. noise: seed of the sensor's."""
    picture = np.full((HEIGHT, WIDTH, 3), 100 + light, dtype=np.int16)
    picture[100:300, 450:550] = 60 + light
    if ball is not None:
        picture[200:220, ball : ball + 20] = 230
    picture += np.random.default_rng(noise).normal(0, 4, picture.shape).astype(np.int16)
    return np.asarray(picture.clip(0, 255), dtype=np.uint8)


def _view(*balls: list[int | None], light: int = 0, before: str = "") -> SegmentView:
    """A segment with a chunk per list: six places of the ball, one a frame."""
    chunks = []
    for n, places in enumerate(balls):
        frames = tuple(
            SampledFrame(3000 * n + 500 * k, _scene(ball, noise=6 * n + k, light=light * n))
            for k, ball in enumerate(places)
        )
        chunks.append(ChunkView(n, Span(3000 * n, 3000 * n + 3000), frames))
    return SegmentView(Span(0, 3000 * len(balls)), tuple(chunks), before=before)


EMPTY: list[int | None] = [None] * 6
RESTS: list[int | None] = [350] * 6
ROLLS: list[int | None] = [50, 100, 150, 200, 250, 300]


def _answer(request: ScriptedRequest) -> dict[str, Any]:
    start = request.user.split(" to ")[-2][-5:] if " to " in request.user else ""
    return {"description": f"What is seen from {start} on.", "on_screen_clock": "", "on_screen_text": ["EXIT"]}


# --- video ---------------------------------------------------------------------------------------------------------


def test_a_chunk_is_one_video_with_the_times_of_its_frames() -> None:
    with ScriptedOpenAIServer(_answer) as server:
        VlmDescriber(_model(server)).describe(_view(ROLLS), meter=Meter())
        (request,) = server.requests
    (frames,) = request.videos
    assert request.images == ()
    assert [jpeg_size(frame) for frame in frames] == [(640, 360)] * 6
    assert "Frames from 0.0 s to 2.5 s:" in request.texts
    assert request.body["media_io_kwargs"]["video"]["fps"] == 2.0


def test_a_server_without_video_gets_one_picture_in_full_and_small_ones() -> None:
    with ScriptedOpenAIServer(_answer) as server:
        VlmDescriber(_model(server, SEES_IMAGES)).describe(_view(ROLLS), meter=Meter())
        (request,) = server.requests
    sizes = [jpeg_size(jpeg) for jpeg in request.images]
    assert sizes == [(420, 236)] * 3 + [(640, 360)] + [(420, 236)] * 2
    assert request.videos == ()


@pytest.mark.parametrize("capabilities", [SEES_VIDEO, SEES_IMAGES], ids=["video", "images"])
def test_a_chunk_costs_at_most_three_fifths_of_six_pictures(capabilities: ChatCapabilities) -> None:
    """Six pictures of 640x360 with labels and instructions were 2,200 tokens."""
    with ScriptedOpenAIServer(_answer) as server:
        VlmDescriber(_model(server, capabilities)).describe(_view(ROLLS, before="x " * 400), meter=Meter())
        (request,) = server.requests
    words = len(request.text) / 4
    pictures = sum(jpeg_tokens(jpeg, patch=28) for jpeg in request.images)
    pictures += sum(jpeg_tokens(frame, patch=28) / 2 for frames in request.videos for frame in frames)
    assert words + pictures <= 0.6 * 2_200


def test_the_tokens_of_a_picture_follow_its_size_and_the_models_patch() -> None:
    assert picture_tokens(640, 360, patch=28) == 23 * 13 + 2
    assert picture_tokens(640, 360, patch=32) == 20 * 11 + 2
    assert picture_tokens(1080, 1920, patch=28) == 39 * 69 + 2
    portrait = jpeg_of(np.zeros((768, 432, 3), dtype=np.uint8), longest=768)
    assert jpeg_size(portrait) == (432, 768)
    assert jpeg_tokens(portrait, patch=28) == 15 * 27 + 2
    assert jpeg_size(b"no picture") is None


@pytest.mark.parametrize("progressive", [False, True])
def test_the_size_of_a_jpeg_is_read_from_any_coding(progressive: bool) -> None:
    picture = np.zeros((33, 77, 3), dtype=np.uint8)
    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_PROGRESSIVE, int(progressive)])
    assert jpeg_size(data.tobytes()) == (77, 33)


# --- unchanged chunks ------------------------------------------------------------------------------------------------


def test_a_chunk_that_shows_nothing_new_keeps_the_description_before_it_and_says_so() -> None:
    with ScriptedOpenAIServer(_answer) as server:
        result = VlmDescriber(_model(server)).describe(_view(EMPTY, EMPTY, ROLLS, RESTS, RESTS, EMPTY), meter=Meter())
        asked = sorted(_answer(request)["description"] for request in server.requests)
    assert [chunk.inherited for chunk in result.chunks] == [False, True, False, False, True, False]
    texts = [chunk.description for chunk in result.chunks]
    assert texts[1] == texts[0]
    assert texts[4] == texts[3]
    assert len(set(texts)) == 4
    assert asked == sorted({text for text in texts if text})
    assert all(chunk.on_screen_text == ("EXIT",) for chunk in result.chunks)


def test_a_chunk_after_motion_is_described_although_it_looks_like_the_end_of_the_motion() -> None:
    ends_here: list[int | None] = [50, 100, 150, 200, 250, 350]
    assert unchanged_since(_view(ends_here, RESTS, RESTS).chunks) == [None, None, 1]


def test_slow_changes_add_up_until_they_count() -> None:
    views = _view(*[EMPTY] * 9, light=3).chunks
    kept = unchanged_since(views)
    assert kept[1] == 0
    assert any(source is None for source in kept[1:])


def _with_clock(view: SegmentView) -> SegmentView:
    """Draw a clock with seconds into each picture, in the form of a surveillance camera's."""
    chunks = []
    for chunk in view.chunks:
        frames = []
        for frame in chunk.frames:
            picture = frame.picture.copy()
            seconds = 58 + frame.ms // 1000
            text = f"2021-03-04 12:{seconds // 60:02}:{seconds % 60:02}"
            cv2.putText(picture, text, (12, 28), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (255, 255, 255), 2)
            frames.append(SampledFrame(frame.ms, picture))
        chunks.append(replace(chunk, frames=tuple(frames)))
    return replace(view, chunks=tuple(chunks))


def test_a_clock_in_the_picture_is_no_change_and_what_moves_is() -> None:
    view = _with_clock(_view(*[EMPTY] * 4, ROLLS, *[EMPTY] * 5))
    kept = unchanged_since(view.chunks)
    assert kept[4] is None
    assert kept[5] is None
    assert sum(source is None for source in kept) <= 4, kept


def test_a_kept_description_has_no_reading_of_the_clock() -> None:
    def answer(request: ScriptedRequest) -> dict[str, Any]:
        return {**_answer(request), "on_screen_clock": "12:00:58"}

    with ScriptedOpenAIServer(answer) as server:
        result = VlmDescriber(_model(server)).describe(_view(EMPTY, EMPTY), meter=Meter())
    described, kept = result.chunks
    assert kept.inherited
    assert described.on_screen_text == ("EXIT", "12:00:58")
    assert kept.on_screen_text == ("EXIT",)
    assert "12:00:58" in (described.description or "")
    assert "12:00:58" not in (kept.description or "")


def test_something_small_that_moves_about_is_a_change() -> None:
    walks: list[list[int | None]] = [[40 * n + 6 * k for k in range(6)] for n in range(10)]
    assert unchanged_since(_view(*walks).chunks) == [None] * 10


def test_a_still_hour_asks_for_a_third_of_a_busy_one_at_most() -> None:
    with ScriptedOpenAIServer(_answer) as server:
        describer = VlmDescriber(_model(server))
        describer.describe(_view(*[EMPTY] * 10), meter=Meter())
        still = len(server.requests)
        describer.describe(_view(*[ROLLS] * 10), meter=Meter())
        busy = len(server.requests) - still
    assert (still, busy) == (1, 10)


def test_a_chunk_like_one_that_was_refused_is_a_gap_too() -> None:
    with ScriptedOpenAIServer("never JSON") as server:
        result = VlmDescriber(_model(server)).describe(_view(EMPTY, EMPTY), meter=Meter())
        assert len(server.requests) == 3
    assert [chunk.gap for chunk in result.chunks] == ["invalid_output"] * 2


# --- names ---------------------------------------------------------------------------------------------------------


def test_chunks_are_shown_the_description_of_the_first_one_and_only_that_is_waited_for() -> None:
    with ScriptedOpenAIServer(_answer) as server:
        VlmDescriber(_model(server)).describe(_view(ROLLS, ROLLS, ROLLS), meter=Meter())
        first, *others = (request.user for request in server.requests)
    assert "nothing else): nothing" in first
    assert all("nothing else): What is seen from 00:00 on." in text for text in others)


def test_nothing_is_waited_for_when_the_chunk_before_the_segment_is_known() -> None:
    with ScriptedOpenAIServer(_answer) as server:
        VlmDescriber(_model(server)).describe(_view(ROLLS, ROLLS, before="A man in a hat."), meter=Meter())
        assert all("nothing else): A man in a hat." in request.user for request in server.requests)


# --- answers that are cut ------------------------------------------------------------------------------------------


def test_a_list_that_never_ends_costs_one_call_and_keeps_the_description() -> None:
    beginning = '{"description": "A slide with a table.", "on_screen_clock": "", "on_screen_text": ['
    with ScriptedOpenAIServer(looping(beginning, '"Revenue 2024", ')) as server:
        result = VlmDescriber(_model(server)).describe(_view(ROLLS), meter=Meter())
        assert len(server.requests) == 1
    (chunk,) = result.chunks
    assert (chunk.description, chunk.on_screen_text) == ("A slide with a table.", ("Revenue 2024",))
    assert [(warning.n, warning.code) for warning in result.warnings] == [(0, "output_truncated")]


def test_every_list_and_every_text_of_a_description_is_bounded() -> None:
    with ScriptedOpenAIServer(_answer) as server:
        VlmDescriber(_model(server)).describe(_view(ROLLS), meter=Meter())
        schema = server.requests[0].schema
    assert schema is not None
    assert unbounded(schema) == []
    assert list(schema["properties"]) == ["description", "on_screen_clock", "on_screen_text"]


def unbounded(schema: Any, path: str = "") -> list[str]:
    """Return the parts of a schema that have no limit."""
    found: list[str] = []
    if schema.get("type") == "string" and not {"maxLength", "enum"} & set(schema):
        found.append(path)
    if schema.get("type") == "array":
        found += [] if "maxItems" in schema else [path]
        found += unbounded(schema["items"], f"{path}[]")
    for name, part in schema.get("properties", {}).items():
        found += unbounded(part, f"{path}.{name}")
    return found


def test_a_window_of_4k_holds_a_description() -> None:
    with ScriptedOpenAIServer(with_window(lambda request: json.dumps(_answer(request)), 4_096)) as server:
        result = VlmDescriber(_model(server)).describe(_view(ROLLS), meter=Meter())
    assert result.chunks[0].gap is None

"""NVDEC for real: the frames of the CPU, from a box and without one, cut like segments, turned, and after damage."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import cast

import av
import numpy as np
import pytest
from av.video.stream import VideoStream

from gpu_workers.engine.ekg import SampledFrame, Span
from gpu_workers.engine.indexing import hardware
from gpu_workers.engine.indexing.frame_samples import FrameSamples
from gpu_workers.engine.indexing.sampling import sample_frames

FPS, MAX_SIDE, SECONDS, RATE = 2.0, 320, 8, 25
CODECS = {
    "h264": ("libx264", {"bf": "3"}),
    "h264-intra": ("libx264", {"g": "1"}),
    "hevc": ("libx265", {"x265-params": "log-level=none"}),
    "vp9": ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8"}),
    "av1": ("libsvtav1", {"preset": "12"}),
    "mpeg4": ("mpeg4", {}),
}


def clip(path: Path, encoder: str, options: dict[str, str]) -> Path:
    """Write SECONDS of a picture that moves everywhere."""
    rng = np.random.default_rng(7)
    scene = rng.integers(0, 255, (180, 640, 3), dtype=np.uint8)
    scene = np.repeat(np.repeat(scene[::20, ::20], 20, axis=0), 20, axis=1)
    with av.open(str(path), "w") as container:
        stream = cast("VideoStream", container.add_stream(encoder, rate=RATE, options=options))
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        stream.codec_context.gop_size = 25
        for n in range(SECONDS * RATE):
            picture = np.roll(scene, -4 * n, axis=1)[:, :320]
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = n, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def in_process(path: Path, span: Span, choice: str, monkeypatch: pytest.MonkeyPatch) -> FrameSamples:
    monkeypatch.setenv("AVA_HWACCEL", choice)
    return FrameSamples(str(path), span, fps=FPS, max_side=MAX_SIDE)


def check_same(found: list[SampledFrame], expected: list[SampledFrame]) -> None:
    assert [frame.ms for frame in found] == [frame.ms for frame in expected]
    for mine, theirs in zip(found, expected, strict=True):
        assert np.array_equal(mine.picture, theirs.picture), f"at {mine.ms} ms"


@pytest.mark.parametrize("span", [Span(0, SECONDS * 1000), Span(2_000, 5_000)], ids=["whole", "inside"])
@pytest.mark.parametrize("codec", CODECS)
def test_the_device_decodes_the_frames_of_the_cpu(
    tmp_path: Path, codec: str, span: Span, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = clip(tmp_path / "v.mkv", *CODECS[codec])
    expected = list(in_process(path, span, "off", monkeypatch))
    assert len(expected) == span.duration_ms * FPS / 1000
    samples = in_process(path, span, "cuda", monkeypatch)
    found = list(samples)
    assert samples.hardware_failure is None
    assert samples.skipped == 0
    check_same(found, expected)


@pytest.mark.parametrize("codec", ["h264", "hevc", "av1"])
def test_the_device_decodes_in_a_box(
    tmp_path: Path, codec: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path, span = clip(tmp_path / "v.mkv", *CODECS[codec]), Span(0, SECONDS * 1000)
    expected = list(in_process(path, span, "off", monkeypatch))
    monkeypatch.setenv("AVA_HWACCEL", "cuda")
    hardware.report_failure.cache_clear()
    with sample_frames(str(path), span, fps=FPS, max_side=MAX_SIDE) as frames:
        found = [SampledFrame(frame.ms, frame.picture.copy()) for frame in frames]
    assert "the CPU decodes" not in caplog.text, "the box used the device"
    check_same(found, expected)


@pytest.mark.parametrize("codec", ["h264", "h264-intra", "hevc", "vp9"])
def test_the_frames_come_from_the_device(tmp_path: Path, codec: str) -> None:
    """Without this the software fallback of FFmpeg could pass every test above."""
    path = clip(tmp_path / "v.mkv", *CODECS[codec])
    accelerated = av.codec.hwaccel.HWAccel("cuda", allow_software_fallback=False)
    with av.open(str(path), hwaccel=accelerated) as container:
        frames = list(container.decode(container.streams.video[0]))
        assert container.streams.video[0].codec_context.is_hwaccel
    assert len(frames) == SECONDS * RATE


def test_a_damaged_file_loses_no_frame_that_the_cpu_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = clip(tmp_path / "v.mkv", *CODECS["h264"])
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 400] = bytes(400)
    path.write_bytes(data)
    span = Span(0, SECONDS * 1000)
    expected = [frame.ms for frame in in_process(path, span, "off", monkeypatch)]
    found = [frame.ms for frame in in_process(path, span, "cuda", monkeypatch)]
    assert set(found) >= set(expected)

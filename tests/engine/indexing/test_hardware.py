"""Hardware decoding where there is no hardware: the CPU decodes, and the frames are the same."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import av
import numpy as np
import pytest

from gpu_workers.engine.ekg import SampledFrame, Span
from gpu_workers.engine.indexing import hardware
from gpu_workers.engine.indexing.frame_samples import FrameSamples
from gpu_workers.engine.indexing.hardware import HardwareFailed, accelerator, look_of
from gpu_workers.engine.indexing.sampling import sample_frames
from tests.engine.indexing.media import run_ffmpeg, solid, write_video


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "v.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc2=duration=6:rate=25:size=160x120", "-c:v", "libx264", "-bf", "2",
               "-g", "25", str(path))  # fmt: skip
    return path


def sampled(path: Path, span: Span) -> tuple[list[SampledFrame], int]:
    with sample_frames(str(path), span, fps=2, max_side=160) as frames:
        return list(frames), frames.skipped


def no_device() -> bool:
    return not any(device.exists() for device in hardware._DEVICES)


@pytest.mark.skipif(not no_device(), reason="this machine has a device that decodes")
@pytest.mark.parametrize("span", [Span(0, 6_000), Span(2_000, 5_000)])
def test_an_unavailable_device_gives_the_frames_of_the_cpu(
    clip: Path, span: Span, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AVA_HWACCEL", "off")
    expected, _ = sampled(clip, span)
    assert len(expected) == span.duration_ms // 500
    monkeypatch.setenv("AVA_HWACCEL", "cuda")
    hardware.report_failure.cache_clear()
    found, skipped = sampled(clip, span)
    assert "the CPU decodes" in caplog.text, "the device was tried"
    assert skipped == 0
    assert [frame.ms for frame in found] == [frame.ms for frame in expected]
    for mine, theirs in zip(found, expected, strict=True):
        assert np.array_equal(mine.picture, theirs.picture)


def test_a_decoder_that_fails_in_the_middle_is_replaced_there(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AVA_HWACCEL", "off")
    expected, _ = sampled(clip, Span(0, 6_000))
    sample_by = FrameSamples._sample_by

    def failing(self: FrameSamples, accelerated: object) -> Generator[SampledFrame, None, None]:
        for n, frame in enumerate(sample_by(self, None)):
            if accelerated is not None and n == 5:
                raise HardwareFailed("the device is lost")
            yield frame

    monkeypatch.setenv("AVA_HWACCEL", "cuda")
    monkeypatch.setattr(FrameSamples, "_sample_by", failing)
    samples = FrameSamples(str(clip), Span(0, 6_000), fps=2, max_side=160)
    found = list(samples)
    assert samples.hardware_failure == "the device is lost"
    assert [frame.ms for frame in found] == [frame.ms for frame in expected]
    assert all(np.array_equal(a.picture, b.picture) for a, b in zip(found, expected, strict=True))


def turn_of(path: Path) -> int:
    look = look_of(str(path))
    assert look is not None
    return round(look.pattern.rotation) % 360


def test_the_rotation_that_hardware_loses_is_read_from_the_file(clip: Path, tmp_path: Path) -> None:
    run_ffmpeg("-display_rotation", "-90", "-i", str(clip), "-c", "copy", str(tmp_path / "turned.mp4"))
    assert turn_of(clip) == 0
    assert turn_of(tmp_path / "turned.mp4") == 270


def test_a_picture_in_the_layout_of_a_device_comes_back_bit_by_bit(clip: Path) -> None:
    look = look_of(str(clip))
    assert look is not None
    relay = av.video.reformatter.VideoReformatter()
    with av.open(str(clip)) as container:
        for frame in list(container.decode(container.streams.video[0]))[::40]:
            complete = look.complete(relay.reformat(frame, format="nv12"))
            assert np.array_equal(complete.to_ndarray(), frame.to_ndarray())
            assert complete.format.name == frame.format.name


def test_pictures_of_another_size_are_left_to_the_cpu(clip: Path) -> None:
    look = look_of(str(clip))
    assert look is not None
    with pytest.raises(HardwareFailed, match="size"):
        look.complete(av.VideoFrame(64, 48, "nv12"))


def test_a_codec_whose_standard_leaves_bits_open_is_left_to_the_cpu(tmp_path: Path) -> None:
    assert look_of(str(write_video(tmp_path / "v.mp4", [0, 100], [solid((0, 0, 0))] * 2, codec="mpeg4"))) is None


def test_the_setting_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    device = tmp_path / "nvidiactl"
    monkeypatch.setattr(hardware, "_DEVICES", (device,))
    monkeypatch.setenv("AVA_HWACCEL", "auto")
    assert accelerator() is None, "auto, without a device"
    device.touch()
    assert accelerator() is not None
    for off in ("off", ""):
        monkeypatch.setenv("AVA_HWACCEL", off)
        assert accelerator() is None
    monkeypatch.setenv("AVA_HWACCEL", "gpu")
    with pytest.raises(ValueError, match="AVA_HWACCEL"):
        accelerator()


def test_a_failure_does_not_name_the_source(tmp_path: Path) -> None:
    with pytest.raises(HardwareFailed) as failed:
        look_of(str(tmp_path / "missing.mp4?X-Amz-Signature=secret"))
    assert "secret" not in str(failed.value)

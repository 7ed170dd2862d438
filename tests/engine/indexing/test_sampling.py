from __future__ import annotations

from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gpu_workers.engine.ekg import Picture, SampledFrame, Span
from gpu_workers.engine.indexing.audio import SAMPLE_RATE, read_audio
from gpu_workers.engine.indexing.sampling import SourceUnreadable, sample_frames
from gpu_workers.engine.indexing.thumbnails import thumbnail
from gpu_workers.engine.models.frame_grid import SamplingGrid
from tests.engine.indexing.media import grey, run_ffmpeg, solid, write_steady, write_video
from tests.engine.indexing.range_server import serving


def sampled(path: Path, start: int, end: int, *, fps: float = 2.0, **more: int) -> list[SampledFrame]:
    with sample_frames(str(path), Span(start, end), fps=fps, max_side=more.pop("max_side", 64), **more) as frames:
        return list(frames)


def times(frames: list[SampledFrame]) -> list[int]:
    return [frame.ms for frame in frames]


@pytest.mark.parametrize("extension", ["mp4", "mkv", "avi", "ts"])
def test_frames_lie_on_the_grid_and_show_their_time(tmp_path: Path, extension: str) -> None:
    path = write_steady(tmp_path / f"v.{extension}", 12)
    frames = sampled(path, 6000, 9000)
    assert times(frames) == [6000, 6500, 7000, 7500, 8000, 8500]
    assert [round(float(f.picture.mean()) / 10) for f in frames] == [6, 6, 7, 7, 8, 8]
    assert frames[0].picture.shape == (48, 64, 3)
    assert frames[0].picture.dtype == np.uint8


@pytest.mark.parametrize("extension", ["mp4", "mkv", "avi", "ts"])
@pytest.mark.parametrize("cut", [3000, 6000, 7350, 11_990])
def test_segmentation_does_not_change_what_is_chosen(tmp_path: Path, extension: str, cut: int) -> None:
    path = tmp_path / f"v.{extension}"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=12:rate=7:size=64x48", "-c:v",
               "libx264" if extension != "avi" else "mpeg4", "-g", "20", str(path))  # fmt: skip
    whole = times(sampled(path, 0, 12_000))
    assert times(sampled(path, 0, cut)) + times(sampled(path, cut, 12_000)) == whole
    assert len(whole) == 24


def test_a_slow_source_gives_each_frame_once(tmp_path: Path) -> None:
    at = [0, 40, 500, 2000, 2040, 7000]
    path = write_video(tmp_path / "vfr.mkv", at, [grey(i * 40) for i in range(6)])
    assert times(sampled(path, 0, 8000)) == [0, 500, 2000, 7000]
    assert times(sampled(path, 3000, 6000)) == []


def test_a_still_picture_is_held_where_nothing_new_is_shown(tmp_path: Path) -> None:
    path = write_video(tmp_path / "slides.mkv", [0, 7000, 16_000], [grey(50), grey(150), grey(250)])
    whole = sampled(path, 0, 18_000, hold_ms=3000)
    assert times(whole) == [0, 3000, 7000, 9000, 12_000, 16_000]
    assert [round(float(f.picture.mean()) / 50) for f in whole] == [1, 1, 3, 3, 3, 5]
    assert times(sampled(path, 3000, 6000, hold_ms=3000)) == [3000]
    parts = [sampled(path, start, start + 6000, hold_ms=3000) for start in (0, 6000, 12_000)]
    assert [ms for part in parts for ms in times(part)] == times(whole)


@pytest.mark.parametrize("extension", ["mp4", "mkv", "avi"])
def test_the_only_picture_of_a_video_is_given(tmp_path: Path, extension: str) -> None:
    path = write_video(tmp_path / f"one.{extension}", [0], [grey(120)])
    assert times(sampled(path, 0, 40)) == [0]


def test_a_rotated_video_is_upright(tmp_path: Path) -> None:
    picture = solid((0, 0, 0))
    picture[:, :16] = 255  # a white bar at the left
    path = write_video(tmp_path / "v.mp4", [0, 100], [picture, picture])
    run_ffmpeg("-display_rotation", "-90", "-i", str(path), "-c", "copy", str(tmp_path / "turned.mp4"))
    turned = sampled(tmp_path / "turned.mp4", 0, 100)[0].picture
    assert turned.shape == (64, 48, 3)
    # Turned clockwise by 90 degrees, left becomes top.
    assert turned[:12].mean() > 200
    assert turned[20:].mean() < 50


def test_the_longer_side_is_limited_and_the_ratio_kept(tmp_path: Path) -> None:
    path = write_video(tmp_path / "wide.mp4", [0], [grey(10, 320, 96)])
    assert sampled(path, 0, 40, max_side=160)[0].picture.shape == (48, 160, 3)
    assert sampled(path, 0, 40, max_side=1000)[0].picture.shape == (96, 320, 3), "never enlarged"


def test_pixels_that_are_not_square_are_made_so(tmp_path: Path) -> None:
    path = tmp_path / "anamorphic.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=1:size=64x96", "-vf", "setsar=2", "-c:v", "libx264", str(path))
    assert sampled(path, 0, 500, max_side=500)[0].picture.shape == (96, 128, 3)


@pytest.mark.parametrize(("codec", "pix_fmt"), [
    ("libx264", "yuv444p"), ("libx264", "yuv420p10le"), ("ffv1", "gray"), ("ffv1", "bgr0"), ("libx264", "yuvj420p"),
])  # fmt: skip
def test_odd_pixel_formats_become_rgb(tmp_path: Path, codec: str, pix_fmt: str) -> None:
    path = tmp_path / "odd.mkv"
    run_ffmpeg("-f", "lavfi", "-i", "color=gray:duration=1:size=62x46", "-c:v", codec, "-pix_fmt", pix_fmt, str(path))
    picture = sampled(path, 0, 400)[0].picture
    assert picture.shape == (46, 62, 3)
    assert abs(float(picture.mean()) - 128) < 8


def test_high_dynamic_range_is_known_by_its_transfer(tmp_path: Path) -> None:
    """Mid grey of PQ is 92 cd/m2, nearly half of diffuse white; shown as it is coded it would be 128."""
    pictures = {}
    for transfer in ("smpte2084", "bt709"):
        path = tmp_path / f"{transfer}.mkv"
        tags = f"setparams=color_trc={transfer}:color_primaries=bt2020:colorspace=bt2020nc"
        run_ffmpeg("-f", "lavfi", "-i", "color=gray:duration=1:size=64x48", "-vf", tags, "-c:v", "libx264",
                   "-pix_fmt", "yuv420p10le", str(path))  # fmt: skip
        pictures[transfer] = float(sampled(path, 0, 400)[0].picture.mean())
    assert abs(pictures["bt709"] - 128) < 8
    assert abs(pictures["smpte2084"] - 178) < 8


def test_corrupt_packets_are_passed_over_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "v.avi"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=12:rate=10:size=160x120", "-c:v", "mjpeg", str(path))
    data = bytearray(path.read_bytes())
    third = len(data) // 3
    for place in range(third, third + len(data) // 6, 400):
        data[place : place + 40] = b"\xff\xd8" * 20
    path.write_bytes(data)
    samples = sample_frames(str(path), Span(0, 12_000), fps=2, max_side=64)
    found = times(list(samples))
    assert found[0] == 0
    assert found[-1] >= 11_000
    assert samples.skipped > 0


def test_times_count_from_the_sources_start(tmp_path: Path) -> None:
    path = tmp_path / "late.ts"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=4:rate=10:size=64x48", "-c:v", "mpeg4", "-output_ts_offset",
               "100", str(path))  # fmt: skip
    assert times(sampled(path, 0, 2000)) == [0, 500, 1000, 1500]
    assert times(sampled(path, 2000, 4000)) == [2000, 2500, 3000, 3500]


def test_what_cannot_be_opened_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "list.m3u8").write_text("#EXTM3U\n#EXTINF:1,\nv.ts\n")
    for name in ("missing.mp4", "list.m3u8"):
        with pytest.raises(SourceUnreadable):
            sampled(tmp_path / name, 0, 1000)


def test_stopping_early_frees_the_file(tmp_path: Path) -> None:
    path = write_steady(tmp_path / "v.mp4", 5)
    frames = sample_frames(str(path), Span(0, 5000), fps=2, max_side=64)
    assert next(frames).ms == 0
    frames.close()
    assert list(frames) == []


@given(
    st.lists(st.integers(1, 4000), min_size=1, max_size=40),
    st.sampled_from([0.5, 1.0, 1.5, 2.0, 5.0]),
    st.integers(0, 40_000),
)
def test_the_grid_can_be_entered_anywhere(steps: list[int], fps: float, start: int) -> None:
    at = np.cumsum([0, *steps]).tolist()
    grid = SamplingGrid(fps, 0)
    whole = [ms for ms in at if grid.takes(ms)]
    grid = SamplingGrid(fps, start)
    for ms in at:
        if ms < start:
            grid.skip(ms)
    assert [ms for ms in at if ms >= start and grid.takes(ms)] == [ms for ms in whole if ms >= start]


def test_sound_is_mono_at_16_khz_and_of_the_span(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=6:rate=10:size=64x48", "-f", "lavfi", "-i",
               "aevalsrc='if(gt(t,3),sin(2*PI*440*t),0)|0':s=44100:d=6", "-c:v", "mpeg4", "-c:a", "aac",
               str(path))  # fmt: skip
    quiet, loud = (read_audio(str(path), Span(a, b)) for a, b in ((500, 2500), (3500, 5500)))
    assert len(quiet) == len(loud) == 2 * SAMPLE_RATE
    assert loud.dtype == np.float32
    assert np.abs(quiet).max() < 0.01 < 0.2 < np.abs(loud).max() <= 1.0


def test_a_video_without_sound_gives_none(tmp_path: Path) -> None:
    assert read_audio(str(write_steady(tmp_path / "v.mp4", 2)), Span(0, 2000)).size == 0
    with pytest.raises(SourceUnreadable):
        read_audio(str(tmp_path / "missing.mp4"), Span(0, 2000))


def test_thumbnails_are_small_jpegs() -> None:
    small = thumbnail(grey(90, 1280, 720), quality=70)
    assert small.startswith(b"\xff\xd8")
    assert len(small) < 20_000
    assert Image.open(BytesIO(small)).size == (480, 270)
    assert Image.open(BytesIO(thumbnail(grey(90, 100, 40)))).size == (100, 40)


def test_a_url_gives_what_the_file_gives(tmp_path: Path) -> None:
    path = write_steady(tmp_path / "v.mp4", 20)
    with serving(tmp_path) as (url, _), sample_frames(f"{url}/v.mp4", Span(9000, 12_000), fps=2, max_side=64) as frames:
        assert times(list(frames)) == times(sampled(path, 9000, 12_000))
    for name in ("missing.mp4", "moved/v.mp4"):
        with serving(tmp_path) as (url, _), pytest.raises(SourceUnreadable):
            next(sample_frames(f"{url}/{name}", Span(0, 1000), fps=2, max_side=64))


def test_a_connection_that_breaks_off_is_a_fault_and_not_an_end(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc2=duration=10:rate=10:size=320x240", "-c:v", "mjpeg", "-movflags",
               "+faststart", str(path))  # fmt: skip
    half = path.stat().st_size // 2
    with serving(tmp_path, break_after=half) as (url, _), pytest.raises(SourceUnreadable) as caught:
        list(sample_frames(f"{url}/v.mp4", Span(0, 10_000), fps=2, max_side=64))
    assert caught.value.retryable


def loud(samples: np.ndarray) -> list[bool]:
    """Return for each whole second whether there is sound in it."""
    seconds = [samples[at : at + SAMPLE_RATE] for at in range(0, len(samples) - SAMPLE_RATE // 2, SAMPLE_RATE)]
    return [float(np.abs(second).mean()) > 0.02 for second in seconds]


@pytest.mark.parametrize("extension", ["mkv", "mp4", "ts"])
def test_sound_that_begins_late_keeps_its_time(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"v.{extension}"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=10:rate=10:size=64x48", "-itsoffset", "4", "-f", "lavfi", "-i",
               "sine=duration=3", "-map", "0:v", "-map", "1:a", "-c:v", "mpeg4", "-c:a", "aac", str(path))  # fmt: skip
    heard = loud(read_audio(str(path), Span(0, 10_000)))
    assert heard[:7] == [False] * 4 + [True] * 3
    assert loud(read_audio(str(path), Span(3_000, 9_000)))[:4] == [False, True, True, True]
    assert loud(read_audio(str(path), Span(5_000, 9_000)))[:2] == [True, True]


def test_sound_with_a_hole_keeps_its_time_after_the_hole(tmp_path: Path) -> None:
    whole, path = tmp_path / "whole.mkv", tmp_path / "v.mkv"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=10:rate=10:size=64x48", "-f", "lavfi", "-i", "sine=duration=10",
               "-c:v", "mpeg4", "-c:a", "pcm_s16le", str(whole))  # fmt: skip
    run_ffmpeg("-i", str(whole), "-c", "copy", "-bsf:a", "noise=drop='between(pts*tb,3,6)'", str(path))
    assert loud(read_audio(str(path), Span(0, 10_000))) == [True] * 3 + [False] * 3 + [True] * 4


def reference_choice(path: Path, span: Span, fps: float) -> list[tuple[int, Picture]]:
    """Choose by the definition, over every frame of the file: the first one at or after each k/fps, if it lies in
    span."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        base = stream.time_base
        assert base is not None
        shown = [(round(f.pts * base * 1000), f) for f in container.decode(stream) if f.pts is not None]
        frames = [(ms - shown[0][0], f) for ms, f in shown]
        chosen: dict[int, Picture] = {}
        for k in range(int(span.end_ms * fps / 1000) + 1):
            after = [(ms, f) for ms, f in frames if ms >= k * 1000 / fps]
            if after and span.contains(after[0][0]):
                chosen[after[0][0]] = after[0][1].to_ndarray(format="rgb24")
        return sorted(chosen.items())


@pytest.mark.parametrize(
    ("extension", "arguments"),
    [
        ("mp4", "-c:v libx264 -bf 3 -b_strategy 0 -g 40"),
        ("mkv", "-c:v libx264 -bf 3 -x264-params b-pyramid=normal:open-gop=1:keyint=30"),
        ("ts", "-c:v libx264 -bf 2 -g 25"),
        ("mp4", "-c:v libx264 -bf 0 -g 300"),
        ("mp4", "-c:v libx265 -bf 4 -x265-params log-level=error:keyint=60"),
        ("webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 50"),
        ("avi", "-c:v mpeg4 -bf 2 -g 25"),
        ("avi", "-c:v mjpeg -pix_fmt yuvj420p"),
        ("mp4", "-c:v libx264 -bf 3 -vf setpts=PTS+0.03*mod(N\\,5)/TB -fps_mode vfr"),
    ],
)
@pytest.mark.parametrize("span", [Span(0, 9_000), Span(3_000, 6_000)])
def test_only_what_is_chosen_is_decoded_and_it_is_the_same(
    tmp_path: Path, extension: str, arguments: str, span: Span
) -> None:
    """Frames that nothing refers to are skipped, and the chosen frames are those that a full decoder would choose."""
    path = tmp_path / f"v.{extension}"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc2=duration=9:rate=25:size=160x120", *arguments.split(), str(path))
    expected = reference_choice(path, span, 2.0)
    found = [(frame.ms, frame.picture) for frame in sampled(path, span.start_ms, span.end_ms, max_side=160)]
    assert [ms for ms, _ in found] == [ms for ms, _ in expected]
    assert len(found) >= 4
    for (_, mine), (_, theirs) in zip(found, expected, strict=True):
        assert np.array_equal(mine, theirs)


def test_a_recording_joined_from_two_goes_on_after_the_join(tmp_path: Path) -> None:
    """Timestamps that begin again in the middle continue the clock; no frame after the join is skipped."""
    for name, colour in (("first", "red"), ("second", "blue")):
        source = f"color=c={colour}:duration=8:rate=10:size=64x48"
        run_ffmpeg("-f", "lavfi", "-i", source, "-c:v", "libx264", "-bf", "2", "-g", "20", str(tmp_path / f"{name}.ts"))
    joined = tmp_path / "joined.ts"
    joined.write_bytes((tmp_path / "first.ts").read_bytes() + (tmp_path / "second.ts").read_bytes())
    with sample_frames(str(joined), Span(0, 16_000), fps=1, max_side=64) as samples:
        frames = list(samples)
    assert [round(frame.ms / 1000) for frame in frames] == list(range(16))
    assert samples.skipped <= 1, "the decoder may give up one frame at the join"
    red = [float(frame.picture[..., 0].mean()) > 128 for frame in frames]
    assert red == [True] * 8 + [False] * 8

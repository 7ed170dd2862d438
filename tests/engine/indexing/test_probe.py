from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from gpu_workers.engine.indexing.container import ProbeError, sniff_container
from gpu_workers.engine.indexing.probe import ProbeLimits, ProbeResult, probe
from tests.engine.indexing.media import grey, run_ffmpeg, write_steady, write_video
from tests.engine.indexing.range_server import serving


def probed(path: Path, **limits: float) -> ProbeResult:
    return probe(str(path), limits=ProbeLimits(**limits))  # type: ignore[arg-type]


def refused(path: Path, **limits: float) -> str:
    with pytest.raises(ProbeError) as caught:
        probed(path, **limits)
    assert not caught.value.retryable
    return caught.value.code


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_steady(tmp_path_factory.mktemp("probe") / "steady.mp4", 10)


@pytest.mark.parametrize(
    ("extension", "container"),
    [("mp4", "mov"), ("mov", "mov"), ("mkv", "matroska"), ("avi", "avi"), ("ts", "mpegts"), ("flv", "flv")],
)
def test_each_container_gives_its_true_duration(tmp_path: Path, extension: str, container: str) -> None:
    path = tmp_path / f"video.{extension}"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=5:rate=20:size=96x64", "-c:v",
               "flv" if extension == "flv" else "mpeg4", str(path))  # fmt: skip
    found = probed(path)
    assert (found.container, found.duration_ms, found.fps) == (container, 5000, Fraction(20))
    assert (found.width, found.height, found.rotation) == (96, 64, 0)
    assert (found.has_video, found.has_audio) == (True, False)
    assert found.size == path.stat().st_size
    assert found.source_start_ms == (1400 if extension == "ts" else 0)


def test_webm_and_ogg(tmp_path: Path) -> None:
    for name, codec, container in (("v.webm", "libvpx", "matroska"), ("v.ogv", "libtheora", "ogg")):
        run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=2:rate=10:size=64x48", "-c:v", codec, str(tmp_path / name))
        found = probed(tmp_path / name)
        assert (found.container, found.duration_ms) == (container, 2000)


def test_a_turn_that_is_no_quarter_becomes_the_nearest_one(steady: Path, tmp_path: Path) -> None:
    for asked, turn in ((100, 90), (359, 0), (181, 180)):
        path = tmp_path / f"{asked}.mp4"
        run_ffmpeg("-display_rotation", str(-asked), "-i", str(steady), "-c", "copy", str(path))
        assert probe(str(path)).rotation == turn


def test_rotation_is_clockwise_and_the_size_is_as_shown(steady: Path, tmp_path: Path) -> None:
    for degrees, size in ((90, (48, 64)), (180, (64, 48)), (270, (48, 64))):
        path = tmp_path / f"{degrees}.mp4"
        run_ffmpeg("-display_rotation", str(-degrees), "-i", str(steady), "-c", "copy", str(path))
        found = probed(path)
        assert (found.rotation, found.width, found.height) == (degrees, *size)


def test_sound_is_seen(steady: Path, tmp_path: Path) -> None:
    path = tmp_path / "sound.mp4"
    run_ffmpeg("-i", str(steady), "-f", "lavfi", "-i", "sine=duration=10", "-c:v", "copy", "-c:a", "aac", str(path))
    assert probed(path).has_audio


def test_variable_frame_rate_ends_at_the_last_picture(tmp_path: Path) -> None:
    times = [0, 40, 500, 2000, 2040, 7000]
    found = probed(write_video(tmp_path / "vfr.mkv", times, [grey(i * 30) for i in range(6)]))
    assert 7000 < found.duration_ms <= 7100


def test_one_picture_is_a_video(tmp_path: Path) -> None:
    for name in ("one.mp4", "one.mkv", "one.avi"):
        found = probed(write_video(tmp_path / name, [0], [grey(100)]))
        assert 1 <= found.duration_ms <= 40, name


def test_a_header_without_rate_is_measured(tmp_path: Path) -> None:
    """The stream header's rate is overwritten by zeros."""
    path = tmp_path / "zero.avi"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=4:rate=10:size=64x48", "-c:v", "mpeg4", str(path))
    data = bytearray(path.read_bytes())
    header = data.index(b"strh") + 8
    data[header + 20 : header + 28] = bytes(8)  # dwScale, dwRate
    data[32:36] = bytes(4)  # dwMicroSecPerFrame
    path.write_bytes(data)
    found = probed(path)
    assert found.fps is not None
    assert found.fps > 0
    assert found.duration_ms > 0


def test_a_stream_without_any_stated_rate_is_measured(tmp_path: Path) -> None:
    times = [i * 2500 for i in range(8)]
    found = probed(write_video(tmp_path / "slow.mkv", times, [grey(i * 20) for i in range(8)]))
    assert found.duration_ms >= 17_500
    assert found.fps is not None
    assert found.fps > 0


def test_a_wrong_header_duration_yields_to_the_packets(tmp_path: Path) -> None:
    path = tmp_path / "long.flv"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=5:rate=20:size=96x64", "-c:v", "flv", str(path))
    data = bytearray(path.read_bytes())
    place = data.index(b"duration") + len("duration") + 1
    data[place : place + 8] = b"\x40\xac\x20\x00\x00\x00\x00\x00"  # 3600.0
    path.write_bytes(data)
    assert probed(path).duration_ms == 5000


def test_what_is_not_a_video_is_refused_by_code(steady: Path, tmp_path: Path) -> None:
    def named(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    assert refused(named("empty.mp4", b"")) == "empty_file"
    assert refused(named("text.mp4", b"Dear customer, this is not a video.\n" * 50)) == "not_a_video"
    assert refused(named("list.mp4", b"#EXTM3U\n#EXT-X-TARGETDURATION:5\nfile:///etc/passwd\n")) == "playlist_refused"
    assert refused(named("bom.mp4", b"\xef\xbb\xbf\n #EXTM3U\n/etc/passwd\n")) == "playlist_refused"
    assert refused(named("concat.mkv", b"ffconcat version 1.0\nfile /etc/passwd\n")) == "playlist_refused"
    assert refused(named("dash.mp4", b'<?xml version="1.0"?>\n<MPD xmlns="x">')) == "playlist_refused"
    assert refused(named("png.mp4", b"\x89PNG\r\n\x1a\n" + bytes(500))) == "not_a_video"
    assert refused(named("jpeg.mp4", b"\xff\xd8\xff\xe0" + bytes(500))) == "not_a_video"
    assert refused(named("heic.mp4", b"\0\0\0\x18ftypheic" + bytes(500))) == "not_a_video"
    assert refused(named("noise.mkv", b"\x1a\x45\xdf\xa3" + bytes(range(256)) * 8)) == "not_a_video"
    assert refused(named("short.mp4", steady.read_bytes()[:20])) in ("truncated", "not_a_video")


def test_sound_alone_has_no_video_stream(tmp_path: Path) -> None:
    run_ffmpeg("-f", "lavfi", "-i", "sine=duration=2", "-c:a", "aac", str(tmp_path / "sound.mp4"))
    assert refused(tmp_path / "sound.mp4") == "no_video_stream"


def test_cover_art_is_no_video(tmp_path: Path) -> None:
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48", "-frames:v", "1", str(tmp_path / "cover.jpg"))
    run_ffmpeg("-f", "lavfi", "-i", "sine=duration=2", "-i", str(tmp_path / "cover.jpg"), "-map", "0", "-map", "1",
               "-c:a", "aac", "-c:v", "mjpeg", "-disposition:v", "attached_pic",
               str(tmp_path / "album.mp4"))  # fmt: skip
    assert refused(tmp_path / "album.mp4") == "no_video_stream"


def test_a_cut_mp4_is_truncated_wherever_its_index_is(steady: Path, tmp_path: Path) -> None:
    def cut(source: Path, share: float) -> Path:
        path = tmp_path / f"cut-{source.stem}-{share}.mp4"
        path.write_bytes(source.read_bytes()[: int(source.stat().st_size * share)])
        return path

    first = tmp_path / "first.mp4"
    run_ffmpeg("-i", str(steady), "-c", "copy", "-movflags", "+faststart", str(first))
    assert refused(cut(steady, 0.5)) == "truncated"
    assert refused(cut(first, 0.98)) == "truncated"
    assert refused(cut(first, 0.7)) == "truncated"
    assert probed(first).duration_ms == probed(steady).duration_ms


def test_a_cut_matroska_is_as_long_as_it_can_be_read(tmp_path: Path) -> None:
    whole = write_steady(tmp_path / "whole.mkv", 10)
    path = tmp_path / "cut.mkv"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    assert 2000 < probed(path).duration_ms < 8000


def test_limits_on_the_video_are_typed(steady: Path) -> None:
    assert refused(steady, max_duration_ms=5000) == "too_long"
    assert refused(steady, max_bytes=100) == "too_large"


def test_a_parser_that_outgrows_its_memory_ends_as_a_refusal(tmp_path: Path) -> None:
    """A picture of 8000 x 4400 takes 105 MB in 4:4:4, and a box with libraries loaded has 500 MB before it."""
    path = tmp_path / "large.mkv"
    run_ffmpeg("-f", "lavfi", "-i", "color=gray:size=8000x4400:rate=1:duration=1", "-c:v", "mjpeg", "-pix_fmt",
               "yuvj444p", str(path))  # fmt: skip
    assert (probed(path).width, probed(path).height) == (8000, 4400)
    assert refused(path, memory_bytes=540 * 2**20) in ("no_frames", "not_a_video")


def test_a_missing_file_is_unreachable(tmp_path: Path) -> None:
    assert refused(tmp_path / "nothing.mp4") == "unreachable"


def test_a_url_is_probed_as_a_file_is(steady: Path) -> None:
    with serving(steady.parent) as (url, _):
        assert probe(f"{url}/{steady.name}") == probed(steady)
        for name in ("missing.mp4", f"moved/{steady.name}"):
            with pytest.raises(ProbeError) as caught:
                probe(f"{url}/{name}")
            assert (caught.value.code, caught.value.retryable) == ("unreachable", False)


def test_a_server_that_is_not_there_is_worth_a_retry() -> None:
    with pytest.raises(ProbeError) as caught:
        probe("http://127.0.0.1:9/video.mp4")
    assert (caught.value.code, caught.value.retryable) == ("unreachable", True)


def test_rates_are_exact_fractions(tmp_path: Path) -> None:
    path = tmp_path / "ntsc.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=2:rate=30000/1001:size=64x48", "-c:v", "mpeg4", str(path))
    assert probed(path).fps == Fraction(30_000, 1001)


def test_only_the_head_is_looked_at() -> None:
    assert sniff_container(b"\0\0\0\x18ftypisom" + bytes(10**6)) == "mov"
    assert sniff_container((b"\x47" + bytes(187)) * 5) == "mpegts"
    assert sniff_container((bytes(4) + b"\x47" + bytes(187)) * 5) == "mpegts"


def test_pictures_above_the_limits_are_refused_before_they_are_decoded(tmp_path: Path) -> None:
    for size in ("8200x16", "16x8200", "6200x6000"):
        path = tmp_path / f"{size}.mkv"
        run_ffmpeg("-f", "lavfi", "-i", f"color=gray:size={size}:rate=1:duration=1", "-c:v", "ffv1", str(path))
        assert refused(path) == "too_many_pixels", size


def test_a_frame_rate_above_the_limit_is_refused(tmp_path: Path) -> None:
    for rate, verdict in ((240.3, None), (480, None), (1100, "frame_rate_too_high")):
        path = tmp_path / f"{rate}.mp4"
        run_ffmpeg("-f", "lavfi", "-i", f"color=gray:size=16x16:rate={rate}:duration=1", "-c:v", "mpeg4", str(path))
        assert (refused(path) if verdict else None) == verdict
    assert float(probed(tmp_path / "240.3.mp4").fps or 0) == pytest.approx(240.3, abs=0.01)


def test_more_streams_than_any_recording_has_are_refused(steady: Path, tmp_path: Path) -> None:
    for count, verdict in ((16, None), (17, "too_many_streams")):
        path = tmp_path / f"{count}.mkv"
        run_ffmpeg("-i", str(steady), *["-map", "0:v"] * count, "-c", "copy", str(path))
        assert (refused(path) if verdict else None) == verdict
    assert probed(tmp_path / "16.mkv").duration_ms == probed(steady).duration_ms


def test_two_pictures_are_no_video_of_two_days(tmp_path: Path) -> None:
    for extension, hours in (("mkv", 47), ("mp4", 30)):
        path = write_video(tmp_path / f"long.{extension}", [0, hours * 3_600_000], [grey(10), grey(20)])
        assert refused(path, max_duration_ms=48 * 3_600_000) == "too_few_packets", extension


def test_a_picture_a_minute_is_a_long_video(tmp_path: Path) -> None:
    times = [n * 60_000 for n in range(30)]
    path = write_video(tmp_path / "slow.mkv", times, [grey(n * 8) for n in range(30)])
    assert probed(path).duration_ms > 29 * 60_000


def test_a_store_that_fails_in_the_middle_is_unreachable_and_not_named(steady: Path) -> None:
    with serving(steady.parent, break_after=steady.stat().st_size // 2) as (url, _):
        with pytest.raises(ProbeError) as caught:
            probe(f"{url}/{steady.name}?X-Amz-Signature=secret")
        assert (caught.value.code, caught.value.retryable) == ("unreachable", True)
        assert "secret" not in str(caught.value)
        assert "127.0.0.1" not in str(caught.value)

"""Packets of a span are copied out of a file in the video's time, from any container and without reading all of it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import av
import ffmpeg
import pytest

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.container import DecodingFailed
from gpu_workers.engine.indexing.file_clock import FileClock
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.media.cut_format import LATER_MS
from gpu_workers.engine.media.cutting import Cut, cut
from gpu_workers.engine.media.encoding import encode, made, source, workspace
from tests.engine.indexing.media import run_ffmpeg, write_steady

PICTURES = ("-f", "lavfi", "-i", "testsrc2=s=160x90:r=10:d=30")
SOUND = ("-f", "lavfi", "-i", "sine=d=30")


def packets(path: Path, kind: str) -> list[tuple[float, bool]]:
    """The time in seconds of each packet, and whether it is a keyframe."""
    with av.open(str(path), format="nut") as container:
        stream = getattr(container.streams, kind)[0]
        return [
            (float(one.pts * one.time_base) - LATER_MS / 1000, one.is_keyframe)
            for one in container.demux(stream)
            if one.size
        ]


@pytest.mark.parametrize(
    ("name", "codecs"),
    [
        ("v.mp4", ("-c:v", "libx264", "-g", "20", "-c:a", "aac")),
        ("v.mkv", ("-c:v", "libx265", "-x265-params", "log-level=error:keyint=20", "-c:a", "libopus")),
        ("v.ts", ("-c:v", "libx264", "-g", "20", "-c:a", "aac")),
        ("v.avi", ("-c:v", "mpeg4", "-g", "20", "-c:a", "libmp3lame")),
        ("v.webm", ("-c:v", "libvpx", "-g", "20", "-c:a", "libopus", "-deadline", "realtime")),
    ],
)
def test_a_span_is_copied_from_the_keyframe_before_it(tmp_path: Path, name: str, codecs: tuple[str, ...]) -> None:
    run_ffmpeg(*PICTURES, *SOUND, *codecs, str(tmp_path / name))
    clock = probe(str(tmp_path / name)).clock.moved(100_000)

    done = cut(str(tmp_path / name), Span(111_000, 115_000), tmp_path / "cut", clock=clock, track=1)

    pictures, sound = packets(tmp_path / "cut", "video"), packets(tmp_path / "cut", "audio")
    assert 108_500 <= done.begin_ms <= 111_000
    assert min(time for time, _ in pictures) == pytest.approx(done.begin_ms / 1000, abs=0.15)
    assert pictures[0][1]
    assert {round(time * 10) for time, _ in pictures} >= set(range(1111, 1150))
    assert max(time for time, _ in pictures) < 116
    assert sound[0][0] == pytest.approx(done.begin_ms / 1000, abs=0.1)
    assert 114.9 < sound[-1][0] < 115


def test_neighbours_cut_at_keyframes_hold_every_packet_once(tmp_path: Path) -> None:
    run_ffmpeg(*PICTURES, *SOUND, "-c:v", "libx264", "-g", "25", "-c:a", "aac", str(tmp_path / "v.mp4"))
    video = probe(str(tmp_path / "v.mp4"))

    pictures, sound, begins = [], [], []
    for start in range(0, 30_000, 6_000):
        span = Span(start, min(start + 6_000, video.duration_ms) if start < 24_000 else video.duration_ms)
        done = cut(str(tmp_path / "v.mp4"), span, tmp_path / "cut", clock=video.clock, track=1, edges="keyframes")
        begins.append(done.begin_ms)
        pictures += packets(tmp_path / "cut", "video")
        sound += packets(tmp_path / "cut", "audio")

    assert begins == [0, 7_500, 12_500, 20_000, 25_000]
    assert sorted(round(time * 10) for time, _ in pictures) == list(range(300))
    assert len({time for time, _ in sound}) == len(sound)
    steps = [after - before for (before, _), (after, _) in pairwise(sound)]
    assert max(steps) < 0.05


def test_pictures_without_times_are_counted(tmp_path: Path) -> None:
    run_ffmpeg(*PICTURES, "-c:v", "mpeg4", "-bf", "2", "-g", "20", str(tmp_path / "v.avi"))

    done = cut(str(tmp_path / "v.avi"), Span(4_000, 8_000), tmp_path / "cut", clock=None, track=None)

    assert done.is_counted


def test_a_span_behind_the_end_has_no_pictures(tmp_path: Path) -> None:
    write_steady(tmp_path / "v.mp4", 2)

    done = cut(
        str(tmp_path / "v.mp4"), Span(5_000, 6_000), tmp_path / "cut", clock=FileClock.steady(0, 2_000), track=None
    )

    assert done == Cut(0, 6_000, 0, 0, False)


def test_a_span_of_too_many_bytes_and_a_file_that_is_no_video_are_refused(tmp_path: Path) -> None:
    write_steady(tmp_path / "v.mp4", 2)
    (tmp_path / "n.mp4").write_bytes(b"nothing")

    for name in ("v.mp4", "n.mp4"):
        with pytest.raises(DecodingFailed):
            cut(str(tmp_path / name), Span(0, 2_000), tmp_path / "cut", clock=None, track=None, most_bytes=100)


def test_what_was_cut_can_be_encoded(tmp_path: Path) -> None:
    run_ffmpeg(*PICTURES, *SOUND, "-c:v", "libx264", "-g", "25", "-c:a", "aac", str(tmp_path / "v.mp4"))
    with workspace() as folder:
        cut(str(tmp_path / "v.mp4"), Span(4_000, 8_000), folder / "in.nut", clock=None, track=1)

        pictures = source("in.nut").video.filter("trim", start=5, end=8).filter("setpts", "PTS-5/TB")
        sound = source("in.nut").audio.filter("atrim", start=5, end=8).filter("asetpts", "PTS-5/TB")
        encode(ffmpeg.output(pictures, sound, "out.mp4", vcodec="libx264", acodec="aac"), folder)

        (tmp_path / "out.mp4").write_bytes(made(folder, "out.mp4"))
    video = probe(str(tmp_path / "out.mp4"))
    assert (video.source_start_ms, video.duration_ms) == (0, 3_000)

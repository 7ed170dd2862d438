"""Files with more than one picture and one sound: subtitles, covers, second cameras."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.container import ProbeError
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.indexing.sampling import sample_frames
from tests.engine.indexing.media import run_ffmpeg

PICTURE = ("-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=5")
STILL = ("-f", "lavfi", "-i", "color=red:s=32x32:r=1:d=1")


def subtitles(folder: Path, until: str = "00:00:04,000") -> Path:
    path = folder / "titles.srt"
    path.write_text(f"1\n00:00:00,000 --> {until}\nhello\n")
    return path


def pictures(path: Path) -> int:
    with sample_frames(str(path), Span(0, 5_000), fps=1000, max_side=32) as frames:
        return len(list(frames))


@pytest.mark.parametrize(("name", "codec"), [("v.mp4", "mov_text"), ("v.mkv", "srt"), ("v.mkv", "ass")])
def test_a_video_with_subtitles_is_a_video(tmp_path: Path, name: str, codec: str) -> None:
    path = tmp_path / name
    run_ffmpeg(*PICTURE, "-i", str(subtitles(tmp_path)), "-c:v", "libx264", "-c:s", codec, str(path))
    found = probe(str(path))
    assert (found.duration_ms, found.degraded, pictures(path)) == (5_000, (), 50)


def test_subtitles_that_outlast_the_video_do_not_make_it_cut(tmp_path: Path) -> None:
    path = tmp_path / "v.mkv"
    titles = subtitles(tmp_path, until="00:00:59,000")
    run_ffmpeg(*PICTURE, "-i", str(titles), "-c:v", "libx264", "-c:s", "srt", str(path))
    found = probe(str(path))
    assert (found.duration_ms, found.degraded) == (5_000, ())


def test_subtitles_alone_are_no_video(tmp_path: Path) -> None:
    path = tmp_path / "v.mkv"
    run_ffmpeg("-i", str(subtitles(tmp_path)), "-c:s", "srt", str(path))
    with pytest.raises(ProbeError) as refused:
        probe(str(path))
    assert refused.value.code == "no_video_stream"


def test_a_cover_that_the_file_does_not_mark_is_not_the_video(tmp_path: Path) -> None:
    path = tmp_path / "v.mkv"
    run_ffmpeg(*STILL, *PICTURE, "-map", "0:v", "-map", "1:v", "-c:v:0", "mjpeg", "-c:v:1", "libx264", str(path))
    found = probe(str(path))
    assert (found.codec, found.duration_ms, found.degraded, pictures(path)) == ("h264", 5_000, (), 50)


def test_a_second_video_track_is_named(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    longer = ("-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=9")
    run_ffmpeg(*PICTURE, *longer, "-map", "0:v", "-map", "1:v", "-c:v", "libx264", str(path))
    found = probe(str(path))
    assert (found.duration_ms, found.degraded, pictures(path)) == (5_000, ("video_not_seen",), 50)

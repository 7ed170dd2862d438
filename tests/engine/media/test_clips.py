"""Clips show what was asked for: by a clock in the pictures, across files, in every codec."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.media.clips import CLIP, POSTER, ClipPiece, ClipWish, MadeClip, NotCopyable, make_clip
from gpu_workers.engine.media.encoding import workspace
from gpu_workers.engine.media.renditions import Recording
from tests.engine.indexing.media import run_ffmpeg
from tests.engine.media.binary_clock import shown, write_clock

FRAME_MS = 40


@cache
def clock_file(name: str, *, first: int = 0, codec: str = "libx264") -> Path:
    """Return a file of ten seconds and 25 pictures a second with sound, whose i-th picture shows first + i."""
    folder = Path(tempfile.mkdtemp(prefix="ava-clock-"))
    atexit.register(shutil.rmtree, folder)
    silent = write_clock(folder / "silent.mkv", [n * FRAME_MS for n in range(250)], first=first, codec=codec)
    heard = ["-f", "lavfi", "-i", "sine=f=440:d=10", "-c:a", "aac"]
    tag = ["-tag:v", "hvc1"] if codec == "libx265" and name.endswith("mp4") else []
    run_ffmpeg("-i", str(silent), *heard, "-c:v", "copy", *tag, str(folder / name))
    return folder / name


def piece(path: Path, span: Span, *, at_ms: int = 0) -> ClipPiece:
    """The part of a file that begins at at_ms of the video."""
    found = probe(str(path))
    track = found.audio_tracks[0] if found.audio_tracks else None
    recording = Recording(
        url=str(path), clock=found.clock.moved(at_ms), container=found.container, codec=found.codec,
        width=found.width, height=found.height, fps=float(found.fps or 25), rotation=found.rotation,
        bitrate=found.bitrate, pictures=found.pictures, track=None if track is None else track.number,
        audio_codec="" if track is None else track.codec,
    )  # fmt: skip
    return ClipPiece(recording, span)


def made(pieces: list[ClipPiece], into: Path, **wish: Any) -> MadeClip:
    with workspace() as folder:
        clip = make_clip(pieces, ClipWish(**wish), folder)
        for name in (CLIP, POSTER):
            (into / name).write_bytes((folder / name).read_bytes())
    return clip


def numbers(path: Path) -> list[int]:
    return [one.number for one in shown(path)]


def keyframe_before(path: Path, ms: int) -> int:
    """The number of the last keyframe of a file up to a time."""
    with av.open(str(path)) as container:
        packets = [one for one in container.demux(video=0) if one.size and one.is_keyframe]
        times = [round(float((one.pts or 0) * (one.time_base or 0)) * 1000) for one in packets]
    return max(time for time in times if time <= ms) // FRAME_MS


@pytest.mark.parametrize(("name", "codec"), [("v.mp4", "libx264"), ("v.mkv", "libx265")])
def test_an_exact_clip_begins_and_ends_with_the_frames_of_its_span(tmp_path: Path, name: str, codec: str) -> None:
    file = clock_file(name, codec=codec)

    clip = made([piece(file, Span(3_010, 6_470))], tmp_path, mode="exact")

    pictures = shown(tmp_path / CLIP)
    assert [one.number for one in pictures] == list(range(75, 162)), "those that are shown from 3.01 s to 6.47 s"
    assert pictures[0].ms == 0
    assert pictures[1].ms == pytest.approx(30, abs=1), "the first picture began before the span"
    assert clip.span.start_ms == 3_010
    assert abs(clip.span.end_ms - 6_470) < FRAME_MS
    assert probe(str(tmp_path / CLIP)).codec == "h264"
    assert av.open(str(tmp_path / POSTER)).streams.video[0].width == 480


@pytest.mark.parametrize(("name", "codec"), [("v.mp4", "libx264"), ("v.mkv", "libx265")])
def test_a_fast_clip_begins_at_the_keyframe_before_and_says_so(tmp_path: Path, name: str, codec: str) -> None:
    file = clock_file(name, codec=codec)

    clip = made([piece(file, Span(3_010, 6_470))], tmp_path, mode="fast")

    pictures = shown(tmp_path / CLIP)
    key = keyframe_before(file, 3_010)
    assert (clip.span.start_ms, pictures[0].number, pictures[0].ms) == (key * FRAME_MS, key, 0)
    assert abs(pictures[-1].number - 161) <= 3
    assert abs(clip.span.end_ms - 6_470) <= 4 * FRAME_MS
    assert probe(str(tmp_path / CLIP)).codec == {"libx264": "h264", "libx265": "hevc"}[codec]


@pytest.mark.parametrize(("mode", "codec"), [("exact", "libx265"), ("fast", "libx264"), ("fast", "libx265")])
def test_a_clip_goes_on_over_the_border_of_two_files(tmp_path: Path, mode: Any, codec: str) -> None:
    before = clock_file("v.mp4", codec=codec)
    after = clock_file("v.mp4", first=1_000, codec=codec)
    pieces = [
        piece(before, Span(8_400, 10_000)),
        piece(after, Span(10_000, 11_200), at_ms=10_000),
    ]

    clip = made(pieces, tmp_path, mode=mode)

    found = numbers(tmp_path / CLIP)
    first = 210 if mode == "exact" else keyframe_before(before, 8_400)
    assert clip.span.start_ms == first * FRAME_MS
    assert found[: 250 - first] == list(range(first, 250))
    assert found[250 - first :][:30] == list(range(1_000, 1_030))
    assert len(found) - (250 - first + 30) <= (0 if mode == "exact" else 3)
    steps = np.diff([one.ms for one in shown(tmp_path / CLIP)])
    assert steps.max() < 2 * FRAME_MS
    with av.open(str(tmp_path / CLIP)) as container:
        sound = container.streams.audio[0]
        assert float((sound.duration or 0) * (sound.time_base or 0)) == pytest.approx(
            clip.span.duration_ms / 1000, abs=0.12
        )


def test_files_of_two_sizes_are_joined_exactly_and_not_fast(tmp_path: Path) -> None:
    wide, small = clock_file("v.mp4"), tmp_path / "b.mp4"
    run_ffmpeg("-i", str(clock_file("v.mp4", first=1_000)), "-an", "-vf", "scale=96:48", str(small))
    pieces = [piece(wide, Span(9_000, 10_000)), piece(small, Span(10_000, 11_000), at_ms=10_000)]

    with pytest.raises(NotCopyable):
        made(pieces, tmp_path, mode="fast")
    clip = made(pieces, tmp_path, mode="exact")

    assert numbers(tmp_path / CLIP) == [*range(225, 250), *range(1_000, 1_025)]
    assert (clip.width, clip.height) == (192, 96)


@pytest.mark.parametrize(
    "options",
    [
        ("-c:v", "mpeg4", "-q:v", "2", "-bf", "2", "-g", "20"),
        ("-c:v", "mpeg4", "-q:v", "2", "-bf", "2", "-g", "60"),
        ("-c:v", "mpeg4", "-q:v", "2", "-g", "20"),
        ("-c:v", "libx264", "-bf", "2", "-g", "20"),
    ],
)
def test_an_exact_clip_of_pictures_without_times_shows_the_frames_of_its_span(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    file = tmp_path / "v.avi"
    run_ffmpeg("-i", str(clock_file("v.mp4")), "-an", *options, str(file))
    assert numbers(file) == list(range(250))

    for start_ms, end_ms in ((0, 1_000), (800, 1_600), (2_480, 4_000), (3_010, 6_470), (9_000, 10_000)):
        made([piece(file, Span(start_ms, end_ms))], tmp_path, mode="exact")

        pictures = shown(tmp_path / CLIP)
        wanted = [number for number in range(250) if start_ms - FRAME_MS < number * FRAME_MS < end_ms]
        assert [one.number for one in pictures] == wanted, start_ms
        assert pictures[0].ms == 0


def test_pictures_without_times_are_not_copied(tmp_path: Path) -> None:
    run_ffmpeg("-i", str(clock_file("v.mp4")), "-an", "-c:v", "mpeg4", "-q:v", "2", "-bf", "2", str(tmp_path / "v.avi"))
    pieces = [piece(tmp_path / "v.avi", Span(2_000, 3_000))]

    with pytest.raises(NotCopyable):
        made(pieces, tmp_path, mode="fast")


@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_a_turned_recording_stays_turned(tmp_path: Path, mode: Any) -> None:
    plain, turned = clock_file("v.mp4"), tmp_path / "b.mp4"
    run_ffmpeg("-display_rotation", "-90", "-i", str(plain), "-c", "copy", str(turned))
    assert (probe(str(turned)).rotation, probe(str(turned)).width) == (90, 96)

    clip = made([piece(turned, Span(2_400, 3_200))], tmp_path, mode=mode)

    assert (clip.width, clip.height) == (96, 192)
    found = probe(str(tmp_path / CLIP))
    assert (found.width, found.height, found.rotation) == (96, 192, 0 if mode == "exact" else 90)
    back = (lambda picture: np.rot90(picture, 1)) if mode == "exact" else (lambda picture: picture)
    found = [one.number for one in shown(tmp_path / CLIP, turned=back)]
    first = 60 if mode == "exact" else keyframe_before(turned, 2_400)
    assert found[: 80 - first] == list(range(first, 80))


def test_captions_are_burnt_into_the_pictures(tmp_path: Path) -> None:
    file = clock_file("v.mp4")
    plain, burnt = tmp_path / "plain", tmp_path / "burnt"
    for folder in (plain, burnt):
        folder.mkdir()
    wish = {"mode": "exact", "tags": {}}
    made([piece(file, Span(0, 2_000))], plain, **wish)
    captions = "1\n00:00:01,000 --> 00:00:02,000\nشكرا 谢谢 Thanks\n"

    made([piece(file, Span(0, 2_000))], burnt, **wish, burnt=captions, fonts=("/usr/share/fonts", "/etc/fonts"))

    before, after = (
        [frame.to_ndarray(format="gray") for frame in av.open(str(folder / CLIP)).decode(video=0)]
        for folder in (plain, burnt)
    )
    changed = [float(np.abs(one.astype(int) - other).mean()) for one, other in zip(before, after, strict=True)]
    assert max(changed[:24]) < 1
    assert min(changed[26:]) > 4 * max(changed[:24])


def test_metadata_says_what_the_clip_is(tmp_path: Path) -> None:
    tags = {"title": "北门 = 1; 🚪", "question": "qst_1", "start_at": "2026-03-01T08:00:00Z"}
    file = clock_file("v.mp4")

    made([piece(file, Span(0, 1_000))], tmp_path, mode="fast", tags=tags)

    with av.open(str(tmp_path / CLIP)) as container:
        assert {name: container.metadata.get(name) for name in tags} == tags
        assert container.start_time == 0

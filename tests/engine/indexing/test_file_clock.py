"""The clock of a file: durations, pictures and sound of files whose headers, timestamps and packets disagree."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gpu_workers.engine.ekg import CHUNK_MS, Span
from gpu_workers.engine.indexing.audio import SAMPLE_RATE, read_audio
from gpu_workers.engine.indexing.file_clock import FileClock, Stretch
from gpu_workers.engine.indexing.frame_stream import Damage
from gpu_workers.engine.indexing.probe import ProbeResult, probe
from gpu_workers.engine.indexing.sampling import sample_frames
from gpu_workers.engine.indexing.segments import observe_segment
from gpu_workers.engine.indexing.source import Piece, Source
from gpu_workers.engine.models.roles import Meter
from tests.engine.indexing.media import damage_packets, grey, run_ffmpeg, write_video
from tests.engine.indexing.scripted import ScriptedTranscriber, scripted_models

EVERY_FRAME = 1000


def picture(seconds: float, fps: float = 25) -> list[str]:
    return ["-f", "lavfi", "-i", f"testsrc2=s=160x90:r={fps}:d={seconds}"]


def tone(seconds: float) -> list[str]:
    return ["-f", "lavfi", "-i", f"sine=d={seconds}:r=16000"]


def make(path: Path, *arguments: str) -> Path:
    run_ffmpeg(*arguments, str(path))
    return path


def frame_times(path: Path, found: ProbeResult, span: Span | None = None) -> list[int]:
    span = span or Span(0, found.duration_ms)
    with sample_frames(str(path), span, fps=EVERY_FRAME, max_side=32, clock=found.clock) as frames:
        return [frame.ms for frame in frames]


def cut_in_two(path: Path, found: ProbeResult) -> list[int]:
    """Return the times of all frames as two segments find them."""
    middle = found.duration_ms // 2
    return [ms for span in (Span(0, middle), Span(middle, found.duration_ms)) for ms in frame_times(path, found, span)]


def heard_ms(path: Path, found: ProbeResult) -> list[bool]:
    """Return for each tenth of a second whether there is sound in it."""
    samples = read_audio(str(path), Span(0, found.duration_ms), clock=found.clock)
    step = SAMPLE_RATE // 10
    return [float(np.abs(samples[at : at + step]).mean()) > 0.02 for at in range(0, len(samples) - step // 2, step)]


@pytest.mark.parametrize("extension", ["mp4", "mkv", "ts"])
def test_a_pause_between_pictures_is_counted_once(tmp_path: Path, extension: str) -> None:
    """The duration of a packet before the pause is the distance to the next packet, which may be shown earlier."""
    path = make(
        tmp_path / f"v.{extension}", *picture(21), "-vf", "select='lt(t,2)+gte(t,20)'", "-fps_mode", "vfr",
        "-c:v", "libx264",
    )  # fmt: skip
    found = probe(str(path))
    assert found.duration_ms == 21_000
    times = frame_times(path, found)
    assert (len(times), times[0], times[49], times[50], times[-1]) == (75, 0, 1_960, 20_000, 20_960)


@pytest.mark.parametrize(
    "offsets", [(0, 0), (3_000, 0), (0, 3_000), (0, 0, 0), (0, 95_442), (0, 95_440, 0), (95_442, 0)]
)
def test_joined_recordings_are_indexed_one_after_the_other(tmp_path: Path, offsets: tuple[int, ...]) -> None:
    joined = tmp_path / "joined.ts"
    for n, offset in enumerate(offsets):
        part = make(
            tmp_path / f"{n}.ts", *picture(6), *tone(6), "-c:v", "libx264", "-c:a", "aac", "-output_ts_offset",
            str(offset),
        )  # fmt: skip
        with joined.open("ab") as file:
            file.write(part.read_bytes())
    found = probe(str(joined))
    whole = 6_000 * len(offsets)
    assert found.duration_ms == whole
    times = frame_times(joined, found)
    assert cut_in_two(joined, found) == times
    # The clock of MPEG-TS has 33 bits: a part that begins at 95,440 s wraps within its first seconds.
    assert len(times) >= 150 * len(offsets) - (len(offsets) - 1), "the picture before a join may be damaged by it"
    assert times[-1] == whole - 40
    assert max(after - before for before, after in pairwise(times)) <= 80
    assert all(heard_ms(joined, found))


def test_an_outage_of_a_recorder_is_a_gap_of_its_length(tmp_path: Path) -> None:
    path = tmp_path / "v.ts"
    for n, offset in enumerate((0, 26)):
        part = make(
            tmp_path / f"{n}.ts", *picture(6), *tone(6), "-c:v", "libx264", "-c:a", "aac", "-output_ts_offset",
            str(offset),
        )  # fmt: skip
        with path.open("ab") as file:
            file.write(part.read_bytes())
    found = probe(str(path))
    assert abs(found.duration_ms - 32_000) <= 100
    source = Source.of_file(str(path), found.clock)
    span = Span(0, found.duration_ms)
    record = observe_segment(source, span, scripted_models(), profile="general", meter=Meter()).record
    assert [chunk.gap for chunk in record.chunks] == [None] * 2 + ["no_frames"] * 6 + [None] * 3
    heard = heard_ms(path, found)
    assert (heard[:60].count(True), any(heard[62:258]), heard[260:].count(True)) == (60, False, len(heard) - 260)


def test_a_camera_that_takes_a_picture_now_and_then_has_no_outage(tmp_path: Path) -> None:
    path = make(tmp_path / "v.ts", *picture(60, 0.1), "-c:v", "libx264")
    found = probe(str(path))
    assert found.duration_ms == 60_000
    assert len(found.clock.stretches) == 1


@pytest.mark.parametrize(
    ("extension", "fps", "seconds"), [("ts", 25, 6), ("ts", 1, 12), ("mp4", 1, 12), ("mkv", 1, 12)]
)
def test_the_last_picture_is_counted(tmp_path: Path, extension: str, fps: int, seconds: int) -> None:
    path = make(tmp_path / f"v.{extension}", *picture(seconds, fps), "-c:v", "libx264", "-bf", "3")
    found = probe(str(path))
    assert found.duration_ms == seconds * 1_000
    assert frame_times(path, found) == [round(n * 1_000 / fps) for n in range(seconds * fps)]


def test_the_pieces_of_a_recorder_add_up_to_the_recording(tmp_path: Path) -> None:
    run_ffmpeg(*picture(20), *tone(20), "-c:v", "libx264", "-g", "50", "-c:a", "aac", "-f", "segment",
               "-segment_time", "4", "-reset_timestamps", "1", str(tmp_path / "out-%02d.ts"))  # fmt: skip
    lengths = [probe(str(path)).duration_ms for path in sorted(tmp_path.glob("out-*.ts"))]
    assert lengths == [4_000] * 5


@pytest.mark.parametrize("offset", [95_415, 95_440, 95_442])
def test_a_clock_that_wraps_early_loses_nothing(tmp_path: Path, offset: int) -> None:
    """The clock of MPEG-TS has 33 bits: it wraps at 95,443.7 s."""
    path = make(
        tmp_path / "v.ts", *picture(32), *tone(32), "-c:v", "libx264", "-c:a", "aac", "-output_ts_offset", str(offset)
    )
    found = probe(str(path))
    assert found.duration_ms == 32_000
    assert frame_times(path, found) == list(range(0, 32_000, 40))
    assert cut_in_two(path, found) == list(range(0, 32_000, 40))
    assert heard_ms(path, found) == [True] * 320


@pytest.mark.parametrize("extension", ["mp4", "mkv"])
def test_sound_that_outlasts_the_pictures_is_heard_to_its_end(tmp_path: Path, extension: str) -> None:
    path = make(tmp_path / f"v.{extension}", *picture(3), *tone(8), "-c:v", "libx264", "-c:a", "aac")
    found = probe(str(path))
    assert 8_000 <= found.duration_ms <= 8_100
    models = scripted_models(transcriber=ScriptedTranscriber())
    source = Source.of_file(str(path), found.clock)
    record = observe_segment(source, Span(0, found.duration_ms), models, profile="general", meter=Meter()).record
    assert [chunk.gap for chunk in record.chunks] == [None, "no_frames", "no_frames"]
    assert record.transcript[0].text == "w0 w1 w2 w3 w4 w5 w6 w7"


def test_the_single_picture_of_a_podcast_stands_as_long_as_it_is_heard(tmp_path: Path) -> None:
    path = make(tmp_path / "v.mp4", *picture(0.04), *tone(11), "-c:v", "libx264", "-c:a", "aac")
    found = probe(str(path))
    assert 11_000 <= found.duration_ms <= 11_100
    models = scripted_models(transcriber=ScriptedTranscriber())
    source = Source.of_file(str(path), found.clock)
    record = observe_segment(source, Span(0, found.duration_ms), models, profile="general", meter=Meter()).record
    assert [chunk.gap for chunk in record.chunks] == [None] * 4
    assert record.transcript[0].text == " ".join(f"w{n}" for n in range(11))


def test_pictures_that_begin_late_keep_their_time(tmp_path: Path) -> None:
    path = make(
        tmp_path / "v.mp4", *tone(12), "-itsoffset", "7", *picture(5), "-map", "1:v", "-map", "0:a", "-c:v", "libx264",
        "-c:a", "aac",
    )  # fmt: skip
    found = probe(str(path))
    assert 12_000 <= found.duration_ms <= 12_064
    assert frame_times(path, found)[0] in range(7_000, 7_065)


def test_an_edit_that_begins_within_a_picture_shows_its_rest(tmp_path: Path) -> None:
    whole = make(tmp_path / "whole.mp4", *picture(10), "-c:v", "libx264", "-g", "50")
    path = make(tmp_path / "v.mp4", "-ss", "3.3", "-i", str(whole), "-c", "copy")
    found = probe(str(path))
    assert found.duration_ms == 6_700
    assert frame_times(path, found) == [0, *range(20, 6_700, 40)]


@pytest.mark.parametrize("codec", ["mpeg4", "libx264"])
def test_avi_without_times_of_pictures_has_exact_times(tmp_path: Path, codec: str) -> None:
    path = make(tmp_path / "v.avi", *picture(10), "-c:v", codec, "-bf", "2", "-g", "12")
    found = probe(str(path))
    assert (found.duration_ms, found.source_start_ms) == (10_000, 0)
    assert frame_times(path, found) == list(range(0, 10_000, 40))
    assert cut_in_two(path, found) == list(range(0, 10_000, 40))


@pytest.mark.parametrize("extension", ["mkv", "webm"])
def test_a_matroska_file_that_was_cut_is_indexed_as_far_as_it_goes(tmp_path: Path, extension: str) -> None:
    codec = ["libx264"] if extension == "mkv" else ["libvpx", "-deadline", "realtime"]
    whole = make(tmp_path / f"whole.{extension}", *picture(10), "-c:v", *codec, "-g", "500")
    path = tmp_path / f"cut.{extension}"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    found = probe(str(path))
    assert found.degraded == ("truncated",)
    assert 3_000 < found.duration_ms < 9_000
    assert frame_times(path, found) == list(range(0, found.duration_ms, 40))
    assert probe(str(whole)).degraded == ()


def test_a_held_picture_keeps_its_own_time(tmp_path: Path) -> None:
    path = write_video(tmp_path / "v.mkv", [0, 5_000, 10_000], [grey(n * 50) for n in range(3)])
    with sample_frames(str(path), Span(0, 12_000), fps=2, max_side=32, hold_ms=CHUNK_MS) as frames:
        assert [(frame.ms, frame.taken_ms) for frame in frames] == [
            (0, 0), (5_000, 5_000), (6_000, 5_000), (10_000, 10_000)
        ]  # fmt: skip


def test_a_piece_counts_from_its_position_in_the_video(tmp_path: Path) -> None:
    path = make(tmp_path / "v.ts", *picture(6), *tone(6), "-c:v", "libx264", "-c:a", "aac")
    found = probe(str(path))
    piece = Piece(str(path), Span(50_000, 56_000), found.clock)
    with sample_frames(str(path), Span(50_000, 53_000), fps=1, max_side=32, clock=piece.placed_clock) as frames:
        assert [frame.ms for frame in frames] == [50_000, 51_000, 52_000]


def test_stretches_follow_each_other() -> None:
    first = Stretch(Span(0, 6_000), 1_480, 6_000, 0, 100)
    second = Stretch(Span(6_000, 12_000), 1_480, 12_000, 100)
    clock = FileClock((first, second))
    assert FileClock.of_rows(clock.as_rows()) == clock
    assert clock.moved(1_000).duration_ms == clock.duration_ms == 12_000
    assert [part for _, part in clock.within(Span(5_000, 7_000))] == [Span(5_000, 6_000), Span(6_000, 7_000)]
    with pytest.raises(ValueError, match="follow each other"):
        FileClock((second, first))
    with pytest.raises(ValueError, match="at least one"):
        FileClock(())


@pytest.mark.parametrize(
    ("name", "codecs"),
    [
        ("v.mpg", ["-c:v", "mpeg2video", "-bf", "2", "-c:a", "mp2"]),
        ("old.mpg", ["-c:v", "mpeg1video", "-c:a", "mp2"]),
        ("v.vob", ["-c:v", "mpeg2video", "-bf", "2", "-c:a", "ac3"]),
    ],
)
def test_a_program_stream_is_read_as_exactly_as_other_files(tmp_path: Path, name: str, codecs: list[str]) -> None:
    path = make(tmp_path / name, *picture(10), *tone(10), "-ar", "48000", *codecs)
    found = probe(str(path))
    assert (found.container, found.duration_ms, found.degraded) == ("mpeg", 10_000, ())
    assert frame_times(path, found) == list(range(0, 10_000, 40))
    assert cut_in_two(path, found) == list(range(0, 10_000, 40))
    assert all(heard_ms(path, found))
    joined = tmp_path / f"joined-{name}"
    joined.write_bytes(path.read_bytes() * 2)
    assert probe(str(joined)).duration_ms in (19_960, 20_000), "the join may damage the picture before it"


def test_a_gif_is_a_video_whose_pictures_build_on_each_other(tmp_path: Path) -> None:
    path = make(tmp_path / "v.gif", *picture(6, 10))
    found = probe(str(path))
    assert (found.container, found.codec, found.duration_ms) == ("gif", "gif", 6_000)
    assert frame_times(path, found) == list(range(0, 6_000, 100))
    assert cut_in_two(path, found) == list(range(0, 6_000, 100))

    def pictures(fps: float) -> dict[int, np.ndarray]:
        with sample_frames(str(path), Span(0, 6_000), fps=fps, max_side=160, clock=found.clock) as frames:
            return {frame.ms: frame.picture for frame in frames}

    whole, chosen = pictures(EVERY_FRAME), pictures(1)
    assert list(chosen) == list(range(0, 6_000, 1_000))
    assert all(np.array_equal(shown, whole[ms]) for ms, shown in chosen.items())


def test_a_transport_stream_that_begins_within_a_packet_is_read_from_the_next(tmp_path: Path) -> None:
    whole = make(tmp_path / "whole.ts", *picture(6), *tone(6), "-c:v", "libx264", "-c:a", "aac")
    path = tmp_path / "cut.ts"
    path.write_bytes(whole.read_bytes()[100:])
    found = probe(str(path))
    assert (found.container, found.duration_ms) == ("mpegts", 6_000)


def test_damaged_packets_are_noted(tmp_path: Path) -> None:
    path = make(tmp_path / "v.ts", *picture(10), "-c:v", "libx264", "-g", "25")
    data = bytearray(path.read_bytes())
    for at in range(188 * 50, len(data) - 188, 188 * 40):
        data[at : at + 188] = bytes(188)
    path.write_bytes(data)
    found = probe(str(path))
    assert found.degraded == ("damaged",)
    assert 9_900 <= found.duration_ms <= 10_040


@pytest.mark.parametrize(("extension", "codec"), [("mp4", "libx264"), ("mkv", "mpeg4"), ("avi", "mpeg4")])
def test_damaged_bytes_within_packets_are_counted_where_they_are_decoded(
    tmp_path: Path, extension: str, codec: str
) -> None:
    whole = make(tmp_path / f"whole.{extension}", *picture(12), "-c:v", codec, "-g", "25")
    path = tmp_path / f"v.{extension}"
    path.write_bytes(whole.read_bytes())
    damage_packets(path, every=20)

    def damage(file: Path) -> Damage:
        """Return the damage in two segments."""
        total, found = Damage(), probe(str(file))
        for span in (Span(0, 6_000), Span(6_000, 12_000)):
            with sample_frames(str(file), span, fps=2, max_side=32, clock=found.clock, hold_ms=CHUNK_MS) as frames:
                assert list(frames)
            total += frames.damage
        return total

    assert (damage(whole).damaged, damage(whole).is_serious) == (0, False)
    assert 290 <= damage(whole).packets <= 302
    assert 3 < damage(path).damaged <= 15
    assert damage(path).is_serious


def first_picture(path: Path, max_side: int = 1280) -> np.ndarray:
    with sample_frames(str(path), Span(0, 1_000), fps=1, max_side=max_side) as frames:
        return next(frames).picture


@pytest.mark.parametrize(("size", "matrix"), [("1280x720", "bt709"), ("640x360", "bt601")])
def test_colours_that_a_file_does_not_name_follow_its_size(tmp_path: Path, size: str, matrix: str) -> None:
    path = make(
        tmp_path / "v.mkv", "-f", "lavfi", "-i", f"color=c=0xd02060:s={size}:r=5:d=1", "-vf",
        f"scale=out_color_matrix={matrix}:out_range=tv,format=yuv420p,setparams=colorspace=unknown", "-c:v", "ffv1",
    )  # fmt: skip
    shown = first_picture(path)[100:110, 100:110].reshape(-1, 3).mean(axis=0)
    assert np.abs(shown - np.array([0xD0, 0x20, 0x60])).max() <= 3


def test_interlaced_pictures_have_no_combs(tmp_path: Path) -> None:
    graph = "testsrc2=s=720x576:r=50:d=2,crop=360:288:'mod(n*8,300)':100,scale=720:576,interlace"
    flags = ["-c:v", "mpeg2video", "-b:v", "8M", "-flags", "+ildct+ilme"]
    woven = make(tmp_path / "woven.ts", "-f", "lavfi", "-i", graph, *flags)
    plain = make(tmp_path / "plain.ts", "-f", "lavfi", "-i", graph.removesuffix(",interlace") + ",fps=25", *flags[:4])

    def combs(path: Path) -> float:
        """Return how far neighbouring lines differ more than lines of the same field do."""
        with sample_frames(str(path), Span(0, 2_000), fps=2, max_side=720) as frames:
            picture = [frame.picture for frame in frames][2].mean(axis=2)
        return float(np.abs(picture[1:-1] - (picture[:-2] + picture[2:]) / 2).mean())

    assert combs(woven) < 1.5 * combs(plain)

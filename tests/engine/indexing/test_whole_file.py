"""Whatever clocks, rates and tracks a file has: what it holds is indexed or named, once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gpu_workers.engine.ekg import SegmentRecord, Span
from gpu_workers.engine.indexing.probe import ProbeResult, probe
from gpu_workers.engine.indexing.sampling import sample_frames
from gpu_workers.engine.indexing.segments import observe_segment
from gpu_workers.engine.indexing.source import Source
from gpu_workers.engine.models.roles import Meter
from tests.engine.indexing.media import run_ffmpeg
from tests.engine.indexing.scripted import scripted_models

AUDIO_BLOCK_MS = 64


@dataclass(frozen=True)
class Part:
    """A recording of its own. late_ms: by which its pictures begin after its sound. sound_ms: 0 for none. offset_s:
    where its clock begins."""

    fps: int
    pictures_ms: int
    late_ms: int
    sound_ms: int
    offset_s: int
    reordered: int

    @property
    def frame_ms(self) -> float:
        return 1000 / self.fps

    @property
    def whole_ms(self) -> int:
        pictures_end = self.pictures_ms + (self.late_ms if self.sound_ms else 0)
        return self.sound_ms if self.sound_ms - pictures_end > 100 else pictures_end

    def write(self, path: Path) -> Path:
        late = ["-itsoffset", str(self.late_ms / 1000)] if self.sound_ms else []
        sound = ["-f", "lavfi", "-i", f"sine=r=16000:d={self.sound_ms / 1000}"] if self.sound_ms else []
        run_ffmpeg(*late, "-f", "lavfi", "-i", f"testsrc2=s=64x48:r={self.fps}:d={self.pictures_ms / 1000}", *sound,
                   *CODECS[path.suffix], "-bf", str(self.reordered), "-g", str(2 * self.fps), "-output_ts_offset",
                   str(self.offset_s), str(path))  # fmt: skip
        return path


H264 = ("-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac")
CODECS = {
    ".ts": H264,
    ".mp4": H264,
    ".mov": H264,
    ".mkv": H264,
    ".flv": H264,
    ".avi": ("-c:v", "mpeg4", "-c:a", "pcm_s16le"),
    ".webm": ("-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libopus"),
}
PARTS = st.builds(
    Part,
    fps=st.sampled_from([5, 10, 25, 30]),
    pictures_ms=st.sampled_from([1_000, 2_000, 4_000]),
    late_ms=st.sampled_from([0, 1_000, 3_000]),
    sound_ms=st.sampled_from([0, 1_000, 2_000, 5_000]),
    # A clock that leaps ahead by less than a minute is a pause of one recording. 33 bits end at 95,443 s.
    offset_s=st.sampled_from([0, 3_000, 95_442]),
    reordered=st.sampled_from([0, 2]),
)


def same_tracks(parts: list[Part]) -> list[Part]:
    """Return the parts of a joined file: a recorder that has sound has it in every part."""
    return [part for part in parts if bool(part.sound_ms) == bool(parts[0].sound_ms)]


EACH = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # each example takes seconds, and shrinking tries hundreds
    suppress_health_check=[HealthCheck.too_slow],
)


@EACH
@given(st.lists(PARTS, min_size=1, max_size=3).map(same_tracks))
def test_what_a_file_holds_is_indexed_or_named_once(parts: list[Part]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = [part.write(folder / f"{n}.ts") for n, part in enumerate(parts)]
        joined = folder / "joined.ts"
        joined.write_bytes(b"".join(file.read_bytes() for file in files))
        lengths = [probe(str(file)).duration_ms for file in files]
        found = probe(str(joined))

        for part, length in zip(parts, lengths, strict=True):
            assert abs(length - part.whole_ms) <= max(part.frame_ms, AUDIO_BLOCK_MS)
        assert abs(found.duration_ms - sum(lengths)) <= len(parts) * max(part.frame_ms for part in parts)
        times = times_of(joined, found)
        _check_chunks(cut_and_observed(joined, found), found, times)
        _check_pictures(times, parts, lengths, found)


@settings(EACH, max_examples=24)
@given(PARTS, st.sampled_from(sorted(CODECS)))
def test_what_a_file_of_any_container_holds_is_indexed_or_named_once(part: Part, suffix: str) -> None:
    if suffix != ".ts":
        part = replace(part, offset_s=0)
    if suffix == ".avi":
        part = replace(part, late_ms=0)  # AVI holds no times
    with TemporaryDirectory() as name:
        path = part.write(Path(name) / f"v{suffix}")
        found = probe(str(path))
        assert found.degraded == ()
        assert abs(found.duration_ms - part.whole_ms) <= max(part.frame_ms, AUDIO_BLOCK_MS), (part, suffix)
        times = times_of(path, found)
        _check_chunks(cut_and_observed(path, found), found, times)
        _check_pictures(times, [part], [found.duration_ms], found)


def cut_and_observed(path: Path, found: ProbeResult) -> list[SegmentRecord]:
    """Return the observations of a file that is cut into two segments."""
    middle = found.duration_ms // 2 // 3000 * 3000
    cuts = [Span(0, middle), Span(middle, found.duration_ms)] if middle else [Span(0, found.duration_ms)]
    return [observed(path, found, span) for span in cuts]


def observed(path: Path, found: ProbeResult, span: Span) -> SegmentRecord:
    source = Source.of_file(str(path), found.clock)
    return observe_segment(source, span, scripted_models(), profile="general", meter=Meter()).record


def _check_chunks(records: list[SegmentRecord], found: ProbeResult, times: list[int]) -> None:
    """Each moment is in one chunk, which is described if pictures are shown in it and named as a gap if none are."""
    chunks = [chunk for record in records for chunk in record.chunks]
    assert (chunks[0].span.start_ms, chunks[-1].span.end_ms) == (0, found.duration_ms)
    assert sum(chunk.span.duration_ms for chunk in chunks) == found.duration_ms
    assert all(before.span.end_ms == after.span.start_ms for before, after in pairwise(chunks))
    shown = [
        Span(first, one.pictures_end_ms)
        for one in found.clock.stretches
        if (first := next((ms for ms in times if ms >= one.span.start_ms), one.span.end_ms)) < one.pictures_end_ms
    ]
    for chunk in chunks:
        seen = sum(cut.duration_ms for span in shown if (cut := chunk.span.cut_to(span)) is not None)
        if seen > 250:
            assert chunk.gap is None, chunk
        if seen == 0:
            assert chunk.gap == "no_frames", chunk


def times_of(path: Path, found: ProbeResult) -> list[int]:
    """Return the times of all pictures."""
    with sample_frames(str(path), Span(0, found.duration_ms), fps=1000, max_side=32, clock=found.clock) as frames:
        return [frame.ms for frame in frames]


def _check_pictures(times: list[int], parts: list[Part], lengths: list[int], found: ProbeResult) -> None:
    held = sum(round(part.pictures_ms / part.frame_ms) for part in parts)
    assert times == sorted(set(times))
    # The cut picture at the end of a joined part may count as damaged.
    assert held - 2 * (len(parts) - 1) <= len(times) <= held
    begins = parts[0].late_ms if parts[0].sound_ms else 0
    assert abs(times[0] - begins) <= AUDIO_BLOCK_MS
    assert found.duration_ms - lengths[-1] <= times[-1] < found.duration_ms

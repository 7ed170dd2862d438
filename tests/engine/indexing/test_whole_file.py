"""Whatever clocks, rates and tracks a file has: what it holds is indexed or named, once."""

from __future__ import annotations

from dataclasses import dataclass
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
    """A recording of its own. sound_ms: 0 for none. offset_s: where its clock begins."""

    fps: int
    pictures_ms: int
    sound_ms: int
    offset_s: int
    reordered: int

    @property
    def frame_ms(self) -> float:
        return 1000 / self.fps

    @property
    def whole_ms(self) -> int:
        return self.sound_ms if self.sound_ms - self.pictures_ms > 100 else self.pictures_ms

    def write(self, path: Path) -> Path:
        sound = ["-f", "lavfi", "-i", f"sine=r=16000:d={self.sound_ms / 1000}"] if self.sound_ms else []
        run_ffmpeg("-f", "lavfi", "-i", f"testsrc2=s=64x48:r={self.fps}:d={self.pictures_ms / 1000}", *sound,
                   "-c:v", "libx264", "-preset", "ultrafast", "-bf", str(self.reordered), "-g", str(2 * self.fps),
                   "-c:a", "aac", "-output_ts_offset", str(self.offset_s), str(path))  # fmt: skip
        return path


PARTS = st.builds(
    Part,
    fps=st.sampled_from([5, 10, 25, 30]),
    pictures_ms=st.sampled_from([1_000, 2_000, 4_000]),
    sound_ms=st.sampled_from([0, 1_000, 2_000, 5_000]),
    # A clock that leaps ahead by less than a minute is a pause of one recording.
    offset_s=st.sampled_from([0, 3_000]),
    reordered=st.sampled_from([0, 2]),
)


def same_tracks(parts: list[Part]) -> list[Part]:
    """Return the parts of a joined file: a recorder that has sound has it in every part."""
    return [part for part in parts if bool(part.sound_ms) == bool(parts[0].sound_ms)]


@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # each example takes seconds, and shrinking tries hundreds
    suppress_health_check=[HealthCheck.too_slow],
)
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
        middle = found.duration_ms // 2 // 3000 * 3000
        cuts = [Span(0, middle), Span(middle, found.duration_ms)] if middle else [Span(0, found.duration_ms)]
        records = [observed(joined, found, span) for span in cuts]
        _check_chunks(records, found)
        _check_pictures(joined, parts, lengths, found)


def observed(path: Path, found: ProbeResult, span: Span) -> SegmentRecord:
    source = Source.of_file(str(path), found.clock)
    return observe_segment(source, span, scripted_models(), profile="general", meter=Meter()).record


def _check_chunks(records: list[SegmentRecord], found: ProbeResult) -> None:
    """Each moment is in one chunk, which is described if pictures are shown in it and named as a gap if none are."""
    chunks = [chunk for record in records for chunk in record.chunks]
    assert (chunks[0].span.start_ms, chunks[-1].span.end_ms) == (0, found.duration_ms)
    assert all(before.span.end_ms == after.span.start_ms for before, after in pairwise(chunks))
    shown = [Span(one.span.start_ms, one.pictures_end_ms) for one in found.clock.stretches]
    for chunk in chunks:
        seen = sum(cut.duration_ms for span in shown if (cut := chunk.span.cut_to(span)) is not None)
        if seen > 250:
            assert chunk.gap is None, chunk
        if seen == 0:
            assert chunk.gap == "no_frames", chunk


def _check_pictures(path: Path, parts: list[Part], lengths: list[int], found: ProbeResult) -> None:
    with sample_frames(str(path), Span(0, found.duration_ms), fps=1000, max_side=32, clock=found.clock) as frames:
        times = [frame.ms for frame in frames]
    held = sum(round(part.pictures_ms / part.frame_ms) for part in parts)
    assert times == sorted(set(times))
    # The cut picture at the end of a joined part may count as damaged.
    assert held - 2 * (len(parts) - 1) <= len(times) <= held
    assert times[0] <= 1
    assert found.duration_ms - lengths[-1] <= times[-1] < found.duration_ms

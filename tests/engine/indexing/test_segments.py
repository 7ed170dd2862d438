from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_workers.engine.ekg import CHUNK_MS, Picture, SegmentRecord, Span, TranscriptLine
from gpu_workers.engine.indexing.assembly import EventAssembler
from gpu_workers.engine.indexing.file_clock import FileClock
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.segments import (
    Observation,
    observe_segment,
    plan_segments,
    spoken_language,
)
from gpu_workers.engine.indexing.source import Piece, Source
from gpu_workers.engine.models.roles import (
    IndexModels,
    Meter,
    ModelError,
    ModelRefused,
    SegmentDescription,
    SegmentView,
)
from tests.engine.indexing.media import grey, run_ffmpeg, write_steady, write_video
from tests.engine.indexing.scripted import (
    ScriptedDescriber,
    ScriptedEmbedder,
    ScriptedTranscriber,
    scripted_models,
    vector_of,
)


def observed(path: Path, span: Span, models: IndexModels | None = None, **more: object) -> Observation:
    return observe_segment(
        Source.of_file(str(path)), span, models or scripted_models(), profile="general", meter=Meter(),
        **more,  # type: ignore[arg-type]
    )  # fmt: skip


@given(st.integers(1, 40_000_000), st.integers(1, 40).map(lambda n: n * CHUNK_MS))
def test_segments_cover_the_video_exactly(duration_ms: int, segment_ms: int) -> None:
    spans = plan_segments(duration_ms, segment_ms=segment_ms)
    assert spans[0].start_ms == 0
    assert spans[-1].end_ms == duration_ms
    assert all(a.end_ms == b.start_ms for a, b in itertools.pairwise(spans))
    assert all(span.start_ms % CHUNK_MS == 0 for span in spans)
    assert len(spans) == 1 or spans[-1].duration_ms >= min(6000, segment_ms)


def test_a_short_remainder_joins_the_segment_before() -> None:
    assert plan_segments(17_999) == [Span(0, 17_999)]
    assert plan_segments(18_000) == [Span(0, 12_000), Span(12_000, 18_000)]
    assert plan_segments(1) == [Span(0, 1)]


def test_a_short_recording_is_cut_so_that_several_workers_have_work() -> None:
    assert [span.duration_ms for span in plan_segments(79_500)] == [12_000] * 6 + [7_500]
    assert [span.duration_ms for span in plan_segments(200_000)] == [12_000] * 10 + [30_000, 30_000, 20_000]
    assert {span.duration_ms for span in plan_segments(200_000, segment_ms=6_000)} == {6_000, 8_000}


@given(st.integers(1, 400_000), st.integers(1, 40).map(lambda n: n * CHUNK_MS), st.data())
def test_a_recording_that_grows_is_cut_like_one_that_is_whole(
    duration_ms: int, segment_ms: int, data: st.DataObject
) -> None:
    whole = plan_segments(duration_ms, segment_ms=segment_ms)
    begin = data.draw(st.sampled_from([span.start_ms for span in whole]))
    rest = plan_segments(duration_ms, segment_ms=segment_ms, begin_ms=begin)
    assert rest == [span for span in whole if span.start_ms >= begin]


def test_segments_that_would_cut_a_chunk_are_refused() -> None:
    for duration_ms, segment_ms in ((10_000, 10_000), (0, 30_000), (10_000, 0)):
        with pytest.raises(ValueError, match="cannot cut"):
            plan_segments(duration_ms, segment_ms=segment_ms)


def test_a_segment_is_described_embedded_and_kept(tmp_path: Path) -> None:
    path = write_steady(tmp_path / "v.mp4", 12)
    models = scripted_models()
    found = observed(path, Span(6000, 12_000), models, instructions="count the dogs")
    assert [c.n for c in found.record.chunks] == [2, 3]
    assert found.record.chunks[0].description == "grey6 grey6 grey7 grey7 grey8 grey8"
    assert [f.ms for f in found.record.frames] == list(range(6000, 12_000, 1000))
    assert all(f.jpeg.startswith(b"\xff\xd8") for f in found.record.frames)
    assert np.allclose([np.linalg.norm(f.embedding) for f in found.record.frames], 1.0)
    assert isinstance(models.describer, ScriptedDescriber)
    (view,) = models.describer.views
    assert view.instructions == "count the dogs"
    assert view.profile == "general"
    assert [len(c.frames) for c in view.chunks] == [6, 6]
    assert found.damage.damaged == 0


def test_a_slow_describer_still_gets_a_frame_a_second_kept(tmp_path: Path) -> None:
    path = write_steady(tmp_path / "v.mp4", 6)
    models = scripted_models(sample_fps=0.5)
    found = observed(path, Span(0, 6000), models)
    assert [f.ms for f in found.record.frames] == [0, 1000, 2000, 3000, 4000, 5000]
    assert isinstance(models.describer, ScriptedDescriber)
    assert [f.ms for c in models.describer.views[0].chunks for f in c.frames] == [0, 2000, 4000]


def test_sound_is_heard_by_the_chunks_it_is_in(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=9:rate=10:size=64x48", "-f", "lavfi", "-i",
               "sine=duration=9", "-c:v", "mpeg4", "-c:a", "aac", str(path))  # fmt: skip
    models = scripted_models(transcriber=ScriptedTranscriber())
    found = observed(path, Span(3000, 9000), models)
    (line,) = found.record.transcript
    assert line.text == "w3 w4 w5 w6 w7 w8", "what lies beyond the segment is another segment's"
    assert line.span == Span(3000, 8800)
    assert line.embedding is not None
    assert np.allclose(line.embedding, vector_of(line.text), atol=1e-6)
    assert isinstance(models.describer, ScriptedDescriber)
    assert [len(c.transcript) for c in models.describer.views[0].chunks] == [1, 1]
    silent = observed(write_steady(tmp_path / "silent.mp4", 3), Span(0, 3000), models)
    assert silent.record.transcript == ()


def test_no_word_is_lost_or_doubled_where_segments_meet(tmp_path: Path) -> None:
    """A word across the border is transcribed once and whole, by the segment that holds its middle."""
    path = tmp_path / "v.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=12:rate=10:size=64x48", "-f", "lavfi", "-i",
               "sine=duration=12", "-c:v", "mpeg4", "-c:a", "aac", str(path))  # fmt: skip
    models = scripted_models(transcriber=ScriptedTranscriber())
    words = [
        word
        for span in (Span(0, 6000), Span(6000, 12_000))
        for line in observed(path, span, models).record.transcript
        for _, _, word in line.words
    ]
    assert words == [f"w{second}" for second in range(12)]


@pytest.mark.parametrize("cut", [3000, 7000, 10_400])
def test_a_recording_in_pieces_is_the_recording_in_one(tmp_path: Path, cut: int) -> None:
    whole = write_steady(tmp_path / "whole.mp4", 20)
    seconds = cut / 1000
    first = write_steady(tmp_path / "first.mp4", seconds)
    times = [ms for ms in range(0, 20_000, 100) if ms >= cut]
    second = write_video(
        tmp_path / "second.mp4", [ms - cut for ms in times], [grey(ms // 1000 % 25 * 10) for ms in times]
    )
    source = Source(
        (
            Piece(str(first), Span(0, cut), FileClock.steady(0, cut)),
            Piece(str(second), Span(cut, 20_000), FileClock.steady(0, 20_000 - cut)),
        )
    )
    for span in (Span(0, 20_000), Span(6000, 15_000)):
        one = observed(whole, span).record
        two = observe_segment(source, span, scripted_models(), profile="general", meter=Meter()).record
        assert [c.n for c in one.chunks] == [c.n for c in two.chunks]
        assert [c.description for c in one.chunks] == [c.description for c in two.chunks]
        assert [f.ms for f in one.frames] == [f.ms for f in two.frames]


def test_pieces_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="follow each other"):
        Source((Piece("a", Span(0, 2000)), Piece("b", Span(1999, 3000), FileClock.steady(0, 1001))))


def test_black_video_and_a_single_picture_are_described(tmp_path: Path) -> None:
    black = write_video(tmp_path / "black.mp4", [0, 2000, 4000], [grey(0)] * 3)
    assert [c.gap for c in observed(black, Span(0, 6000)).record.chunks] == [None, None]
    one = write_video(tmp_path / "one.mp4", [0], [grey(0)])
    (chunk,) = observed(one, Span(0, 40)).record.chunks
    assert chunk.span == Span(0, 40)
    assert chunk.gap is None


def test_a_still_slide_has_a_picture_in_every_chunk(tmp_path: Path) -> None:
    path = write_video(tmp_path / "slides.mkv", [0, 14_000], [grey(50), grey(150)])
    record = observed(path, Span(0, 15_000)).record
    assert [c.gap for c in record.chunks] == [None] * 5
    assert [f.ms for f in record.frames] == [0, 3000, 6000, 9000, 14_000]


class ScriptedRefusal(ScriptedDescriber):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription:
        raise self.error


def test_a_refused_segment_is_explicit_gaps_and_keeps_its_frames(tmp_path: Path) -> None:
    path = write_steady(tmp_path / "v.mp4", 6)
    models = dataclasses.replace(scripted_models(), describer=ScriptedRefusal(ModelRefused("declined")))
    record = observed(path, Span(0, 6000), models).record
    assert [(c.description, c.gap) for c in record.chunks] == [(None, "model_refused")] * 2
    assert len(record.frames) == 6


def test_other_failures_are_the_jobs(tmp_path: Path) -> None:
    path = write_steady(tmp_path / "v.mp4", 6)
    error = ModelError("model_unavailable", "503", retryable=True)
    models = dataclasses.replace(scripted_models(), describer=ScriptedRefusal(error))
    with pytest.raises(ModelError, match="503"):
        observed(path, Span(0, 6000), models)


def decoding_threads() -> list[threading.Thread]:
    names = ("decode", "speech", "frames")
    return [thread for thread in threading.enumerate() if thread.name.startswith(names)]


def test_an_abandoned_segment_leaves_no_thread(tmp_path: Path) -> None:
    path = write_steady(tmp_path / "v.mp4", 60)

    def stop(ms: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        observed(path, Span(0, 60_000), on_progress=stop)
    assert decoding_threads() == []


class ScriptedWaiter(ScriptedDescriber):
    """Describes only after the frames are embedded, which a serial order would never reach."""

    def __init__(self, embedded: threading.Event) -> None:
        super().__init__()
        self.embedded = embedded

    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription:
        self.waited = self.embedded.wait(timeout=20)
        return super().describe(view, meter=meter)


class ScriptedLateEmbedder(ScriptedEmbedder):
    """Embeds only after the sound is being heard, and says when it has embedded."""

    def __init__(self, heard: threading.Event) -> None:
        super().__init__()
        self.heard, self.embedded = heard, threading.Event()

    def embed_frames(self, pictures: Sequence[Picture], *, meter: Meter) -> np.ndarray:
        self.waited = self.heard.wait(timeout=20)
        vectors = super().embed_frames(pictures, meter=meter)
        self.embedded.set()
        return vectors


class ScriptedHearing(ScriptedTranscriber):
    def __init__(self) -> None:
        self.heard = threading.Event()

    def transcribe(
        self, samples: np.ndarray, *, offset_ms: int, meter: Meter, language: str = ""
    ) -> Sequence[TranscriptLine]:
        self.heard.set()
        return super().transcribe(samples, offset_ms=offset_ms, meter=meter)


def test_speech_frames_and_description_overlap(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=6:rate=10:size=64x48", "-f", "lavfi", "-i",
               "sine=duration=6", "-c:v", "mpeg4", "-c:a", "aac", str(path))  # fmt: skip
    transcriber = ScriptedHearing()
    embedder = ScriptedLateEmbedder(transcriber.heard)
    describer = ScriptedWaiter(embedder.embedded)
    models = dataclasses.replace(scripted_models(transcriber=transcriber), frame_embedder=embedder, describer=describer)
    found = observed(path, Span(0, 6000), models)
    assert embedder.waited
    assert describer.waited
    assert [frame.ms for frame in found.record.frames] == [0, 1000, 2000, 3000, 4000, 5000]


class ScriptedSpeaker(ScriptedTranscriber):
    """Speaks a German word a second, and is certain of the language from the second word on, or if it is given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def transcribe(
        self, samples: np.ndarray, *, offset_ms: int, meter: Meter, language: str = ""
    ) -> Sequence[TranscriptLine]:
        self.given.append(language)
        [whole] = super().transcribe(samples, offset_ms=offset_ms, meter=meter)
        return [
            TranscriptLine(Span(start, end), word, language=language or ("de" if n else ""))
            for n, (start, end, word) in enumerate(whole.words)
        ]


def test_the_language_of_one_segment_is_given_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=6:rate=10:size=64x48", "-f", "lavfi", "-i",
               "sine=duration=6", "-c:v", "mpeg4", "-c:a", "aac", str(path))  # fmt: skip
    speaker = ScriptedSpeaker()
    models = scripted_models(transcriber=speaker)

    first = observed(path, Span(0, 3000), models).record
    second = observed(path, Span(3000, 6000), models, language=spoken_language(first)).record

    assert speaker.given == ["", "de"]
    assert [line.language for line in first.transcript] == ["", "de", "de"]
    assert spoken_language(first) == spoken_language(second) == "de"
    assert spoken_language(dataclasses.replace(first, transcript=first.transcript[:1])) == ""


def test_progress_reports_the_time_reached(tmp_path: Path) -> None:
    reached: list[int] = []
    observed(write_steady(tmp_path / "v.mp4", 6), Span(3000, 6000), on_progress=reached.append)
    assert reached == [3000, 3500, 4000, 4500, 5000, 5500]


class ScriptedSlowEmbedder(ScriptedEmbedder):
    """Looks how far the decoder ran ahead while it 'works'."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []

    def embed_frames(self, pictures: Sequence[Picture], *, meter: Meter) -> np.ndarray:
        self.batches.append(len(pictures))
        return super().embed_frames(pictures, meter=meter)


def test_frames_are_embedded_in_bounded_batches(tmp_path: Path) -> None:
    embedder = ScriptedSlowEmbedder()
    models = dataclasses.replace(scripted_models(), frame_embedder=embedder)
    observed(write_steady(tmp_path / "v.mp4", 40), Span(0, 40_000), models)
    assert embedder.batches == [16, 16, 8]


def test_segments_of_any_length_give_the_same_index(tmp_path: Path) -> None:
    path = write_steady(tmp_path / "v.mp4", 40)

    def indexed(segment_ms: int) -> tuple[list[UUID], list[int], list[str]]:
        index, models = MemoryIndex(UUID(int=1)), scripted_models()
        work = EventAssembler(
            UUID(int=1), 1, models, index, index, profile="general", meter=Meter(), frames_for=index.frames_for
        )
        for span in plan_segments(40_000, segment_ms=segment_ms):
            record: SegmentRecord = observed(path, span, models).record
            index.add_segment(record)
            work.push(record.chunks)
        work.flush()
        return (
            [r.event.id for r in index.events],
            [f.ms for f in index.frames],
            sorted(e.name for e in index.entities),
        )

    assert indexed(6000) == indexed(30_000) == indexed(60_000)

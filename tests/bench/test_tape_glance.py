"""The tape's frames, and what counts as seeing an answer."""

from __future__ import annotations

import json
from pathlib import Path

from bench.evaluation.captions import CaptionIndex
from bench.evaluation.datasets import Sentence, TapeQuery
from bench.instant_models import EqualTexts
from bench.tape_glance import FRAMES, Onlooker, glance_vs_uniform, seen_by_videoagent, touches, with_frames
from gpu_workers.engine.answering.methods.videoagent import wanted_schema
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import AnswerModels, Message, Meter
from tests.engine.answering.world import ScriptedEmbedder, ScriptedSimilarity

TEXTS = ("a boat leaves the harbour", "two men catch a fish", "a girl plays the piano", "a dog digs in the garden")
TAPE = [Sentence(Span(60_000 * n, 60_000 * n + 60_000), TEXTS[n % 4] if n < 4 else f"scene {n}") for n in range(60)]


def graph(folder: Path) -> InMemoryGraph:
    index = CaptionIndex(ScriptedEmbedder(), ScriptedSimilarity(), folder=folder)
    return InMemoryGraph([with_frames(index.of_events("tape", TAPE))])


def models() -> AnswerModels:
    return AnswerModels(Onlooker(), ScriptedEmbedder(), ScriptedEmbedder(), EqualTexts(), UNMEASURED)


def test_a_second_has_the_frame_of_the_shortest_sentence_about_it(tmp_path: Path) -> None:
    index = CaptionIndex(ScriptedEmbedder(), ScriptedSimilarity(), folder=tmp_path)
    both = [Sentence(Span(0, 10_000), "a long story"), Sentence(Span(2_500, 4_500), "a short one")]

    frames = with_frames(index.of_events("two", both)).frames

    assert [frame.ms for frame in frames] == list(range(0, 10_000, 1_000))
    assert {frame.ms: frame.jpeg.decode() for frame in frames if frame.jpeg == b"a short one"} == {
        3_000: "a short one", 4_000: "a short one",
    }  # fmt: skip


def test_eight_frames_are_seen_and_those_found_show_the_sentence(tmp_path: Path) -> None:
    query = TapeQuery("q", "two men catch a fish", Span(60_000, 120_000))

    seen = seen_by_videoagent(query, graph(tmp_path), models())

    assert len(seen) == FRAMES
    glance = [360_000, 1_080_000, 1_800_000, 2_520_000, 3_240_000]
    assert set(glance) <= set(seen)
    assert touches(query, [59_999, 120_000]) is False
    assert touches(query, [119_999]) is True


def test_segments_are_drawn_by_lot_and_the_same_for_the_same_sentence() -> None:
    onlooker = Onlooker()

    def drawn(sentence: str) -> list[int]:
        onlooker.look_for(sentence)
        schema = wanted_schema([1, 2, 3, 4, 5, 6], 3)
        sample = onlooker.sample([Message("user", ("",))], stage="find", meter=Meter(), schema=schema)[0]
        return [item["segment"] for item in json.loads(sample.text)["items"]]

    assert drawn("a dog") == drawn("a dog")
    assert len({tuple(drawn(f"sentence {n}")) for n in range(20)}) > 10


def test_without_the_data_the_figure_is_left_out(tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setenv("AVA_EVALUATION_DATA", str(tmp_path))  # type: ignore[attr-defined]
    assert list(glance_vs_uniform()) == []

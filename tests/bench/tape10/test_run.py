"""A small tape through the engine, from its questions to the report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.evaluation import __main__ as evaluation
from bench.evaluation.cached_calls import CachedTextEmbedder, CallCache
from bench.evaluation.datasets import first_items
from bench.evaluation.models import caption_models
from bench.evaluation.tape10.arms import FOUND_ONLY, TAPE10_ARMS, Tape10Arm
from bench.evaluation.tape10.index import make_video
from bench.evaluation.tape10.questions import make_questions
from bench.evaluation.tape10.world import World, make_world
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.roles import AnswerModels
from gpu_workers.engine.ports import ViewName, ViewQuery

# One process, because the text models are loaded once.
pytestmark = pytest.mark.slow

LENGTH_MS = 1_200_000


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(0, total_ms=LENGTH_MS)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnswerModels]:
    with caption_models(tmp_path_factory.mktemp("calls"), reasoner=False) as models:
        yield models


@pytest.mark.long
def test_the_index_holds_what_the_tape_holds(world: World, models: AnswerModels) -> None:
    video = make_video(world, models.text_embedder)
    graph = InMemoryGraph([video])

    assert [record.event.summary for record in video.events] == [moment.text for moment in world.moments]
    assert [record.event.span for record in video.events] == [moment.span for moment in world.moments]
    assert len(video.chunks) == LENGTH_MS // 3_000
    assert len(graph.objects(limit=1_000)) == len(world.things)
    assert [topic.title for topic in graph.topics(video.video_id)] == [part.title for part in world.parts]
    spoken = [line.text for moment in world.moments for line in moment.lines]
    assert sorted(line.text for line in graph.lines_containing(["a", "e", "i", "o"], limit=1_000)) == sorted(spoken)
    assert video.clock is not None
    for recording in world.recordings:
        assert video.clock.at(recording.span.start_ms) == recording.local(recording.span.start_ms)
    again = make_video(world, models.text_embedder)
    assert [r.event.id for r in again.events] == [r.event.id for r in video.events]
    assert all(
        np.array_equal(a.event.embedding, b.event.embedding) for a, b in zip(again.events, video.events, strict=True)
    )


@pytest.mark.parametrize("arm", TAPE10_ARMS)
def test_times_and_words_are_answered_without_a_language_model(
    world: World, models: AnswerModels, arm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: set[str] = set()
    search = InMemoryGraph.search_views

    def noted(graph: InMemoryGraph, queries: Mapping[ViewName, ViewQuery], *, floor: float = 0.1) -> Any:
        searched.update(queries)
        return search(graph, queries, floor=floor)

    monkeypatch.setattr(InMemoryGraph, "search_views", noted)
    questions = first_items([each for each in make_questions(world) if each.kind in FOUND_ONLY], 60, seed=0)
    asked = Tape10Arm(arm, world, models)

    items = [asked.ask(question) for question in questions]

    assert {item.kind for item in items} == {"time", "clock", "words"}
    assert [item.calls for item in items] == [0] * len(items)
    right = sum(item.right[1] for item in items) / len(items)
    # A hundred events of a small tape are within reach of any search; the understanding makes the difference.
    assert right > 0.8 if arm == "ava" else right < 0.7
    assert ("words" in searched) == (arm == "ava")


def test_the_command_reports_accuracy_by_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: AnswerModels, world: World
) -> None:
    kept = weights.cache_dir() / "weights"
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "weights").symlink_to(kept)
    monkeypatch.setenv("AVA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(evaluation, "make_world", lambda seed: world)
    out = tmp_path / "report.json"

    arguments = ["--set=tape10", "--arm=search", "--kinds=clock,words", "--limit=20", f"--out={out}"]
    assert evaluation.main(arguments) == 0

    body = json.loads(out.read_text())
    assert (body["set"], body["arm"], body["seed"], body["n"]) == ("tape10", "search", 0, 20)
    assert set(body["by_type"]) == {"clock", "words"}
    assert sum(group["n"] for group in body["by_type"].values()) == 20
    assert all(0.0 <= group["accuracy"] <= 1.0 for group in body["by_type"].values())


def test_kinds_belong_to_the_tape_alone(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["--set=tape10", "--kinds=colours"], "--kinds are kinds of tape10"),
        (["--set=tape10", "--arm=tfidf"], "no arm 'tfidf' for tape10; there are ava, search"),
        (["--set=egoschema"], "required: --data"),
    ):
        with pytest.raises(SystemExit):
            evaluation.main(arguments)
        assert message in capsys.readouterr().err


def test_embeddings_are_kept_between_runs(tmp_path: Path, models: AnswerModels) -> None:
    embedder = CachedTextEmbedder(models.text_embedder, CallCache(tmp_path / "calls.sqlite"))
    small = make_world(1, total_ms=LENGTH_MS)

    first, second = make_video(small, embedder), make_video(small, embedder)

    assert [r.event.id for r in first.events] == [r.event.id for r in second.events]

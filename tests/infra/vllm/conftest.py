"""Servers of vLLM that a module of tests needs, workers' settings that name them, and one small indexed video.

Models without weights on a package index are random: see infra/vllm/make_tiny_models.py and make_vision_model.py for
the served ones; a narrow DeBERTa of 40 layers, made here, stands in for deberta-xlarge-mnli. MiniLM, SmolLM2 and
Whisper are real, but the video has no sound.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpu_workers.engine.ekg import Span, stable_id
from gpu_workers.engine.indexing.audio_tracks import listened_tracks
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.pipeline import IndexingReport, index_recording
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.indexing.segments import Observation, observe_segment
from gpu_workers.engine.indexing.source import Source
from gpu_workers.engine.models import bindings, weights
from gpu_workers.engine.models.local.similarity import DEBERTA_LAYER
from gpu_workers.engine.models.roles import IndexModels, Meter, ModelCall
from gpu_workers.engine.models.settings import ModelSettings
from infra.vllm import environment, servers
from infra.vllm.servers import Served
from tests.engine.indexing.media import run_ffmpeg
from tests.engine.models.tiny_models import write_deberta, write_rtdetr

_NOTES = pytest.StashKey[list[str]]()


class Notes:
    """Numbers that are shown after the run."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def add(self, line: str) -> None:
        self._lines.append(line)

    def calls(self, title: str, calls: tuple[ModelCall, ...]) -> None:
        """Add one line per stage that asked a server."""
        stages: dict[tuple[str, str], list[ModelCall]] = defaultdict(list)
        for call in calls:
            if call.completion_tokens:
                stages[call.stage, call.model].append(call)
        for (stage, model), of_stage in stages.items():
            prompt, cached, written = (
                sum(getattr(call, name) for call in of_stage)
                for name in ("prompt_tokens", "cached_tokens", "completion_tokens")
            )
            samples = sum(call.items for call in of_stage)
            wall = sum(call.wall_ms for call in of_stage) / 1000
            self.add(
                f"{title}, {stage} ({model}): {len(of_stage)} calls, {samples} samples, {prompt} prompt tokens "
                f"of which {cached} cached, {written} written, {wall:.1f} s in calls"
            )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_NOTES] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash[_NOTES]:
        terminalreporter.section("measured")
        for line in config.stash[_NOTES]:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def notes(pytestconfig: pytest.Config) -> Notes:
    return Notes(pytestconfig.stash[_NOTES])


@contextmanager
def running(notes: Notes, **models: str) -> Iterator[dict[str, Served]]:
    """Run servers by name (with _ for -), each with the model of environment.model_of()."""
    interpreter = Path(os.environ["AVA_TEST_VLLM"])
    named = {name.replace("_", "-"): environment.model_of(model, interpreter) for name, model in models.items()}
    with servers.serving(interpreter, named) as served:
        waits = ", ".join(f"{name} after {server.start_s:.0f} s" for name, server in served.items())
        notes.add(f"serving {waits}")
        yield served


@pytest.fixture(scope="module")
def served(notes: Notes) -> Iterator[dict[str, Served]]:
    """Run the servers that index a video and answer a question."""
    with running(
        notes, vlm="vlm", llm="llm", text_embedder="text-embedder", frame_embedder="frame-embedder"
    ) as servers:
        yield servers


@pytest.fixture(scope="module")
def settings(served: dict[str, Served], tmp_path_factory: pytest.TempPathFactory) -> ModelSettings:
    """Return the settings of workers of the preset, with its in-process models from folders."""
    minilm = weights.fetch("all-minilm-l6-v2")
    deberta = write_deberta(tmp_path_factory.mktemp("models") / "deberta", tokenizer=minilm, layers=DEBERTA_LAYER)
    rtdetr = write_rtdetr(tmp_path_factory.mktemp("models") / "rtdetr")
    variables = {"SIMILARITY_MODEL": str(deberta), "TRANSCRIBER_MODEL": "whisper-base", "MODEL_DEVICE": "cpu"}
    variables["DETECTOR_MODEL"] = str(rtdetr)
    return ModelSettings.from_env({**servers.environment_of(served), **variables})


@pytest.fixture(scope="module")
def models(settings: ModelSettings) -> IndexModels:
    return bindings.load_index_models(settings)


@pytest.fixture(scope="session")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make 30 s of test patterns, 320 x 180."""
    path = tmp_path_factory.mktemp("video") / "patterns.mp4"
    scenes = [f"{name}=size=320x180:rate=10:duration=10[{name}]" for name in ("testsrc2", "mandelbrot", "smptebars")]
    scenes[1] = "mandelbrot=size=320x180:rate=10,trim=duration=10[mandelbrot]"
    graph = ";".join([*scenes, "[testsrc2][mandelbrot][smptebars]concat=n=3,format=yuv420p"])
    run_ffmpeg("-filter_complex", graph, "-c:v", "mpeg4", "-q:v", "5", str(path))
    return path


@dataclass(frozen=True, slots=True)
class Indexed:
    index: MemoryIndex
    report: IndexingReport
    calls: tuple[ModelCall, ...]
    duration_ms: int


@pytest.fixture(scope="module")
def indexed(video: Path, models: IndexModels, notes: Notes) -> Indexed:
    """Run the video through the pipeline."""
    found = probe(str(video))
    source = Source.of_file(str(video), found.clock, listened_tracks(found.audio_tracks).tracks)
    index, meter = MemoryIndex(stable_id("video", "patterns")), Meter()

    def observe(span: Span) -> Observation:
        return observe_segment(source, span, models, profile="general", meter=meter)

    began = time.monotonic()
    report = index_recording(
        observe, found.duration_ms, models, index, video_id=index.video_id, meter=meter, segment_ms=15_000
    )
    notes.add(f"indexing {found.duration_ms / 1000:.0f} s of video: {time.monotonic() - began:.1f} s")
    notes.calls("indexing", meter.calls)
    return Indexed(index, report, meter.calls, found.duration_ms)

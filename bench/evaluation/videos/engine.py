"""Questions about video files through the engine: one index per video, kept, and answer_question()."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from pathlib import Path
from threading import Lock
from uuid import UUID

from bench.evaluation.deciding import decided_by
from bench.evaluation.models import answering_models
from bench.evaluation.videos.ablations import Ablation
from bench.evaluation.videos.manifest import VideoQuestion
from bench.evaluation.videos.results import CitedSpan, VideoAnswer
from docs.examples.index_a_file import index_file
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, Budget, Effort, Price, QuestionInput
from gpu_workers.engine.answering.methods import METHODS
from gpu_workers.engine.answering.presets import settings_with
from gpu_workers.engine.ekg import Chunk, Event, LinkedMention, ObjectState, Topic
from gpu_workers.engine.indexing.assembly import AssemblySettings
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.bindings import load_index_models
from gpu_workers.engine.models.roles import AnswerModels, IndexModels, Meter
from gpu_workers.engine.prompts import digest as prompts_digest

FORM = 2
"""Raised if the same file gives another index."""


class VideoIndexes:
    """The indexes of video files, each made once and kept in the cache directory. settings: how events are made."""

    def __init__(
        self, files: Mapping[str, Path], models: IndexModels, settings: AssemblySettings | None = None
    ) -> None:
        self.files = files
        self._models, self._settings = models, settings
        self._graphs: dict[tuple[str, str], InMemoryGraph] = {}
        self._lock = Lock()

    def graph(self, video: str, *, profile: str) -> InMemoryGraph:
        """Return the graph of a video. Raises ProbeError if its file is no video."""
        with self._lock:
            if (video, profile) not in self._graphs:
                # Questions come video by video, and an index of ten hours takes memory.
                self._graphs = {(video, profile): self.index(video, profile=profile).graph()}
            return self._graphs[video, profile]

    def index(self, video: str, *, profile: str) -> MemoryIndex:
        """Return the index of a video, kept under a name that covers the file, the models and the shape of what is
        kept. Raises ProbeError if its file is no video."""
        path = self.files[video]
        roles = (
            self._models.describer,
            self._models.text_embedder,
            self._models.frame_embedder,
            self._models.similarity,
        )
        names = [role.name for role in roles]
        shapes = [[field.name for field in fields(kind)] for kind in (Chunk, Event, LinkedMention, ObjectState, Topic)]
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        about = (FORM, shapes, content, profile, names, repr(self._settings))
        digest = hashlib.sha256(repr(about).encode()).hexdigest()
        kept = weights.cache_dir() / "evaluation" / "videos" / f"{path.stem}-{digest[:20]}.pickle"
        if kept.exists():
            cached: MemoryIndex = pickle.loads(kept.read_bytes())  # noqa: S301 - written by this function
            return cached
        index = index_file(path, self._models, profile=profile, meter=Meter(), settings=self._settings)
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(f".{path.stem}.part")
        partial.write_bytes(pickle.dumps(index))
        partial.replace(kept)
        return index


@dataclass(frozen=True, slots=True)
class EngineArm:
    """Asks one method of the engine. prices: by model name. pictures: folder for the cited frames."""

    method: str
    effort: Effort
    ablation: Ablation
    indexes: VideoIndexes
    models: AnswerModels
    prices: Mapping[str, Price]
    pictures: Path

    @property
    def settings(self) -> str:
        """Return what the method is asked with, as a text that changes with it."""
        settings = self.ablation.search(settings_with(self.effort, self.models), self.method)
        about = METHODS[self.method].version, prompts_digest(), self.models.reasoner.name, self.ablation.label
        return repr((settings, about))

    def ask(self, question: VideoQuestion) -> VideoAnswer:
        graph = self.indexes.graph(question.video, profile=question.profile)
        settings = self.ablation.search(settings_with(self.effort, self.models), self.method)
        asked = QuestionInput(
            question.text, question.choices, profile=question.profile, method=self.method, effort=self.effort
        )
        answer = answer_question(asked, graph, self.models, settings=settings, budget=Budget(prices=self.prices))
        shown = video_answer(answer, graph, priced=bool(self.prices))
        return replace(shown, citations=tuple(self._pictured(question.video, answer, shown, graph)))

    def _pictured(self, video: str, answer: Answer, shown: VideoAnswer, graph: InMemoryGraph) -> Iterator[CitedSpan]:
        for citation, cited in zip(answer.citations, shown.citations, strict=True):
            yield replace(cited, frame=self._picture(video, citation.event_id, citation.frame_ms, graph))

    def _picture(self, video: str, event_id: UUID, ms: int | None, graph: InMemoryGraph) -> str:
        for frame in graph.frames_of([event_id], limit=10_000):
            if frame.ms == ms:
                path = self.pictures / f"{video}-{ms}.jpg"
                path.write_bytes(graph.jpeg(frame))
                return path.name
        return ""


def video_answer(answer: Answer, graph: InMemoryGraph, *, priced: bool) -> VideoAnswer:
    """Return an answer of the engine without its pictures."""
    calls = answer.usage.calls
    spoken = [call for call in calls if call.completion_tokens]
    events = graph.load_events([citation.event_id for citation in answer.citations])
    return VideoAnswer(
        answer.text,
        answer.choice,
        answer.finish_reason,
        decided_by(answer),
        answer.detail,
        answer.confidence,
        str(answer.signals.get("head", "")),
        tuple(
            CitedSpan(
                cited.start_ms / 1000, cited.end_ms / 1000, cited.status, cited.quote, events[cited.event_id].summary
            )
            for cited in answer.citations
        ),
        answer.degraded,
        len(spoken),
        sum(not call.ok for call in calls),
        sum(call.prompt_tokens for call in spoken),
        sum(call.cached_tokens for call in spoken),
        sum(call.completion_tokens for call in spoken),
        sum(node.frames_used for node in answer.nodes),
        answer.usage.cost if priced else None,
        answer.timings.get("total", 0),
        sum(call.wall_ms for call in calls),
        answer.method_version,
        answer.prompts,
    )


@contextmanager
def engine_models() -> Iterator[tuple[IndexModels, AnswerModels]]:
    """Yield the models of the environment. No call is cached, so that latencies are those of the calls."""
    with answering_models() as (settings, models):
        yield load_index_models(settings), models


def read_prices(rows: Mapping[str, Mapping[str, str]]) -> dict[str, Price]:
    """Return prices by model: {"model": {"prompt_per_million": "0.1", ...}}. Raises TypeError, ArithmeticError."""
    return {model: Price(**{name: Decimal(str(value)) for name, value in row.items()}) for model, row in rows.items()}

"""Scripted models: the test gives their words, and their arithmetic is exact."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import (
    CHUNK_MS,
    Chunk,
    EntityMention,
    Extraction,
    Picture,
    RelationStatement,
    Span,
    TranscriptLine,
    Vector,
    unit,
)
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.observer.narrator import MeasuredNarrator
from gpu_workers.engine.models.roles import IndexModels, Meter, Scores, SegmentDescription, SegmentView

DIMENSION = 32


def chunk(n: int, description: str | None = "a street", gap: str | None = None) -> Chunk:
    return Chunk(n, Span(n * CHUNK_MS, (n + 1) * CHUNK_MS), None if gap else description, gap=gap)


def vector_of(text: str) -> Vector:
    """Return a unit vector of the text's words, so that texts with common words are near."""
    total = np.zeros(DIMENSION)
    for word in text.lower().split():
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        total += np.random.default_rng(seed).standard_normal(DIMENSION)
    return unit(total)


class ScriptedSimilarity:
    """Recall: share of the later text's words in the earlier one. F1: Dice coefficient. encoded: every text encoded."""

    name = "scripted"

    def __init__(self, baseline: float = 0.0) -> None:
        self.baseline = baseline
        self.encoded: list[str] = []
        self.pairs = 0

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[object]:
        self.encoded.extend(texts)
        return [frozenset(text.split()) for text in texts]

    def score(self, candidates: Sequence[object], references: Sequence[object]) -> Scores:
        self.pairs += len(candidates)
        recall, f1 = [], []
        for a, b in zip(candidates, references, strict=True):
            assert isinstance(a, frozenset)
            assert isinstance(b, frozenset)
            recall.append(len(a & b) / len(b))
            f1.append(2 * len(a & b) / (len(a) + len(b)))
        return Scores(*(np.asarray(values, dtype=np.float32) for values in (recall, recall, f1)))


class ScriptedDescriber:
    """Describes a chunk by the mean grey of each of its frames; a chunk without frames is a gap."""

    name = "scripted"

    def __init__(self, sample_fps: float = 2.0) -> None:
        self.sample_fps = sample_fps
        self.views: list[SegmentView] = []

    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription:
        self.views.append(view)
        return SegmentDescription(
            tuple(self._describe(c.n, c.span, [f.picture for f in c.frames]) for c in view.chunks)
        )

    def _describe(self, n: int, span: Span, pictures: Sequence[Picture]) -> Chunk:
        if not pictures:
            return Chunk(n, span, None, gap="no_frames")
        return Chunk(n, span, " ".join(f"grey{round(float(p.mean()) / 10)}" for p in pictures))


class ScriptedSummariser:
    """Joins all descriptions. seen: the chunk numbers of each call."""

    name = "scripted"

    def __init__(self) -> None:
        self.seen: list[tuple[int, ...]] = []
        self.fail: Callable[[Sequence[Chunk]], None] = lambda chunks: None

    def summarise(self, chunks: Sequence[Chunk], *, profile: str, meter: Meter) -> str:
        self.seen.append(tuple(chunk.n for chunk in chunks))
        self.fail(chunks)
        return " / ".join(chunk.description or "" for chunk in chunks)


class ScriptedExtractor:
    """Each word is a thing; each word acts on the next. frames: how many frames each call got."""

    name = "scripted"

    def __init__(self) -> None:
        self.frames: list[int] = []
        self.fail: Callable[[Sequence[Chunk]], None] = lambda chunks: None

    def extract(
        self,
        summary: str,
        chunks: Sequence[Chunk],
        frames: Sequence[tuple[int, bytes]],
        *,
        profile: str,
        meter: Meter,
    ) -> Extraction:
        self.frames.append(len(frames))
        self.fail(chunks)
        words = [word for word in summary.split() if word != "/"]
        return Extraction(
            tuple(EntityMention(word, "thing", "") for word in words),
            tuple(RelationStatement(a, "acts on", b) for a, b in itertools.pairwise(words)),
        )


class ScriptedEmbedder:
    """Text and frames in one space: a frame is its rounded grey as a word."""

    name, dimension, open_vocabulary = "scripted", DIMENSION, False

    def __init__(self) -> None:
        self.frames = 0

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        return np.stack([vector_of(text) for text in texts])

    def embed_frames(self, pictures: Sequence[Picture], *, meter: Meter) -> NDArray[np.float32]:
        self.frames += len(pictures)
        return np.stack([vector_of(f"grey{round(float(p.mean()) / 10)}") for p in pictures])

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return vector_of(text)


class ScriptedTranscriber:
    """One line per call, of one word for each whole second that it heard: w17 is spoken from 17.0 s to 17.8 s."""

    name = "scripted"

    def transcribe(
        self, samples: NDArray[np.float32], *, offset_ms: int, meter: Meter, language: str = ""
    ) -> Sequence[TranscriptLine]:
        length_ms = len(samples) * 1000 // 16_000
        starts = range(-(-offset_ms // 1000) * 1000, offset_ms + length_ms - 799, 1000)
        words = tuple((ms, ms + 800, f"w{ms // 1000}") for ms in starts)
        return [TranscriptLine(Span(words[0][0], words[-1][1]), " ".join(w for _, _, w in words), words)]


def scripted_models(*, sample_fps: float = 2.0, transcriber: ScriptedTranscriber | None = None) -> IndexModels:
    embedder = ScriptedEmbedder()
    return IndexModels(
        describer=ScriptedDescriber(sample_fps),
        summariser=ScriptedSummariser(),
        extractor=ScriptedExtractor(),
        text_embedder=embedder,
        frame_embedder=embedder,
        similarity=ScriptedSimilarity(),
        narrator=MeasuredNarrator(),
        calibration=UNMEASURED,
        transcriber=transcriber,
    )

"""Models that answer at once, so that only the engine's own time remains."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Chunk, EntityMention, Extraction, Picture, RelationStatement, Vector, unit
from gpu_workers.engine.models.calibration import UNMEASURED, calibration_of
from gpu_workers.engine.models.observer.narrator import MeasuredNarrator
from gpu_workers.engine.models.roles import IndexModels, Meter, Scores, SegmentDescription, SegmentView

DIMENSION = 384


def vector_of(text: str) -> Vector:
    """Return a random direction that is the same for the same text."""
    return unit(np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSION))


class InstantDescriber:
    """Describes a chunk by the number of its 12 s scene; a chunk without frames is a gap."""

    name, sample_fps = "instant", 2.0

    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription:
        return SegmentDescription(
            tuple(
                Chunk(c.n, c.span, f"scene {c.n // 4}" if c.frames else None, gap=None if c.frames else "no_frames")
                for c in view.chunks
            )
        )


class InstantSummariser:
    name = "instant"

    def summarise(self, chunks: Sequence[Chunk], *, profile: str, meter: Meter) -> str:
        return f"{chunks[0].description} in {len(chunks)} parts"


class InstantExtractor:
    """Extracts two people per scene and one thing for the whole video."""

    name = "instant"

    def extract(
        self, summary: str, chunks: Sequence[Chunk], frames: Sequence[tuple[int, bytes]], *, profile: str, meter: Meter
    ) -> Extraction:
        scene = chunks[0].description or ""
        names = (f"left of {scene}", f"right of {scene}", "the square")
        return Extraction(
            tuple(EntityMention(name, "person" if "of" in name else "place", "") for name in names),
            (RelationStatement(names[0], "walks to", names[1]),),
        )


class InstantEmbedder:
    name, dimension, open_vocabulary = "instant", DIMENSION, False

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        return np.stack([vector_of(text) for text in texts])

    def embed_frames(self, pictures: Sequence[Picture], *, meter: Meter) -> NDArray[np.float32]:
        return np.tile(vector_of("picture"), (len(pictures), 1))

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return vector_of(text)


class EqualTexts:
    """Scores 1 for equal texts and 0 for all others."""

    name, baseline = "equal texts", 0.0

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[object]:
        return list(texts)

    def score(self, candidates: Sequence[object], references: Sequence[object]) -> Scores:
        same = np.asarray([a == b for a, b in zip(candidates, references, strict=True)], dtype=np.float32)
        return Scores(same, same, same)


def instant_models(**other: object) -> IndexModels:
    """Return instant models, with what was fitted to the similarity in use. other: roles that are not instant."""
    embedder = InstantEmbedder()
    models = IndexModels(
        describer=InstantDescriber(),
        summariser=InstantSummariser(),
        extractor=InstantExtractor(),
        text_embedder=embedder,
        frame_embedder=embedder,
        similarity=EqualTexts(),
        narrator=MeasuredNarrator(),
        calibration=UNMEASURED,
    )
    models = replace(models, **other)  # type: ignore[arg-type]
    names = {"similarity": models.similarity.name, "text_embedder": models.text_embedder.name}
    return replace(models, calibration=calibration_of(**names))

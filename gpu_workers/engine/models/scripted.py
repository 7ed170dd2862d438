"""Models of test mode: fixed words and arithmetic over words, without weights and without a call.

A customer's test key indexes with them, so that an index has its usual shape and costs nothing. Nothing here looks at a
picture.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Chunk, EntityMention, Extraction, Picture, RelationStatement, Vector, unit
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.observer.narrator import MeasuredNarrator
from gpu_workers.engine.models.roles import (
    AnswerModels,
    ChatCapabilities,
    ChatModel,
    IndexModels,
    Meter,
    ModelError,
    Sample,
    Scores,
    SegmentDescription,
    SegmentView,
)

NAME = "test-mode"
SCENE_MS = 30_000
SCENES = (
    "Test mode: a person opens the gate.",
    "Test mode: a white van stops at the gate.",
    "Test mode: the yard is empty.",
)
"""What a recording shows, one sentence for each SCENE_MS, again and again."""
_DIMENSION = 64
_WORD = re.compile(r"\w+")


def _vector(text: str) -> Vector:
    """Return a unit vector of the text's words: texts with common words are near."""
    total = np.zeros(_DIMENSION)
    for word in _WORD.findall(text.lower()):
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        total += np.random.default_rng(seed).standard_normal(_DIMENSION)
    return unit(total)


class SceneDescriber:
    """Describes each chunk by the sentence of its scene."""

    name, sample_fps = NAME, 0.1

    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription:
        return SegmentDescription(
            tuple(
                Chunk(chunk.n, chunk.span, SCENES[chunk.span.start_ms // SCENE_MS % len(SCENES)])
                for chunk in view.chunks
            )
        )


class SceneWriter:
    """Writes an event as its first description, with a gate in it."""

    name = NAME

    def summarise(self, chunks: Sequence[Chunk], *, profile: str, meter: Meter) -> str:
        return next((chunk.description for chunk in chunks if chunk.description), SCENES[0])

    def extract(
        self,
        summary: str,
        chunks: Sequence[Chunk],
        frames: Sequence[tuple[int, bytes]],
        *,
        profile: str,
        meter: Meter,
    ) -> Extraction:
        return Extraction(
            (EntityMention("visitor", "person", "a person"), EntityMention("gate", "place", "the gate of a yard")),
            (RelationStatement("visitor", "comes to", "gate"),),
        )


class WordEmbedder:
    """Text by its words; every picture alike."""

    name, dimension, open_vocabulary = NAME, _DIMENSION, False

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        return np.stack([_vector(text) for text in texts])

    def embed_frames(self, pictures: Sequence[Picture], *, meter: Meter) -> NDArray[np.float32]:
        return np.stack([_vector("picture") for _ in pictures])

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return _vector(text)


class SameWords:
    """Two texts are alike if they are equal."""

    name, baseline = NAME, 0.0

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[object]:
        return list(texts)

    def score(self, candidates: Sequence[object], references: Sequence[object]) -> Scores:
        same = np.asarray([a == b for a, b in zip(candidates, references, strict=True)], dtype=np.float32)
        return Scores(same, same, same)


class NoReasoner(ChatModel):
    """Stands where a reasoner is bound; test mode has none."""

    name, capabilities = NAME, ChatCapabilities(context_tokens=8_192)

    def sample(self, *args: object, **kwargs: object) -> list[Sample]:
        raise ModelError("not_in_test_mode", "Test mode has no reasoner.", retryable=False)

    def count_tokens(self, text: str) -> int:
        return len(text)


_embedder = WordEmbedder()
INDEX_MODELS = IndexModels(
    describer=SceneDescriber(),
    summariser=SceneWriter(),
    extractor=SceneWriter(),
    text_embedder=_embedder,
    frame_embedder=_embedder,
    similarity=SameWords(),
    narrator=MeasuredNarrator(),
    calibration=UNMEASURED,
)
ANSWER_MODELS = AnswerModels(
    reasoner=NoReasoner(),
    text_embedder=_embedder,
    frame_embedder=_embedder,
    similarity=SameWords(),
    calibration=UNMEASURED,
    embedder_languages=(),
)

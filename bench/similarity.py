"""Merging by BERTScore against encoding every text once, and its scores against the bert-score package's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from weakref import WeakSet

import numpy as np

from bench.descriptions import descriptions
from bench.figures import Figures, at_most, ratio, side_by_side
from gpu_workers.engine.ekg import CHUNK_MS, Chunk, Span
from gpu_workers.engine.indexing.semantic_chunking import SemanticChunker
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import EMBEDDED_SIMILARITY, SIMILARITIES
from gpu_workers.engine.models.local.similarity import MINILM_BASELINE, MINILM_LAYER, BertScoreSimilarity, EncodedText
from gpu_workers.engine.models.roles import Meter, Scores

TEXTS, REPEATS = 480, 5
SEGMENT_CHUNKS, BACKLOG_CHUNKS = 10, 60
"""Number of chunks that assembly hands over at once: of one 30 s segment, or of several segments in a backlog."""
PAIRS = 64
MEMORY_TEXTS = (240, 720)
_THRESHOLD = SIMILARITIES[EMBEDDED_SIMILARITY].merge.value


def time_of_merging() -> Figures:
    texts, model = descriptions(TEXTS), _model()
    floor, in_backlog, in_segments = side_by_side(
        REPEATS,
        partial(model.encode, texts, meter=Meter()),
        partial(_merge, model, texts, BACKLOG_CHUNKS),
        partial(_merge, model, texts, SEGMENT_CHUNKS),
    )
    reference = f"encoding {TEXTS} descriptions once ({floor.median:.2f} s) with the same MiniLM, in one call"
    for name, merged, at_once in (
        ("similarity_time", in_backlog, BACKLOG_CHUNKS),
        ("similarity_time_segments", in_segments, SEGMENT_CHUNKS),
    ):
        yield at_most(name, ratio(merged, floor), 1.2, f"{reference}; merged {at_once} at a time")


def equality() -> Figures:
    """Compare scores of adjacent texts, which the merge compares, and of distant texts."""
    from bert_score import score

    texts, model = descriptions(2 * PAIRS, seed=1), _model()
    candidates = [*texts[:PAIRS], *texts[:PAIRS]]
    references = [*texts[1 : PAIRS + 1], *reversed(texts[PAIRS:])]
    theirs = score(
        candidates, references, model_type=str(weights.fetch("all-minilm-l6-v2")), num_layers=MINILM_LAYER, idf=False
    )
    encode = partial(model.encode, meter=Meter())
    ours = model.score(encode(candidates), encode(references))
    pairs = zip((ours.precision, ours.recall, ours.f1), theirs, strict=True)
    apart = max(float(np.abs(a - b.numpy()).max()) for a, b in pairs)
    reference = (
        f"bert_score.score() of the bert-score package: largest difference in precision, recall and F1 over "
        f"{len(candidates)} pairs, same model, layer {MINILM_LAYER}, no idf"
    )
    yield at_most("similarity_scores", apart, 1e-4, reference)


def memory() -> Figures:
    few, many = (_held(_model(), descriptions(count)) for count in MEMORY_TEXTS)
    reference = (
        f"most encoded text alive at once in the merge of {MEMORY_TEXTS[1]} descriptions ({many / 2**20:.2f} MiB) "
        f"against that of {MEMORY_TEXTS[0]} ({few / 2**20:.2f} MiB)"
    )
    yield at_most("similarity_memory", many / few, 1.25, reference)


@cache
def _model() -> BertScoreSimilarity:
    folder = weights.fetch("all-minilm-l6-v2")
    return BertScoreSimilarity(folder, num_layers=MINILM_LAYER, baseline=MINILM_BASELINE, name=EMBEDDED_SIMILARITY)


def _chunks(texts: Sequence[str]) -> list[Chunk]:
    return [Chunk(n, Span(n * CHUNK_MS, (n + 1) * CHUNK_MS), text) for n, text in enumerate(texts)]


def _merge(model: BertScoreSimilarity, texts: Sequence[str], at_once: int) -> int:
    """Return the number of events that texts are merged to."""
    chunker, chunks = SemanticChunker(model, _THRESHOLD), _chunks(texts)
    groups = [chunker.extend(chunks[at : at + at_once]) for at in range(0, len(chunks), at_once)]
    return sum(map(len, groups)) + len(chunker.flush())


def _held(model: BertScoreSimilarity, texts: Sequence[str]) -> int:
    watched = _Watched(model)
    chunker = SemanticChunker(watched, _THRESHOLD)
    chunks = _chunks(texts)
    for at in range(0, len(chunks), SEGMENT_CHUNKS):
        chunker.extend(chunks[at : at + SEGMENT_CHUNKS])
    return watched.most_bytes


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class _Kept:
    text: EncodedText

    @property
    def bytes(self) -> int:
        return int(self.text.embeddings.nbytes)


class _Watched:
    """A similarity that knows, whenever scores are requested, how much of its encoded text is still alive."""

    def __init__(self, model: BertScoreSimilarity) -> None:
        self.name, self.baseline = model.name, model.baseline
        self.most_bytes = 0
        self._model = model
        self._alive: WeakSet[_Kept] = WeakSet()

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[object]:
        encoded = [_Kept(text) for text in self._model.encode(texts, meter=meter)]
        self._alive.update(encoded)
        return encoded

    def score(self, candidates: Sequence[object], references: Sequence[object]) -> Scores:
        self.most_bytes = max(self.most_bytes, sum(text.bytes for text in self._alive))
        return self._model.score(
            *([text.text for text in side if isinstance(text, _Kept)] for side in (candidates, references))
        )

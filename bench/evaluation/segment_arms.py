"""Two kinds of segments for the search of VideoAgent with memory: events of the index, and 3 s chunks with vectors.

The sentences of a tape become descriptions of chunks, as a describer writes them, and the product merges these into
events.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.evaluation.captions import CaptionIndex
from bench.evaluation.datasets import Sentence, Tape
from gpu_workers.engine.ekg import Span, chunk_spans
from gpu_workers.engine.models.roles import Meter, TextEmbedder, embed_queries

SEGMENT_ARMS = ("segments_events", "segments_chunks")
"""Events, and chunks, by the cosine of their text alone."""


class Segments:
    """The segments of a tape with their vectors."""

    def __init__(self, arm: str, tape: Tape, index: CaptionIndex, embedder: TextEmbedder, *, seed: int) -> None:
        texts = list(dict.fromkeys(query.text for query in tape.queries))
        self._queries = dict(zip(texts, embed_queries(embedder, texts, meter=Meter()), strict=True))
        memory = index.of_captions(f"{tape.name}-{seed}", by_chunk(tape.events), profile="general")
        if arm == "segments_events":
            events = [record.event for record in memory.events]
            self._spans = [event.span for event in events]
            self._vectors = np.stack([event.embedding for event in events])
        else:
            chunks = [chunk for chunk in memory.chunks if chunk.description]
            self._spans = [chunk.span for chunk in chunks]
            self._vectors = embedder.embed([chunk.description or "" for chunk in chunks], meter=Meter())

    def nearest(self, query: str, count: int) -> list[Span]:
        """Return the spans of the count segments that are most similar to a query of the tape, best first."""
        similarities = self._vectors @ self._queries[query]
        return [self._spans[n] for n in np.argsort(-similarities, kind="stable")[:count]]


def by_chunk(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return a caption for each chunk that sentences describe: these sentences, each once, in order of time."""
    captions: list[Sentence] = []
    for _, span in chunk_spans(Span(0, max(sentence.span.end_ms for sentence in sentences))):
        here = dict.fromkeys(sentence.text for sentence in sentences if sentence.span.overlaps(span))
        if here:
            captions.append(Sentence(span, " ".join(here)))
    return captions

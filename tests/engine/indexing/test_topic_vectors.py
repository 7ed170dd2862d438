"""Topics get the vector of their title and summary once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_workers.engine.ekg import Span, Topic
from gpu_workers.engine.indexing.topic_vectors import with_vectors
from gpu_workers.engine.models.roles import Meter
from tests.engine.indexing.scripted import ScriptedEmbedder, vector_of


class CountingEmbedder(ScriptedEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], *, meter: Meter) -> Any:
        self.texts += texts
        return super().embed(texts, meter=meter)


def topic(n: int) -> Topic:
    return Topic(n, Span(n * 1_000, (n + 1) * 1_000), n, n + 1, f"Scene {n}", f"dogs run {n}")


def test_a_topic_that_has_a_vector_keeps_it_and_is_not_read_again() -> None:
    embedder, known = CountingEmbedder(), replace(topic(1), embedding=vector_of("another text"))
    topics = with_vectors([topic(0), known, topic(2)], embedder, meter=Meter())
    assert embedder.texts == ["Scene 0: dogs run 0", "Scene 2: dogs run 2"]
    expected = [vector_of("Scene 0: dogs run 0"), vector_of("another text"), vector_of("Scene 2: dogs run 2")]
    assert np.array_equal([t.embedding for t in topics if t.embedding is not None], expected)
    assert [t.n for t in topics] == [0, 1, 2]
    assert with_vectors(topics, embedder, meter=Meter()) == topics
    assert with_vectors([], embedder, meter=Meter()) == ()
    assert len(embedder.texts) == 2

"""The vectors of topics, by which a question finds the stretches of a video that are about something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_workers.engine.ekg import Topic
from gpu_workers.engine.models.roles import Meter, TextEmbedder


def with_vectors(topics: Sequence[Topic], embedder: TextEmbedder, *, meter: Meter) -> tuple[Topic, ...]:
    """Return the topics, each with the vector of its title and summary; a topic that has one keeps it.

    Raises ModelError when the embedder fails.
    """
    missing = [topic for topic in topics if topic.embedding is None]
    if not missing:
        return tuple(topics)
    vectors = iter(embedder.embed([topic.embedded_text for topic in missing], meter=meter))
    return tuple(replace(topic, embedding=next(vectors)) if topic.embedding is None else topic for topic in topics)

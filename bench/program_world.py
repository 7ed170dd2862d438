"""A small world for random programs: two videos with entities, relations and objects, and a reasoner that errs."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import (
    Entity,
    EntityMention,
    Event,
    EventRecord,
    FrameRow,
    LinkedMention,
    ObjectState,
    Place,
    Relation,
    Span,
    TrackObservation,
    Vector,
    stable_id,
    unit,
)
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.roles import ChatCapabilities, ChatModel, Message, Meter, ModelError, Sample

VIDEOS, EVENTS, THINGS = 2, 120, 12
DIMENSION = 64
WORDS = ("boy", "girl", "dog", "ball", "juice", "door", "drinks", "opens", "runs", "sings", "red", "left")


class CountingGraph:
    """A graph that counts its reads."""

    def __init__(self, graph: InMemoryGraph) -> None:
        self._graph = graph
        self.reads: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(self._graph, name)

        def read(*arguments: Any, **more: Any) -> Any:
            self.reads[name] += 1
            return found(*arguments, **more)

        return read


class BagOfWords:
    """Embeds a text by its words of WORDS."""

    name, dimension, open_vocabulary = "bag of words", DIMENSION, False

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        return np.stack([vector_of(text) for text in texts])

    def embed_frames(self, pictures: Sequence[Any], *, meter: Meter) -> NDArray[np.float32]:
        raise NotImplementedError

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return vector_of(text)


def vector_of(text: str) -> Vector:
    vector = np.zeros(DIMENSION, dtype=np.float32)
    for word in text.split():
        if word in WORDS:
            vector[WORDS.index(word)] += 1.0
    return unit(vector)


class RandomReasoner(ChatModel):
    """Answers with numbers, mostly; else it refuses, fails or says anything."""

    name = "random"
    capabilities = ChatCapabilities(32_768)

    def __init__(self, choices: random.Random) -> None:
        self._choices = choices
        self.calls = 0

    def sample(self, messages: Sequence[Message], *, stage: str, meter: Meter, **more: Any) -> list[Sample]:
        self.calls += 1
        numbers = [self._choices.randint(-1, 18) for _ in range(self._choices.randint(0, 12))]
        match self._choices.randint(0, 9):
            case 0:
                raise ModelError("model_timeout", "no answer", retryable=True)
            case 1:
                return [Sample("", refused=True)]
            case 2:
                return [Sample('{"fits": [' * self._choices.randint(0, 1_000))]
            case _:
                return [Sample(json.dumps({"fits": numbers, "true": numbers, "false": numbers[:3]}))]

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


def small_world() -> InMemoryGraph:
    """Return two videos with events, entities, relations, objects and frames, the same ones each time."""
    choices = random.Random(0)
    return InMemoryGraph([_video(choices, n) for n in range(VIDEOS)])


def _video(choices: random.Random, number: int) -> MemoryVideo:
    video = stable_id("video", "programs", number)
    people = [_entity(video, n) for n in range(THINGS)]
    records, frames = [], []
    for n in range(EVENTS):
        span = Span(6_000 * n, 6_000 * n + 6_000)
        words = " ".join(choices.choices(WORDS, k=4))
        event = Event(stable_id("event", video, n), n, span, 2 * n, 2 * n + 2, words, vector_of(words))
        here = choices.sample(people, 2)
        mentions = tuple(
            LinkedMention(
                stable_id("mention", event.id, entity.id),
                entity.id,
                event.id,
                EntityMention(entity.name, "person", ""),
                entity.centroid,
            )
            for entity in here
        )
        verb = choices.choice(("plays with", "looks at"))
        ends = (here[0].id, here[1].id)
        relation = Relation(stable_id("relation", event.id), *ends, verb, "", event.id, 1.0)
        records.append(EventRecord(event, tuple(here), mentions, (relation,)))
        frames += [FrameRow(ms, b"", vector_of(words)) for ms in range(span.start_ms, span.end_ms, 1_000)]
    tracked = [_object(choices, video, n) for n in range(THINGS)]
    return MemoryVideo(
        video,
        records,
        frames=frames,
        objects=[state for state, _ in tracked],
        tracks={state.id: (track,) for state, track in tracked},
    )


def _entity(video: Any, n: int) -> Entity:
    name = WORDS[n % 6]
    return Entity(stable_id("entity", video, n), name, "person", "", (), vector_of(name), 1)


def _object(choices: random.Random, video: Any, n: int) -> tuple[ObjectState, TrackObservation]:
    start = 1_000 * choices.randint(0, 6 * EVENTS - 60)
    box = (choices.random() / 2, choices.random() / 2, 0.5 + choices.random() / 2, 0.5 + choices.random() / 2)
    times = range(start, start + 1_000 * choices.randint(1, 60), 1_000)
    span = Span(times[0], times[-1] + 1)
    category = choices.choice(WORDS[:6])
    track = TrackObservation(n, category, span, 0.9, boxes=tuple((ms, *box) for ms in times))
    confidence = choices.choice([0.4, 0.9])
    state = ObjectState(
        stable_id("object", video, n), n, {category: 1}, {"red": 1}, (span,), (0,), 1, 1, 1, 1, confidence, 1, None,
        Place(times[-1], box),
    )  # fmt: skip
    return state, track

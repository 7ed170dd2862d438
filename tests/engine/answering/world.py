"""A small world for answering tests: a street video in an in-memory graph, and models with scripted words."""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import (
    Chunk,
    Entity,
    EntityMention,
    Event,
    EventRecord,
    FrameRow,
    LinkedMention,
    Span,
    TranscriptLine,
    Vector,
    stable_id,
    unit,
)
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.calibration import (
    EMBEDDED_REASONER,
    EMBEDDED_SIMILARITY,
    EMBEDDED_TEXT_EMBEDDER,
    UNMEASURED,
    Calibration,
    calibration_of,
)
from gpu_workers.engine.models.roles import (
    AnswerModels,
    ChatCapabilities,
    ChatModel,
    CheckRequest,
    Message,
    Meter,
    ModelCall,
    ModelError,
    ObserveRequest,
    Sample,
    Scores,
)

DIMENSION = 256
EMBEDDED = calibration_of(
    reasoner=EMBEDDED_REASONER, similarity=EMBEDDED_SIMILARITY, text_embedder=EMBEDDED_TEXT_EMBEDDER
)
"""Calibration of the embedded models, for scripted models that play them."""
VIDEO = stable_id("video", "street")


def embed(text: str) -> Vector:
    """Return a bag of words: the similarity of texts is that of the words they share."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % DIMENSION] += 1.0
    return unit(vector)


class ScriptedEmbedder:
    name = "words"
    dimension = DIMENSION
    open_vocabulary = False

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        meter.record(ModelCall("embedding", self.name, 0, items=len(texts)))
        return np.stack([embed(text) for text in texts])

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return embed(text)

    def embed_frames(self, pictures: Sequence[Any], *, meter: Meter) -> NDArray[np.float32]:
        raise NotImplementedError


class ScriptedSimilarity:
    """Precision, recall and F1 of shared words. baseline: as given."""

    name = "shared words"

    def __init__(self, baseline: float = 0.0) -> None:
        self.baseline = baseline
        self.pairs: list[tuple[str, str]] = []

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[object]:
        return list(texts)

    def score(self, candidates: Sequence[object], references: Sequence[object]) -> Scores:
        self.pairs += [(str(a), str(b)) for a, b in zip(candidates, references, strict=True)]
        words = [(set(str(a).split()), set(str(b).split())) for a, b in zip(candidates, references, strict=True)]
        precision, recall, f1 = (
            np.array([2 * len(a & b) / max(1, size(a, b)) for a, b in words], dtype=np.float32)
            for size in (lambda a, b: 2 * len(a), lambda a, b: 2 * len(b), lambda a, b: len(a) + len(b))
        )
        return Scores(precision, recall, f1)


class Request:
    """A request to a scripted reasoner. text: all parts of all messages."""

    def __init__(self, stage: str, text: str, n: int, seed: int | None, schema: Any, max_tokens: int) -> None:
        self.stage, self.text, self.n, self.seed = stage, text, n, seed
        self.schema, self.max_tokens = schema, max_tokens


Reply = str | Mapping[str, Any] | Sample | Exception
Script = Callable[[Request], Any]


class ScriptedReasoner(ChatModel):
    """A chat model with words by a function of the request. A reply is one text for all samples, or a list.

    reads: whether the script answers the call that reads the question. By default that call fails before anything is
    sent, and labelled examples and figures read the question, so that a test of another stage need not script it.
    """

    name = "scripted"

    def __init__(self, script: Script, *, context_tokens: int = 32_768, reads: bool = False) -> None:
        self.script, self.reads = script, reads
        self.capabilities = ChatCapabilities(context_tokens)
        self.requests: list[Request] = []
        self._lock = threading.Lock()

    def sample(
        self,
        messages: Sequence[Message],
        *,
        stage: str,
        meter: Meter,
        schema: Mapping[str, Any] | None = None,
        n: int = 1,
        temperature: float = 0.0,
        max_tokens: int = 512,
        seed: int | None = None,
        timeout_s: float | None = None,
        alternatives: int = 0,
    ) -> list[Sample]:
        if stage == "read" and not self.reads:
            raise ModelError("not_scripted", "this script does not read questions", retryable=False)
        text = "\n".join(str(part) for message in messages for part in message.parts)
        request = Request(stage, text, n, seed, schema, max_tokens)
        with self._lock:
            self.requests.append(request)
        reply = self.script(request)
        replies = reply if isinstance(reply, list) else [reply] * n
        for given_reply in replies:
            if isinstance(given_reply, Exception):
                raise given_reply
        samples = [_sample(given_reply) for given_reply in replies[:n]]
        meter.record(
            ModelCall(
                stage,
                self.name,
                1,
                prompt_tokens=self.count_tokens(text),
                completion_tokens=sum(self.count_tokens(sample.text) for sample in samples),
            )
        )
        return samples

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def asked(self, stage: str) -> list[Request]:
        return [request for request in self.requests if request.stage == stage]


def _sample(reply: Any) -> Sample:
    if isinstance(reply, Sample):
        return reply
    return Sample(reply if isinstance(reply, str) else json.dumps(reply))


class ScriptedChecker:
    """A checker with samples by a function of the request. Another function gives its observations: none by default."""

    name = "scripted checker"
    sees = True
    capabilities = ChatCapabilities(32_768, images=True)

    def __init__(
        self,
        script: Callable[[CheckRequest], Reply],
        *,
        observes: Callable[[ObserveRequest], Reply] = lambda request: {"findings": []},
        max_frames: int = 8,
    ) -> None:
        self.script = script
        self.observes = observes
        self.max_frames = max_frames
        self.requests: list[CheckRequest] = []
        self.observed: list[ObserveRequest] = []
        self._lock = threading.Lock()

    def check(
        self,
        request: CheckRequest,
        *,
        n: int,
        schema: Mapping[str, Any],
        meter: Meter,
        timeout_s: float | None = None,
    ) -> list[Sample]:
        self.requests.append(request)
        reply = self.script(request)
        if isinstance(reply, Exception):
            raise reply
        meter.record(ModelCall("check", self.name, 1, prompt_tokens=10, completion_tokens=5))
        return [_sample(reply)] * n

    def observe(
        self, request: ObserveRequest, *, schema: Mapping[str, Any], meter: Meter, timeout_s: float | None = None
    ) -> Sample:
        with self._lock:
            self.observed.append(request)
        reply = self.observes(request)
        if isinstance(reply, Exception):
            raise reply
        meter.record(ModelCall("observe", self.name, 1, prompt_tokens=10, completion_tokens=5))
        return _sample(reply)


def says(answer: str, reasoning: str = "the events show it", evidence: Sequence[int] = (1,)) -> dict[str, Any]:
    return {"reasoning": reasoning, "answer": answer, "evidence": list(evidence)}


QUERIES = {"keywords": "person walks", "entity": "person", "scene": "a person walks"}
REQUERY = {"missing": "the colour", "sub_query": "what colour is the car", **QUERIES, "keywords": "car colour"}


def verdicts(request: Request, verdict: Callable[[str], str]) -> dict[str, Any]:
    """Return a reply to a "verify" call: the same verdict on a statement by each of its passages, none for ""."""
    lines = re.findall(r"^(\d+)\. (.*) \(passages ([\d, ]+)\)$", request.text, re.MULTILINE)
    return {
        "verdicts": [
            {"statement": int(number), "passage": int(passage), "verdict": verdict(statement)}
            for number, statement, passages in lines
            for passage in passages.split(", ")
            if verdict(statement)
        ]
    }


def reading(question: str, *, search: str = "", **changes: Any) -> dict[str, Any]:
    """Return a reply of stage `read`: this question, which is English, stands alone and is searched for."""
    plain = {
        "language": "en", "question": question, "search": search or question, **QUERIES, "choices": [],
        "route": "search", "sure": True, "shape": "sentence", "statement": "", "polarity": "occurs", "said": "none",
        "exact": "", "counted": "", "counting": "total", "comparison": "none", "topic": [], "subject": "content",
        "times": [], "videos": [],
    }  # fmt: skip
    assert plain.keys() >= changes.keys()
    return plain | changes


def scripted(answers: Script | Reply) -> ScriptedReasoner:
    """Return a reasoner that rewrites and re-queries sensibly, and whose answers are given."""

    def script(request: Request) -> Any:
        if request.stage == "rewrite":
            return QUERIES
        if request.stage == "requery":
            return REQUERY
        if request.stage == "verify":
            return verdicts(request, lambda statement: "supported")
        return answers(request) if callable(answers) else answers

    return ScriptedReasoner(script)


def models(reasoner: ScriptedReasoner, *, checker: Any = None, calibration: Calibration = UNMEASURED) -> AnswerModels:
    embedder = ScriptedEmbedder()
    return AnswerModels(reasoner, embedder, embedder, ScriptedSimilarity(), calibration, checker)


def event_id(n: int, video_id: UUID = VIDEO) -> UUID:
    return stable_id("event", video_id, n)


def make_video(
    summaries: Sequence[str],
    *,
    video_id: UUID = VIDEO,
    entities: Mapping[str, Sequence[int]] | None = None,
    speech: Mapping[int, str] | None = None,
    measured: bool = False,
) -> MemoryVideo:
    """Return a video with an event of 3 s per summary and a frame in the middle of each. entities: name -> its
    events."""
    chunks, frames, records = [], [], []
    for n, summary in enumerate(summaries):
        span = Span(3000 * n, 3000 * n + 3000)
        lines = (TranscriptLine(span, speech[n], embedding=embed(speech[n])),) if speech and n in speech else ()
        facts = {"measured": True} if measured else {}
        chunks.append(Chunk(n, span, f"seen: {summary}", facts=facts, transcript=lines))
        frames.append(FrameRow(span.start_ms + 1500, f"jpeg {n}".encode(), embed(summary)))
        event = Event(event_id(n, video_id), n, span, n, n + 1, summary, embed(summary))
        here = [_entity(name) for name, events in (entities or {}).items() if n in events]
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
        records.append(EventRecord(event, tuple(here), mentions, ()))
    return MemoryVideo(video_id, records, chunks, frames)


def _entity(name: str) -> Entity:
    return Entity(stable_id("entity", name), name, "person", "", (), embed(name), 1)


STREET = (
    "a person in black walks left",
    "a person in red stands near the pole",
    "a blue car drives past the pole",
    "a person in black walks right",
    "a dog runs across the street",
    "two people in grey talk near the shop",
    "a cyclist in green rides past the shop",
    "a white van parks near the pole",
)


def street(**more: Any) -> InMemoryGraph:
    return InMemoryGraph([make_video(STREET, **more)])


def long_street(events: int = 120) -> InMemoryGraph:
    """Return many events that differ in a number, so that F and B always find new events."""
    return InMemoryGraph([make_video([f"person number {n} walks along street {n % 7}" for n in range(events)])])

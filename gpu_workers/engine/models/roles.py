"""Model roles: the protocols that the engine requires of models, whichever implementation plays them.

Every call reports its consumption to a Meter, so that the usage of a job or a question is the sum of its model calls.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import (
    Chunk,
    EventDigest,
    Extraction,
    Picture,
    SampledFrame,
    Span,
    Topic,
    TrackObservation,
    TranscriptLine,
    Vector,
)
from gpu_workers.engine.models import call_metrics
from gpu_workers.engine.models.calibration import Calibration


class ModelError(Exception):
    """A model call failed. code is stable; retryable says whether the same call may succeed later.

    dependency: the role whose server failed, such as "describer"; "" where none did. retry_after_s: seconds for which
    the server asks to be left alone, None if it names none.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool,
        dependency: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
        self.dependency = dependency
        self.retry_after_s = retry_after_s


class ModelRefused(ModelError):
    """The provider declined to answer: a typed outcome, never a parse failure."""

    def __init__(self, message: str) -> None:
        super().__init__("model_refused", message, retryable=False)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One metered call. stage: description, summary, entities, topics, overview, embedding, rewrite, answer, ...

    prompt_tokens: of a call that was cut, an estimate of what the server had to read. pictures: shown with the prompt.
    device_ms: device time of the call to the microsecond, which is billed (models.device_rates). None if the call had
    the device to itself, so that its device time is its wall time. cache_shared: whether the server may have read
    cached_tokens for another tenant, because it takes no salt. start_ms: since the meter began; the meter sets it.
    """

    stage: str
    model: str
    wall_ms: int
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    items: int = 1
    ok: bool = True
    device_ms: float | None = None
    pictures: int = 0
    cache_shared: bool = False
    start_ms: int | None = field(default=None, compare=False)

    @property
    def billed_ms(self) -> float:
        """Return the milliseconds of device time that this call is billed for."""
        return self.wall_ms if self.device_ms is None else self.device_ms


class Meter:
    """Collects the calls of one job or question; safe to share between threads.

    cache_salt: sent with every chat call, so that a server shares the cache of equal prompts only inside one tenant; ""
    outside any tenant. attribute: returns a call with its device time (device_rates.DeviceRates.attributed). clock: in
    seconds, from any origin.
    """

    def __init__(
        self,
        cache_salt: str = "",
        *,
        attribute: Callable[[ModelCall], ModelCall] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.cache_salt = cache_salt
        self._attribute = attribute
        self._clock, self._began = clock, clock()
        self._calls: list[ModelCall] = []
        self._answered: set[str] = set()
        self._outage: ModelError | None = None
        self._lock = threading.Lock()

    def record(self, call: ModelCall) -> None:
        """Keep a call that has just ended, with its device time, and count it among those of this process."""
        call = self.attributed(call)
        self.keep(call)
        tokens = {"prompt": call.prompt_tokens, "cached": call.cached_tokens, "completion": call.completion_tokens}
        call_metrics.count(call.stage, call.model, ok=call.ok, wall_ms=call.wall_ms, tokens=tokens)

    def attributed(self, call: ModelCall) -> ModelCall:
        """Return a call that has just ended with its device time, and with its start unless it has one already."""
        if call.start_ms is None:
            elapsed_ms = 1_000 * (self._clock() - self._began)
            call = replace(call, start_ms=max(0, round(elapsed_ms) - call.wall_ms))
        return call if self._attribute is None else self._attribute(call)

    def keep(self, call: ModelCall) -> None:
        """Keep a call that another meter counts."""
        with self._lock:
            self._calls.append(call)

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        with self._lock:
            return tuple(self._calls)

    def answer_of(self, dependency: str) -> None:
        """Note that a server has answered. dependency: see ModelError."""
        with self._lock:
            self._answered.add(dependency)

    def outage_of(self, error: ModelError) -> None:
        """Note that a call was given up because its server is away."""
        with self._lock:
            self._outage = error

    @property
    def answered(self) -> frozenset[str]:
        """Return the dependencies that have answered."""
        with self._lock:
            return frozenset(self._answered)

    @property
    def outage(self) -> ModelError | None:
        """Return the error of the last call that was given up because its server is away."""
        with self._lock:
            return self._outage


# --- chat models (LLM and VLM): one protocol, OpenAI's -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChatCapabilities:
    """What a chat server does, as it says of itself or as it showed when it was probed.

    context_tokens: its window. images, video: whether messages may hold pictures, or frames as one video. schemas:
    whether it keeps to a JSON schema. samples: whether one request may ask for several samples. log_probabilities:
    whether it returns those of the first tokens. thinks: whether it writes its reasoning before the answer.
    picture_patch: side in pixels of the square that costs one token, 28 for Qwen2.5-VL and 32 for Qwen3-VL.
    shares_cache: whether it keeps one cache of prompts for all callers and ignores a salt, as llama.cpp does.
    """

    context_tokens: int
    images: bool = False
    video: bool = False
    schemas: bool = True
    samples: bool = True
    log_probabilities: bool = True
    thinks: bool = False
    picture_patch: int = 28
    shares_cache: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """A picture inside a message, sent as a data URI. label, if any, is sent as text just before it."""

    jpeg: bytes
    label: str = ""


@dataclass(frozen=True, slots=True)
class Video:
    """Frames inside a message that a server reads as one video; at least one, all of one size.

    frames: JPEG, in order of time. times_ms: time of each frame in the recording. label, if any, is sent as text just
    before the frames.
    """

    frames: tuple[bytes, ...]
    times_ms: tuple[int, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """role: system, user or assistant. parts: text, images and videos, in order."""

    role: str
    parts: tuple[str | Image | Video, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion.

    text is "" and refused True if the provider declined; truncated is True if the completion hit max_tokens. first:
    log-probabilities of the likeliest first tokens, if they were requested and the server returns them.
    """

    text: str
    refused: bool = False
    truncated: bool = False
    first: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class ChatModel(Protocol):
    """An OpenAI-compatible chat endpoint. Safe to call from several threads."""

    name: str
    capabilities: ChatCapabilities

    @property
    def context_tokens(self) -> int:
        """Window of the server."""
        return self.capabilities.context_tokens

    @property
    def accepts_images(self) -> bool:
        """Whether messages may hold pictures."""
        return self.capabilities.images

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
        """Return n completions, in one request if the server can (else in parallel); at least one.

        schema: JSON schema for structured output. alternatives: number of first tokens whose probabilities are wanted
        (Sample.first), at most 20; a server may return fewer, or none. Retries 429, 5xx and lost connections with
        jitter, obeying Retry-After. Raises ModelError (codes model_unavailable, model_timeout, model_bad_request,
        context_exceeded) or ModelRefused when every sample was refused.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Return an upper estimate of the tokens of text."""
        ...


# --- perception ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChunkView:
    """The input of a describer for one chunk. frames: in order of time, each ms inside span; may be empty."""

    n: int
    span: Span
    frames: tuple[SampledFrame, ...]
    transcript: tuple[TranscriptLine, ...] = ()


@dataclass(frozen=True, slots=True)
class SegmentView:
    """The input of a describer for one segment: its chunks in order. profile: one of prompts.PROFILES."""

    span: Span
    chunks: tuple[ChunkView, ...]
    profile: str = "general"
    instructions: str = ""
    """Wishes of a collection for its descriptions; data for the describer's prompt."""
    before: str = ""
    """Description of the chunk before the segment, "" if it is not known; names of people and things stay the same."""


@dataclass(frozen=True, slots=True)
class DescriptionWarning:
    """A part that a chunk's description lacks. n: the chunk's. code: output_truncated."""

    n: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class SegmentDescription:
    """One Chunk per ChunkView, in order; a chunk that could not be described has a gap code."""

    chunks: tuple[Chunk, ...]
    tracks: tuple[TrackObservation, ...] = ()
    warnings: tuple[DescriptionWarning, ...] = ()


class Describer(Protocol):
    """Describes each chunk. sample_fps: frames per second that it wants to see."""

    name: str
    sample_fps: float

    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription: ...


@runtime_checkable
class ManyRates(Protocol):
    """A describer that wants the frames of several rates, each chosen as if it were the only one."""

    sample_rates: tuple[float, ...]


class Summariser(Protocol):
    """Writes one text for an event from all its member chunks with their times."""

    name: str

    def summarise(self, chunks: Sequence[Chunk], *, profile: str, meter: Meter) -> str: ...


class Extractor(Protocol):
    """Extracts entities and relations of one event from its text, its chunks and a few of its frames (JPEG)."""

    name: str

    def extract(
        self,
        summary: str,
        chunks: Sequence[Chunk],
        frames: Sequence[tuple[int, bytes]],
        *,
        profile: str,
        meter: Meter,
    ) -> Extraction: ...


@dataclass(frozen=True, slots=True)
class EventText:
    summary: str
    extraction: Extraction


class EventWriter(Protocol):
    """Writes an event's text, entities and relations at once, from its chunks and a few of its frames (JPEG)."""

    name: str

    def write(
        self, chunks: Sequence[Chunk], frames: Sequence[tuple[int, bytes]], *, profile: str, meter: Meter
    ) -> EventText:
        """At least one chunk has a description. Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True)
class TopicText:
    """people, places: as the events name them, most important first."""

    title: str
    summary: str
    people: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OverviewText:
    text: str
    people: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


class Narrator(Protocol):
    """Narrates many events, or many topics, as one text; however many they are, each request fits the model.

    Both methods take at least one item, in order of time, and raise ModelError. looks: whether it looks at frames, as
    (ms, JPEG) in order of time.
    """

    name: str

    @property
    def looks(self) -> bool: ...

    def narrate_topic(
        self, events: Sequence[EventDigest], frames: Sequence[tuple[int, bytes]] = (), *, profile: str, meter: Meter
    ) -> TopicText: ...

    def narrate_overview(self, topics: Sequence[Topic], *, profile: str, meter: Meter) -> OverviewText: ...


class Transcriber(Protocol):
    """Turns speech into text. samples: mono float32 at 16 kHz; times of the result start at offset_ms."""

    name: str

    def transcribe(
        self, samples: NDArray[np.float32], *, offset_ms: int, meter: Meter, language: str = ""
    ) -> Sequence[TranscriptLine]:
        """Return the lines spoken in samples. language: ISO 639-1 code of the speech, "" to detect it."""
        ...


# --- vectors and similarity ----------------------------------------------------------------------------------------


class TextEmbedder(Protocol):
    """Turns texts into vectors. name identifies the vector space and is stored with each vector; dimension: its
    width."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension), rows of unit length. An empty text gives a zero row."""
        ...


@runtime_checkable
class QueryEmbedder(Protocol):
    """A TextEmbedder whose model expects a search text in another form than a stored text."""

    def embed_queries(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]: ...


def embed_queries(embedder: TextEmbedder, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
    """Embed search texts, in the form that the model expects them. See TextEmbedder.embed()."""
    if isinstance(embedder, QueryEmbedder):
        return embedder.embed_queries(texts, meter=meter)
    return embedder.embed(texts, meter=meter)


class FrameEmbedder(Protocol):
    """Turns frames and queries into vectors of one space (possibly the text embedder's).

    open_vocabulary: whether any words can be compared with a picture; False if a picture is placed by the labels of a
    classifier, so that words beyond these labels find nothing.
    """

    name: str
    dimension: int
    open_vocabulary: bool

    def embed_frames(self, pictures: Sequence[Picture], *, meter: Meter) -> NDArray[np.float32]: ...

    def embed_query(self, text: str, *, meter: Meter) -> Vector: ...


@dataclass(frozen=True, slots=True)
class Scores:
    """BERTScore of pairs, each array of shape (pairs,). Raw (unscaled) values."""

    precision: NDArray[np.float32]
    recall: NDArray[np.float32]
    f1: NDArray[np.float32]


class Similarity(Protocol):
    """BERTScore. baseline: mean raw F1 of unrelated texts, for rescaling (x - b) / (1 - b).

    encode() does the expensive part once per text; score() compares what was encoded.
    """

    name: str
    baseline: float

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[object]: ...

    def score(self, candidates: Sequence[object], references: Sequence[object]) -> Scores:
        """Return the pairwise scores of candidates[i] against references[i]."""
        ...


class Reranker(Protocol):
    """Scores passages against a query, more exactly than their embeddings do."""

    name: str

    def rerank(self, query: str, passages: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        """Return the relevance of each passage to the query, 0 to 1, shape (len(passages),). Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True)
class Entailment:
    """Probabilities that a premise entails a hypothesis, says nothing of it, or contradicts it; their sum is 1."""

    entails: float
    neutral: float
    contradicts: float


class Entailer(Protocol):
    """Natural language inference between texts."""

    name: str

    def entail(self, pairs: Sequence[tuple[str, str]], *, meter: Meter) -> list[Entailment]:
        """Return the entailment of each (premise, hypothesis). Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True)
class FrameEvidence:
    """A frame offered to a checker. observation: the describer's measurements around it, "" for a VLM."""

    ms: int
    jpeg: bytes
    observation: str = ""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A question that a checker answers from frames. known: what is known of the video, in words, such as its summary
    and spoken lines; with it the frames are not the only ground of the answer."""

    question: str
    choices: tuple[str, ...]
    """Texts of the choices; empty for an open question."""
    hypotheses: tuple[str, ...]
    """Answers that disagree."""
    frames: tuple[FrameEvidence, ...]
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ObserveRequest:
    """A look at a few frames for one thing.

    find: the thing. hypothesis: the answer or statement under test, "" for none. known: findings of earlier looks, in
    words. high: the frames are pictures in full, not thumbnails, and cost more.
    """

    question: str
    find: str
    hypothesis: str
    known: tuple[str, ...]
    frames: tuple[FrameEvidence, ...]
    high: bool = False


class Checker(Protocol):
    """Looks at frames: answers again (AVA, section 5.3, action CA), or reports what they show.

    Both methods return raw samples in the schema given and raise ModelError. max_frames: maximum per request. sees:
    whether it looks at the pictures; else it reads what was measured around them. capabilities: of the model that looks
    or reads.
    timeout_s: how long the request may take with all of its retries, None for the model's own limit.
    """

    name: str
    max_frames: int
    sees: bool
    capabilities: ChatCapabilities

    def check(
        self,
        request: CheckRequest,
        *,
        n: int,
        schema: Mapping[str, Any],
        meter: Meter,
        timeout_s: float | None = None,
    ) -> list[Sample]: ...

    def observe(
        self, request: ObserveRequest, *, schema: Mapping[str, Any], meter: Meter, timeout_s: float | None = None
    ) -> Sample:
        """Return one report. It names a frame by its number, counted from 1 in request.frames, and its ms."""
        ...


@dataclass(frozen=True, slots=True)
class IndexModels:
    """The roles of an index job. calibration: what was fitted to these models. event_writer: None if the summariser
    and the extractor are asked one after the other."""

    describer: Describer
    summariser: Summariser
    extractor: Extractor
    text_embedder: TextEmbedder
    frame_embedder: FrameEmbedder
    similarity: Similarity
    narrator: Narrator
    calibration: Calibration
    transcriber: Transcriber | None = None
    event_writer: EventWriter | None = None


@dataclass(frozen=True, slots=True)
class AnswerModels:
    """The roles of a question. calibration: what was fitted to these models. embedder_languages: ISO 639-1 codes of the
    languages whose texts the text embedder finds; empty for one of many languages."""

    reasoner: ChatModel
    text_embedder: TextEmbedder
    frame_embedder: FrameEmbedder
    similarity: Similarity
    calibration: Calibration
    checker: Checker | None = None
    reranker: Reranker | None = None
    entailer: Entailer | None = None
    embedder_languages: tuple[str, ...] = ("en",)

    @property
    def eyes(self) -> bool:
        """Whether a model looks at pictures when a question is answered."""
        return self.checker is not None and self.checker.sees

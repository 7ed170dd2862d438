"""What goes into an answering method and what comes out: the contract every method shares."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, Protocol, get_args
from uuid import UUID

from gpu_workers.engine.answering.understood import Shape
from gpu_workers.engine.models.roles import ModelCall
from gpu_workers.engine.retrieval.fusion import FUSIONS as FUSIONS

Effort = Literal["low", "medium", "high", "paper"]
FinishReason = Literal["answered", "insufficient_evidence", "budget", "refused", "error", "canceled"]
CitationStatus = Literal["supported", "contradicted", "unverified"]
CheckMode = Literal["auto", "off", "frames", "inspect"]
RouteWish = Literal["auto", "search", "time", "whole", "scan", "objects"]

Artifact = Literal["events", "frames", "transcript", "topics", "objects", "checker"]
"""What a scope or the models may have, and a tool or a method may need."""

EFFORTS: tuple[Effort, ...] = get_args(Effort)
CHECKS: tuple[CheckMode, ...] = get_args(CheckMode)
ROUTE_WISHES: tuple[RouteWish, ...] = get_args(RouteWish)

ROUTED_METHOD = "ava"
"""The only method with routes. The others answer in the one way that they publish."""

INSUFFICIENT = "insufficient"
"""The word a model uses to abstain; never a choice's letter."""

MAX_CHOICES = 26
"""Maximum number of choices: as many as there are letters."""

SEARCH_SKIPPED = "search skipped: decided by support"
"""Note of a support node whose lead no vote could change, so that the tree was not searched. Stable: programs may
compare it."""


DETAIL_CHARACTERS = 4_000
"""Maximum length of an observation in NodeRecord.detail."""


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of the same conversation and its answer; answer is "" if there was none."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class QuestionInput:
    """One question. choices: empty for an open question, else 2 to 26 texts. profile: the videos' scenario
    (general, wildlife, traffic, egocentric, city). seed: makes sampling repeatable where the server can. history: the
    conversation so far, oldest first; with it the question may refer back ("and what did he do then?"). check: how
    method ava looks at frames again if its answer is in doubt: not at all, in one look, or by inspection. With auto the
    effort decides. route: how `ava` answers; with auto the question's words decide. language: ISO 639-1 code of
    the answer, "" for the question's own. now: the instant from which "yesterday" is counted, aware.
    """

    question: str
    choices: tuple[str, ...] = ()
    profile: str = "general"
    method: str = "ava"
    effort: Effort = "medium"
    seed: int = 0
    history: tuple[Turn, ...] = ()
    check: CheckMode = "auto"
    route: RouteWish = "auto"
    language: str = ""
    now: datetime | None = None

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise ValueError("a question needs words")
        if self.choices and not 2 <= len(self.choices) <= MAX_CHOICES:
            raise ValueError(f"a choice question has 2 to {MAX_CHOICES} choices, got {len(self.choices)}")


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a model, in the budget's currency. Cached prompt tokens cost `cached` instead of `prompt`.

    per_second: price of a second that its calls take, for models on devices that are paid by the hour."""

    prompt_per_million: Decimal = Decimal(0)
    cached_per_million: Decimal = Decimal(0)
    completion_per_million: Decimal = Decimal(0)
    per_second: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one question; None is no limit. max_calls counts LLM and VLM calls, max_tokens prompt and completion
    tokens together. prices: by model name; a model that is not listed is free."""

    max_calls: int | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    max_cost: Decimal | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """An event on a node's list. rank counts from 1. number: n of its "E<n>" in the prompt, None when not shown.
    found_by: the views that found it."""

    event_id: UUID
    rank: int
    score: float
    number: int | None = None
    found_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """One sampled (answer, reasoning) pair. answer is None when nothing could be read from it (or the model refused).

    agreement, thought, score: S_a, S_r and S of the answer it votes for (AVA, eq. 4 to 6)."""

    answer: str | None
    choice: int | None
    reasoning: str
    cited: tuple[int, ...] = ()
    agreement: float = 0.0
    thought: float = 0.0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One node of the search, for storage and display.

    path: actions from the root, such as "F/RQ/SA"; "" is the root itself. depth: number of actions.
    answer: the node's own answer, None if it has none; "insufficient" if it abstained. error: stable code of the
    failure, "" if there was none. reused_from: path of the node with the same events whose answer this one shares.
    frames_used of frames_available: number of frames that a frame check or an inspection looked at. seen: findings of
    an inspection so far, in words. note: SEARCH_SKIPPED, or "" if there is nothing to note. detail: of a step that used
    a tool: tool, arguments, observation (at most DETAIL_CHARACTERS), thought, forced (why only `finish` was offered, ""
    if it was not) and error. JSON-serialisable; empty for other nodes.
    """

    path: str
    depth: int
    action: str
    events: tuple[NodeEvent, ...] = ()
    sub_queries: tuple[str, ...] = ()
    candidates: tuple[CandidateRecord, ...] = ()
    answer: str | None = None
    score: float = 0.0
    error: str = ""
    reused_from: str = ""
    frames_used: int = 0
    frames_available: int = 0
    seen: tuple[str, ...] = ()
    note: str = ""
    started_ms: int = 0
    wall_ms: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CitationRecord:
    """Evidence: an event, its span, its best frame, the words that carry the answer. Times in ms of its video.

    claims: indices in Answer.claims of the claims it is cited for. closeness: the highest cosine of one of these claims
    and the event's words, 0 to 1; None if nothing could be embedded. It orders evidence and is no probability.
    """

    video_id: UUID
    event_id: UUID
    start_ms: int
    end_ms: int
    frame_ms: int | None
    frame_id: UUID | None
    quote: str
    status: CitationStatus
    claims: tuple[int, ...] = ()
    closeness: float | None = None


@dataclass(frozen=True, slots=True)
class ClaimRecord:
    """One statement of the answer and the citations that it rests on, by their indices in Answer.citations.

    status: contradicted if a citation contradicts it and none supports it, supported if one supports it, else (and
    without any citation) unverified. A contradicted statement of an open answer is not in Answer.text, but in effort
    `paper`.
    """

    text: str
    status: CitationStatus
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A part of a composed text: an item, a step, a row, a place or a sentence, in the order of the text.

    text: its words, without marks. claim: its index in Answer.claims, which holds its status and its citations. cells:
    of a table's row, one for each of Answer.columns; empty for other shapes.
    """

    text: str
    claim: int
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Sum of the question's model calls. cost: by the budget's prices."""

    calls: tuple[ModelCall, ...] = ()
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a question; a method returns one in every case but a programming error.

    text: "" when there is no answer. choice: index into the choices. reasoning: the winning candidate's own words.
    finish_reason "budget" or "canceled" may come with the best answer so far. detail: stable code behind a reason that
    is not "answered" (such as "max_tokens" or "model_unavailable"). timings: wall ms per stage. claims: the answer's
    statements with their citations. standalone: the question as it was understood from its history, "" without one.
    signals: the values that confidence is computed from, and under "head" the way in which the answer was drawn from
    what was shown: votes, support (of each choice by the events) or sample (a single one). Confidences of one head can
    be compared. unmeasured: the values that were not fitted to the models in use (Calibration.unmeasured). notes: what
    the answer had to do without, in words. degraded: the same as stable codes, such as no_speech.
    method_version, prompts, settings: what would have to be equal for another answer to be made in the same way.
    understood: what the question's words were taken to ask for (asking.understood.Understood.record).
    confidence: the chance that the answer is right, 0 to 1; None where nothing was calibrated for answers of this head
    by these models, and None without an answer. shape: form of the text. parts, columns: the text in parts, empty for a
    sentence; in the text "[1, 3]" after a part numbers its citations from 1.
    prompts: 16 hex digits over the wording of all prompts. settings: JSON-serialisable.
    """

    text: str
    choice: int | None
    confidence: float | None
    finish_reason: FinishReason
    citations: tuple[CitationRecord, ...] = ()
    nodes: tuple[NodeRecord, ...] = ()
    usage: Usage = field(default_factory=Usage)
    timings: Mapping[str, int] = field(default_factory=dict)
    reasoning: str = ""
    detail: str = ""
    claims: tuple[ClaimRecord, ...] = ()
    standalone: str = ""
    signals: Mapping[str, float | str] = field(default_factory=dict)
    unmeasured: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    method_version: str = ""
    prompts: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    understood: Mapping[str, Any] = field(default_factory=dict)
    shape: Shape = "sentence"
    parts: tuple[AnswerPart, ...] = ()
    columns: tuple[str, ...] = ()


TOKEN_CEILING: Mapping[Effort, int] = {"low": 300_000, "medium": 1_000_000, "high": 2_000_000, "paper": 4_000_000}
"""Maximum tokens of one question by its effort. The price of a question is flat, so that the work behind it is bounded
(docs/billing.md)."""


@dataclass(frozen=True, slots=True)
class PartialAnswer:
    """The best answer while the search still runs: node path gave it with score S, after level levels of the tree."""

    text: str
    choice: int | None
    score: float
    path: str
    level: int


class Progress(Protocol):
    """Receives the progress of a question, in the thread that answers it. stage: support, retrieval, search, check,
    compose, revise, citations."""

    def __call__(self, stage: str, done: int, total: int, detail: str) -> None: ...


class VerdictStore(Protocol):
    """Keeps which events a statement is true of. It is bound to the tenant and to the index versions of a scope."""

    def verdicts(self, key: str) -> Mapping[UUID, bool]:
        """Return the verdicts kept under key about events of the scope's videos; other events have none."""
        ...

    def keep(self, key: str, video_id: UUID, verdicts: Mapping[UUID, bool]) -> None:
        """Keep verdicts about events of one video for good, in a transaction of its own. Called from the question's
        thread as soon as a batch ends."""
        ...


class VerdictsInMemory:
    """A VerdictStore of one process. batches: number of calls of keep()."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[UUID, bool]] = {}
        self._lock = threading.Lock()
        self.batches = 0

    def verdicts(self, key: str) -> Mapping[UUID, bool]:
        with self._lock:
            return dict(self._kept.get(key, {}))

    def keep(self, key: str, video_id: UUID, verdicts: Mapping[UUID, bool]) -> None:
        with self._lock:
            self._kept.setdefault(key, {}).update(verdicts)
            self.batches += 1

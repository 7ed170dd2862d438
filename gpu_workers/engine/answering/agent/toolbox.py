"""The toolbox of one question: what its tools may use, and the log of everything that they have shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Protocol, TypeVar
from uuid import UUID

import numpy as np

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BudgetSpent, Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import event_text, fitted
from gpu_workers.engine.answering.contract import Artifact, NodeRecord
from gpu_workers.engine.answering.looking.looks import Finding
from gpu_workers.engine.answering.wording import as_data, conversation
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span, Vector
from gpu_workers.engine.models.roles import Meter, ModelError, embed_queries
from gpu_workers.engine.ports import (
    Hit,
    StoredEvent,
    StoredFrame,
    StoredLine,
    StoredObject,
    ViewName,
    ViewQuery,
    Within,
)

MISSING: Mapping[Artifact, str] = {
    "frames": "no_pictures",
    "checker": "no_eyes",
    "transcript": "no_speech",
    "topics": "no_summary",
    "objects": "no_object_memory",
}
"""Codes of Answer.degraded by what is missing."""

LEAST_OBSERVATION, MOST_OBSERVATION = 300, 1_000
"""Bounds of the tokens of one observation, which is a tenth of the reasoner's window. Every later step reads it again,
and the answer reads the best events in full (agent.evidence_answer)."""

NOTE_CHARACTERS = 1_000
"""Maximum length of a note."""


class _HasId(Protocol):
    @property
    def id(self) -> UUID: ...


Item = TypeVar("Item", bound=_HasId)


class Numbered(dict[int, Item]):
    """The items of one kind that were shown, by number. number_of: number by id."""

    def __init__(self, letter: str) -> None:
        super().__init__()
        self.letter = letter
        self.number_of: dict[UUID, int] = {}
        self._reserved: dict[UUID, int] = {}

    def reserve(self, item_id: UUID) -> int:
        """Return the item's number, given now if it has none. The item does not count as shown by this."""
        return self._reserved.setdefault(item_id, len(self._reserved) + 1)

    def label(self, item: Item) -> str:
        """Count the item as shown, and return its letter and number, such as "E3"."""
        number = self.number_of.setdefault(item.id, self.reserve(item.id))
        self.setdefault(number, item)
        return f"{self.letter}{number}"


class EvidenceLog:
    """What a question has been shown, and so may be cited. It only grows. For one thread.

    Every event, frame, object and line gets a number at first sight and keeps it. numbers, object_numbers: by id.
    findings: of looks at frames. notes: other rows in words that the answer may rest on, such as counts.
    """

    def __init__(self) -> None:
        self.events: Numbered[StoredEvent] = Numbered("E")
        self.frames: Numbered[StoredFrame] = Numbered("F")
        self.objects: Numbered[StoredObject] = Numbered("O")
        self.lines: Numbered[StoredLine] = Numbered("L")
        self.label_event, self.label_frame = self.events.label, self.frames.label
        self.label_object, self.label_line = self.objects.label, self.lines.label
        self.numbers: Mapping[UUID, int] = self.events.number_of
        self.object_numbers: Mapping[UUID, int] = self.objects.number_of
        self.findings: list[Finding] = []
        self.notes: list[str] = []

    def add_findings(self, findings: Iterable[Finding]) -> None:
        """Add findings, each once."""
        self.findings += [finding for finding in dict.fromkeys(findings) if finding not in self.findings]

    def add_note(self, text: str) -> None:
        """Add a note, as data, cut to NOTE_CHARACTERS: words of the video or of a computation."""
        note = as_data(text)[:NOTE_CHARACTERS]
        if note and note not in self.notes:
            self.notes.append(note)

    def labels_of(self, item_ids: Iterable[UUID]) -> str:
        """Return the letters and numbers of items, as "E1 F2", without those that were not shown."""
        kinds = (self.events, self.frames, self.objects, self.lines)
        labels = {item_id: f"{kind.letter}{n}" for kind in kinds for item_id, n in kind.number_of.items()}
        return " ".join(labels[item_id] for item_id in dict.fromkeys(item_ids) if item_id in labels)

    def __len__(self) -> int:
        shown = len(self.events) + len(self.frames) + len(self.objects) + len(self.lines)
        return shown + len(self.findings) + len(self.notes)


class Toolbox:
    """What a tool may use, for one question. Nothing in it reaches past the question's scope. For one thread.

    asked, calls: of the question. evidence: all that was shown so far. meter: of the current step. path: of the
    current step's record, "" outside a loop. missing: codes of what the answer had to do without, beyond missing
    artifacts. overview_shown: whether the reasoner has read an overview of what is in scope. inner: records of loops
    inside the current step. top_similarity: of the strongest hit of a search.
    """

    def __init__(self, asked: Asked, calls: Calls, *, evidence: EvidenceLog | None = None) -> None:
        self.asked = asked
        self.calls = calls
        self.evidence = evidence if evidence is not None else EvidenceLog()
        self.meter: Meter = calls.meter
        self.path = ""
        self.missing: dict[str, None] = {}
        self.overview_shown = False
        self.inner: list[NodeRecord] = []
        self.top_similarity = 0.0

    def for_question(self, question: str) -> Toolbox:
        """Return a toolbox for a question inside this one, without choices, that shares calls, evidence and scope.

        question: of the reasoner, in the language of the index.
        """
        inner = copy(self)
        asked = replace(self.asked.question, question=question, choices=(), history=())
        inner.asked = replace(self.asked, question=asked, searched=question, translated=(), question_language="")
        return inner

    # --- what there is ---------------------------------------------------------------------------------------------

    @cached_property
    def extents(self) -> Mapping[UUID, Span]:
        """Return the readable stretch of each video in scope."""
        return self.asked.graph.extents()

    @cached_property
    def videos(self) -> Mapping[int, UUID]:
        """Return the videos in scope by number: 1 and up, in order of id."""
        return {number: video for video, number in self.numbers.items()}

    @cached_property
    def numbers(self) -> Mapping[UUID, int]:
        """Return the numbers of the videos in scope."""
        return self.asked.video_numbers

    @property
    def several(self) -> bool:
        return len(self.extents) > 1

    @property
    def history(self) -> str:
        """Return the conversation so far as data for a prompt; "" for a first question."""
        history = self.asked.question.history
        return f"<text>\n{conversation(history)}\n</text>" if history else ""

    @cached_property
    def artifacts(self) -> frozenset[Artifact]:
        """Return what the scope and the models have."""
        graph = self.asked.graph
        any_text = np.zeros(self.asked.models.text_embedder.dimension, dtype=np.float32)
        any_text[0] = 1.0
        has: dict[Artifact, Callable[[], object]] = {
            "events": lambda: self.extents,
            "frames": lambda: any(graph.frames_between(video, span, limit=1) for video, span in self.extents.items()),
            "transcript": lambda: self.search("transcript", any_text, 1, floor=-1.0),
            "topics": lambda: self.search("topic", any_text, 1, floor=-1.0),
            "objects": lambda: graph.objects(limit=1),
            "checker": lambda: self.asked.models.checker is not None,
        }
        return frozenset(artifact for artifact, there in has.items() if there())

    def degraded(self, needs: Iterable[Artifact]) -> tuple[str, ...]:
        """Return codes of what is missing of needs, and of what the question's tools turned out to lack."""
        missing = {MISSING[artifact] for artifact in needs if artifact in MISSING and artifact not in self.artifacts}
        return tuple(sorted(missing | set(self.missing)))

    # --- words within a number of tokens ---------------------------------------------------------------------------

    def count_tokens(self, text: str) -> int:
        return self.asked.models.reasoner.count_tokens(text)

    @property
    def observation_tokens(self) -> int:
        """Return the maximum tokens of one observation."""
        return max(LEAST_OBSERVATION, min(MOST_OBSERVATION, self.asked.models.reasoner.context_tokens // 10))

    def fitting_lines(self, lines: Iterable[str], tokens: int, *, line_tokens: int) -> list[str]:
        """Return the first of lines, at least one, as long as one more of line_tokens fits.

        No line is drawn that is not returned, so that lines may number what they show as they are drawn.
        """
        kept: list[str] = []
        drawn = iter(lines)
        while (not kept or tokens >= line_tokens) and (line := next(drawn, None)) is not None:
            kept.append(line)
            tokens -= self.count_tokens(line)
        return kept

    # --- places and events -----------------------------------------------------------------------------------------

    def video(self, number: int | None) -> UUID | None:
        """Return the video of that number; a scope with one video needs no number."""
        videos = self.videos
        return videos.get(1) if len(videos) == 1 else videos.get(number or 0)

    def place(self, video_id: UUID, span: Span, *, titled: bool = False) -> str:
        """Return when something happens, as "0:01:05-0:01:20", after its video's number if there are several. titled:
        after its title, for a reader."""
        times = f"{clock(span.start_ms, hours=True)}-{clock(span.end_ms, hours=True)}"
        if not self.several:
            return times
        return f"{self.video_name(video_id) if titled else f'video {self.numbers[video_id]}'} {times}"

    def video_name(self, video_id: UUID) -> str:
        """Return a video of several for a reader: its title, or its number if it has none."""
        title = self.asked.titles.get(video_id)
        return f'"{title}"' if title else f"video {self.numbers[video_id]}"

    def event_line(self, event: StoredEvent, *, most_tokens: int) -> str:
        """Number the event, and return it as a line: number, place, what happens, speech and writing."""
        head = f"{self.evidence.label_event(event)} {self.place(event.video_id, event.span)}:"
        return f"{head} {self.event_words(event, max(1, most_tokens - self.count_tokens(head)))}"

    def event_words(self, event: StoredEvent, most_tokens: int) -> str:
        """Return an event in words, as data, on one line of at most most_tokens tokens."""
        return fitted(event_text(event), self.count_tokens, most_tokens)

    def load(self, event_ids: Iterable[UUID]) -> list[StoredEvent]:
        """Return these events in this order, each once, without those out of scope."""
        ids = list(dict.fromkeys(event_ids))
        events = self.asked.graph.load_events(ids)
        return [events[event_id] for event_id in ids if event_id in events]

    def events_at(self, video_id: UUID, span: Span, limit: int) -> list[StoredEvent]:
        """Return at most limit events that overlap span, in order of time."""
        return self.load(place.event_id for place in self.asked.graph.events_between(video_id, span, limit=limit))

    # --- searches --------------------------------------------------------------------------------------------------

    def text_vector(self, text: str) -> Vector:
        """Return a text as the embedder of texts takes queries. Raises ModelError."""
        vector: Vector = embed_queries(self.asked.models.text_embedder, [text], meter=self.meter)[0]
        return vector

    def frame_vector(self, text: str) -> Vector:
        """Return a text as the embedder of frames takes queries. Raises ModelError."""
        return self.asked.models.frame_embedder.embed_query(text, meter=self.meter)

    def search(
        self, view: ViewName, vector: Vector, limit: int, *, within: Within | None = None, floor: float | None = None
    ) -> Sequence[Hit]:
        """Return the nearest items of a view, best first. floor: minimum cosine, by default that of the settings."""
        floor = self.asked.settings.retrieval.floor if floor is None else floor
        return self.asked.graph.search_views({view: ViewQuery(vector, limit, within=within)}, floor=floor)[view]

    def record_similarities(self, similarities: Iterable[float]) -> None:
        """Keep the strongest of these similarities, for the confidence of the answer."""
        self.top_similarity = max(self.top_similarity, *similarities, 0.0)

    def record_failure(self, error: Halt | ModelError) -> str:
        """Record what kept a model from answering, and return its code. A call that was given the question's last
        seconds ends the question: the budget failed, not the model."""
        if isinstance(error, Halt):
            self.calls.halt(error)
        elif self.calls.spending.out_of_time():
            self.calls.halt(BudgetSpent("max_seconds"))
        return error.code

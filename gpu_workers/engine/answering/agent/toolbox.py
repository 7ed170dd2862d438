"""The toolbox of one question: what its tools may use, and nothing that reaches past its scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Generic, Protocol, TypeVar
from uuid import UUID

import numpy as np

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BudgetSpent, Halt
from gpu_workers.engine.answering.calls import Calls, needed_checker
from gpu_workers.engine.answering.context import event_text, fitted
from gpu_workers.engine.answering.contract import Artifact, NodeRecord
from gpu_workers.engine.answering.looking.frame_check import in_full
from gpu_workers.engine.answering.looking.looks import Finding, Look, findings_schema, read_findings
from gpu_workers.engine.answering.wording import as_data, conversation
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span, Vector
from gpu_workers.engine.models.roles import Meter, ModelError, ObserveRequest, embed_queries
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
from gpu_workers.engine.retrieval.frames import frame_evidence

MISSING: Mapping[Artifact, str] = {
    "frames": "no_pictures",
    "checker": "no_eyes",
    "transcript": "no_speech",
    "topics": "no_summary",
    "objects": "no_object_memory",
}
"""Codes of Answer.degraded by what is missing."""

SUMMARISED = 8
"""Number of videos of a scope that are asked for topics without vectors, as old indexes have them."""

LEAST_OBSERVATION, MOST_OBSERVATION = 300, 1_000
"""Bounds of the tokens of one observation, which is a tenth of the reasoner's window. Every later step reads it again,
and the answer reads the best events in full (agent.final_answer)."""

KNOWN_FINDINGS = 8
"""Number of the last findings that a look gets."""

NOTE_CHARACTERS = 1_000
"""Maximum length of a note."""


class _HasId(Protocol):
    @property
    def id(self) -> UUID: ...


Item = TypeVar("Item", bound=_HasId)


class _Numbered(Generic[Item]):
    """Items of one kind by number. number_of: number by id, of what was shown."""

    def __init__(self, letter: str) -> None:
        self.letter = letter
        self.items: dict[int, Item] = {}
        self.number_of: dict[UUID, int] = {}
        self._reserved: dict[UUID, int] = {}

    def reserve(self, item_id: UUID) -> int:
        """Return the item's number, given now if it has none. The item does not count as shown by this."""
        return self._reserved.setdefault(item_id, len(self._reserved) + 1)

    def label(self, item: Item) -> str:
        number = self.number_of.setdefault(item.id, self.reserve(item.id))
        self.items.setdefault(number, item)
        return f"{self.letter}{number}"


class EvidenceLog:
    """Everything that may be cited or rested on, because it was shown. Only grows. For one thread.

    findings: of looks at frames. notes: other rows in words that the answer may rest on, such as counts.
    label_event() and its like log an item as shown, and return its number with its letter, such as "E3".
    """

    def __init__(self) -> None:
        self._events: _Numbered[StoredEvent] = _Numbered("E")
        self._frames: _Numbered[StoredFrame] = _Numbered("F")
        self._objects: _Numbered[StoredObject] = _Numbered("O")
        self._lines: _Numbered[StoredLine] = _Numbered("L")
        self.label_event = self._events.label
        self.label_frame = self._frames.label
        self.label_object = self._objects.label
        self.label_line = self._lines.label
        self.reserve_event = self._events.reserve
        self.reserve_object = self._objects.reserve
        self.findings: list[Finding] = []
        self.notes: list[str] = []

    def add_findings(self, findings: Iterable[Finding]) -> None:
        """Add findings, each once."""
        self.findings += [finding for finding in dict.fromkeys(findings) if finding not in self.findings]

    def add_note(self, text: str) -> None:
        """Add a note: words of the video or of a computation, through as_data, cut to NOTE_CHARACTERS."""
        note = as_data(text)[:NOTE_CHARACTERS]
        if note and note not in self.notes:
            self.notes.append(note)

    @property
    def events(self) -> Mapping[int, StoredEvent]:
        return self._events.items

    @property
    def frames(self) -> Mapping[int, StoredFrame]:
        return self._frames.items

    @property
    def objects(self) -> Mapping[int, StoredObject]:
        return self._objects.items

    @property
    def lines(self) -> Mapping[int, StoredLine]:
        return self._lines.items

    @property
    def numbers(self) -> Mapping[UUID, int]:
        """Return n of "E<n>" by event id."""
        return self._events.number_of

    @property
    def object_numbers(self) -> Mapping[UUID, int]:
        return self._objects.number_of

    def labels_of(self, item_ids: Iterable[UUID]) -> str:
        """Return the numbers of these events, frames, objects and lines with their letters, as "E1 F2", without those
        that were not shown."""
        kinds = (self._events, self._frames, self._objects, self._lines)
        labels = (
            f"{kind.letter}{kind.number_of[item_id]}"
            for item_id in dict.fromkeys(item_ids)
            for kind in kinds
            if item_id in kind.number_of
        )
        return " ".join(labels)

    def __len__(self) -> int:
        shown = len(self.events) + len(self.frames) + len(self.objects) + len(self.lines)
        return shown + len(self.findings) + len(self.notes)


class Toolbox:
    """What a tool may use, for one question. For one thread.

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
        inner = Toolbox(
            replace(
                self.asked,
                question=replace(self.asked.question, question=question, choices=(), history=()),
                searched=question,
                translated=(),
                question_language="",
            ),
            self.calls,
            evidence=self.evidence,
        )
        inner.meter, inner.path, inner.missing, inner.inner = self.meter, self.path, self.missing, self.inner
        inner.__dict__ |= {name: self.__dict__[name] for name in ("extents", "artifacts") if name in self.__dict__}
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
        graph, any_text = self.asked.graph, _anything(self.asked.models.text_embedder.dimension)
        has: dict[Artifact, Callable[[], object]] = {
            "events": lambda: self.extents,
            "frames": lambda: any(graph.frames_between(video, span, limit=1) for video, span in self.extents.items()),
            "transcript": lambda: graph.search_views({"transcript": any_text}, floor=-1.0)["transcript"],
            "topics": lambda: graph.search_views({"topic": any_text}, floor=-1.0)["topic"] or self._summarised(),
            "objects": lambda: graph.objects(limit=1),
            "checker": lambda: self.asked.models.checker is not None,
        }
        return frozenset(artifact for artifact, there in has.items() if there())

    def _summarised(self) -> bool:
        graph, first = self.asked.graph, list(self.videos.values())[:SUMMARISED]
        return any(graph.overview(video) is not None or graph.topics(video) for video in first)

    def degraded(self, needs: Iterable[Artifact]) -> tuple[str, ...]:
        """Return codes of what is missing of needs, and of what the question's tools turned out to lack."""
        missing = {MISSING[artifact] for artifact in needs if artifact in MISSING and artifact not in self.artifacts}
        return tuple(sorted(missing | set(self.missing)))

    @property
    def observation_tokens(self) -> int:
        """Return the maximum tokens of one observation."""
        return max(LEAST_OBSERVATION, min(MOST_OBSERVATION, self.asked.models.reasoner.context_tokens // 10))

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
        room = max(1, most_tokens - self.asked.models.reasoner.count_tokens(head))
        return f"{head} {self.event_words(event, room)}"

    def event_words(self, event: StoredEvent, most_tokens: int) -> str:
        """Return an event in words, as data, on one line of at most most_tokens tokens."""
        return fitted(event_text(event), self.asked.models.reasoner.count_tokens, most_tokens)

    def load(self, event_ids: Iterable[UUID]) -> list[StoredEvent]:
        """Return these events in this order, each once, without those out of scope."""
        ids = list(dict.fromkeys(event_ids))
        events = self.asked.graph.load_events(ids)
        return [events[event_id] for event_id in ids if event_id in events]

    def events_at(self, video_id: UUID, span: Span, limit: int) -> list[StoredEvent]:
        """Return at most limit events that overlap span, in order of time."""
        return self.load(place.event_id for place in self.asked.graph.events_between(video_id, span, limit=limit))

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

    # --- looks -----------------------------------------------------------------------------------------------------

    def look(self, question: str, frames: Sequence[StoredFrame], *, high: bool = False) -> tuple[list[Finding], str]:
        """Look at frames for an answer to question; number what the findings show.

        frames: those of one video in order of time. One request takes checker.max_frames of them; requests are made in
        parallel. high: in full resolution.

        Returns the findings and "", or [] and the code of the failure if every request failed. Raises Halt, after what
        was found before has been kept.
        """
        if self.asked.models.checker is None:
            return [], "no_checker"
        most = needed_checker(self.asked.models).max_frames
        events = self.load(frame.event_id for frame in frames)
        by_video: dict[UUID, list[StoredFrame]] = {}
        for frame in frames:
            by_video.setdefault(frame.video_id, []).append(frame)
        parts = [shown[at : at + most] for shown in by_video.values() for at in range(0, len(shown), most)]
        reports = self.calls.together("look", [partial(self._report, question, part, events, high) for part in parts])
        findings = [finding for report in reports for finding in report.findings]
        self._number(findings, frames, {event.id: event for event in events})
        halt = next((report.halt for report in reports if report.halt), None)
        if halt is not None:
            raise halt
        return findings, reports[0].error if reports and all(report.error for report in reports) else ""

    def _report(
        self, question: str, frames: Sequence[StoredFrame], events: Sequence[StoredEvent], high: bool
    ) -> _Report:
        evidence = frame_evidence(self.asked.graph, frames, events)
        if high:
            evidence = in_full(self.calls, evidence, frames)
        known = tuple(finding.in_words("") for finding in self.evidence.findings[-KNOWN_FINDINGS:])
        request = ObserveRequest(self.asked.question.question, question, "", known, evidence, high)
        look = Look(frames[0].video_id, Span(frames[0].ms, frames[-1].ms + 1), question, 1.0, high)
        try:
            sample = self.calls.observe_frames(request, schema=findings_schema(), meter=self.meter)
        except Halt as halt:
            return _Report(error=halt.code, halt=halt)
        except ModelError as error:
            late = self.calls.spending.out_of_time()
            return _Report(error=error.code, halt=BudgetSpent("max_seconds") if late else None)
        if sample.refused:
            return _Report(error="model_refused")
        findings = read_findings(sample.text, look, frames)
        return _Report(error="unreadable") if findings is None else _Report(tuple(findings))

    def _number(
        self, findings: Sequence[Finding], frames: Sequence[StoredFrame], events: Mapping[UUID, StoredEvent]
    ) -> None:
        """Number the frames and events of findings; a finding that names no frame rests on those of its span."""
        for finding in findings:
            near = [f for f in frames if f.video_id == finding.video_id and finding.span.contains(f.ms)]
            for frame in finding.frames or near:
                self.evidence.label_frame(frame)
                if frame.event_id in events:
                    self.evidence.label_event(events[frame.event_id])
        self.evidence.add_findings(findings)


@dataclass(frozen=True, slots=True)
class _Report:
    findings: tuple[Finding, ...] = ()
    error: str = ""
    halt: Halt | None = None


def _anything(dimension: int) -> ViewQuery:
    """Return a query that matches any item, to learn whether a view has one."""
    vector = np.zeros(dimension, dtype=np.float32)
    vector[0] = 1.0
    return ViewQuery(vector, 1)

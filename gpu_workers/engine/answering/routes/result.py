"""What a route hands over: a text and its claims, with the events that they rest on; and the groups that it counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import Answer, AnswerPart, CitationRecord, ClaimRecord, NodeRecord
from gpu_workers.engine.answering.ending.claims import CheckedStatement, Evidence, cite
from gpu_workers.engine.answering.ending.final_answer import NOTHING_SHOWN, finish_reason, without_text
from gpu_workers.engine.answering.search.actions import State, compared_videos
from gpu_workers.engine.answering.search.sampling import Draw
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.understood import Stretch
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.words import numbers_of
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.retrieval.frames import all_frames

MOST_CITED = 16
"""Maximum number of events that a route's answer cites for a few claims; more are counted and named by their times."""

MOST_CLAIMS_CITED = 64
"""Maximum number of claims of which each has an event that is cited for it."""

MOST_GROUPS = 60
"""Maximum number of videos that get a number each."""

PATH = "W"
"""Path of the node that evidence is cited from."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of an answer, and the events that support it, best first."""

    text: str
    events: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class RouteResult:
    """What a route found. head: the route, for Answer.signals. shares: further signals, each 0 to 1. notes: how it was
    measured, in words."""

    text: str
    head: str
    records: Sequence[NodeRecord]
    choice: int | None = None
    notes: Sequence[str] = ()
    degraded: Iterable[str] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    parts: Sequence[AnswerPart] = ()
    columns: Sequence[str] = ()


def route_answer(toolbox: Toolbox, result: RouteResult, claims: Sequence[Claim]) -> Answer:
    """Return an answer with these claims, in order of their importance."""
    with toolbox.calls.timed("citations"):
        each = max(1, MOST_CITED // max(1, len(claims)))
        events = toolbox.load(event_id for claim in claims[:MOST_CLAIMS_CITED] for event_id in claim.events[:each])
        there = {event.id for event in events}
        statements = [
            CheckedStatement(claim.text, {event_id: "supported" for event_id in claim.events if event_id in there})
            for claim in claims
        ]
        evidence = Evidence(tuple(statements), middle_frames(toolbox, events))
        citations, records = cite(toolbox.asked, node_of(events), evidence)
    return replace(answered(toolbox, result, citations, records), reasoning="; ".join(result.notes))


def answered(
    toolbox: Toolbox, result: RouteResult, citations: Sequence[CitationRecord], claims: Sequence[ClaimRecord]
) -> Answer:
    """Return an answer with these claims and citations: a claim without a citation is unverified. No chance of being
    right was measured for such answers, so confidence is None."""
    calls = toolbox.calls
    calls.on_progress("citations", 1, 1, f"{len(citations)} citations")
    reason, detail = finish_reason(calls, [], answered=bool(result.text))
    if not result.text and not calls.halted:
        detail = NOTHING_SHOWN
    return replace(
        without_text(calls, result.records, reason, detail),
        text=result.text,
        choice=result.choice,
        citations=tuple(citations),
        claims=tuple(claim if claim.citations else replace(claim, status="unverified") for claim in claims),
        signals={**result.shares, "head": result.head},
        notes=tuple(result.notes),
        degraded=tuple(result.degraded),
        shape=toolbox.asked.understood.shape if result.text and result.choice is None else "sentence",
        parts=tuple(result.parts),
        columns=tuple(result.columns),
    )


def node_of(events: Iterable[StoredEvent]) -> AnswerNode:
    """Return a node that shows these events, in order of time, to cite them from."""
    ordered = sorted(events, key=lambda event: (event.video_id, event.span, event.id))
    shown = dict(enumerate(ordered, start=1))
    context = EventContext("", {event.id: number for number, event in shown.items()}, shown)
    return AnswerNode(PATH, State(PATH, ()), context, Draw())


def middle_frames(toolbox: Toolbox, events: Sequence[StoredEvent]) -> dict[UUID, StoredFrame]:
    """Return the middle one of the frames of each event that has some."""
    frames: dict[UUID, list[StoredFrame]] = {}
    for frame in all_frames(toolbox.asked.graph, [event.id for event in events]):
        frames.setdefault(frame.event_id, []).append(frame)
    return {event_id: own[(len(own) - 1) // 2] for event_id, own in frames.items()}


def moment_in_words(toolbox: Toolbox, video_id: UUID, ms: int) -> str:
    """Return a moment as "0:01:05", after its video's title, or its number without one, if there are several videos."""
    moment = clock(ms, hours=True)
    return f"{toolbox.video_name(video_id)} {moment}" if toolbox.several else moment


def chosen_by_number(asked: Asked, number: int) -> int | None:
    """Return the only choice whose one number this is, in digits or words; None if none or several are, or if another
    choice has no number or several."""
    choices, language = asked.question.choices, asked.question_language
    numbers = [numbers_of(choice, language, least=1) for choice in choices]
    fitting = [index for index, found in enumerate(numbers) if found == {str(number)}]
    return fitting[0] if len(fitting) == 1 and all(len(found) == 1 for found in numbers) else None


# --- groups: parts of the scope that get a number each, the times that a question names or the videos that it compares


@dataclass(frozen=True, slots=True)
class Group:
    """A part of the scope. label: its name for the reader. spans: by video, in order of time; empty if no video of the
    scope has anything at the time that the question names."""

    label: str
    spans: Mapping[UUID, tuple[Span, ...]]

    def holds(self, video_id: UUID, span: Span) -> bool:
        """Whether something lies in the group, or reaches into it."""
        return any(own.overlaps(span) for own in self.spans.get(video_id, ()))


def groups_of(toolbox: Toolbox) -> tuple[Group, ...]:
    """Return the parts that a count gives one by one, at least two; none if the question asks for one number."""
    asked, time = toolbox.asked, toolbox.asked.understood.time
    if time is not None and len(time.stretches) > 1:
        return tuple(Group(_label(asked, stretch), stretch.spans) for stretch in time.stretches)
    numbered = asked.understood.comparison in ("each", "most", "fewest") or len(asked.understood.videos) > 1
    if not toolbox.several or not numbered:
        return ()
    videos = compared_videos(asked, list(toolbox.extents), most=MOST_GROUPS)
    there = sorted(video_id for video_id in videos if video_id in toolbox.extents)
    groups = tuple(Group(toolbox.video_name(video_id), {video_id: (toolbox.extents[video_id],)}) for video_id in there)
    return groups if len(groups) > 1 else ()


def group_notes(toolbox: Toolbox, groups: int) -> list[str]:
    """Return the note on the videos of the scope that got no number, if they are more than MOST_GROUPS."""
    videos = len(toolbox.extents)
    return [f"{groups} of {videos} videos were counted one by one"] if MOST_GROUPS == groups < videos else []


def _label(asked: Asked, stretch: Stretch) -> str:
    """Return a stretch for the reader: in English as it was understood, elsewhere by its place in the video."""
    if not asked.answer_language or len(stretch.spans) != 1:
        return as_data(stretch.meaning)
    [spans] = stretch.spans.values()
    return ", ".join(f"{clock(span.start_ms, hours=True)}-{clock(span.end_ms, hours=True)}" for span in spans)

"""The answer of a route: a text that was put together from what was read, each claim with the events it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.answering.contract import (
    Answer,
    AnswerPart,
    CitationRecord,
    CitationStatus,
    ClaimRecord,
    NodeRecord,
)
from gpu_workers.engine.answering.ending.claims import best_sentence
from gpu_workers.engine.answering.ending.final_answer import NOTHING_SHOWN, finish_reason, without_text
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.retrieval.frames import all_frames

MOST_CITED = 16
"""Maximum number of events that a route's answer cites for a few claims; more are counted and named by their times."""

MOST_CLAIMS_CITED = 64
"""Maximum number of claims of which each has an event that is cited for it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of an answer, the events that it rests on, best first, and whether they support it. A claim of which
    no event is cited is unverified whatever its status."""

    text: str
    events: tuple[UUID, ...]
    status: CitationStatus = "unverified"


@dataclass(frozen=True, slots=True)
class RouteResult:
    """What a route found. head: the route, for Answer.signals. shares: further signals, each 0 to 1. notes: how it was
    measured, in words."""

    text: str
    head: str
    records: Sequence[NodeRecord] = ()
    choice: int | None = None
    reasoning: str = ""
    notes: Iterable[str] = ()
    degraded: Iterable[str] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    parts: Sequence[AnswerPart] = ()
    columns: Sequence[str] = ()


def route_answer(toolbox: Toolbox, result: RouteResult, claims: Sequence[Claim]) -> Answer:
    """Return an answer with these claims, in order of their importance."""
    cited = _cited_in_turn(claims)
    with toolbox.calls.timed("citations"):
        citations = _citations(toolbox, cited, claims)
    places = {citation.event_id: index for index, citation in enumerate(citations)}
    records = [
        ClaimRecord(claim.text, claim.status, tuple(places[event] for event in claim.events if event in places))
        for claim in claims
    ]
    return answered(toolbox, result, citations, records)


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
        reasoning=result.reasoning,
        claims=tuple(claim if claim.citations else replace(claim, status="unverified") for claim in claims),
        signals={**result.shares, "head": result.head},
        notes=tuple(result.notes),
        degraded=tuple(sorted(set(result.degraded))),
        shape=toolbox.asked.understood.shape if result.text and result.choice is None else "sentence",
        parts=tuple(result.parts),
        columns=tuple(result.columns),
    )


def _cited_in_turn(claims: Sequence[Claim]) -> list[UUID]:
    """Return the events to cite: the first one of each claim, then the second one of each, as many as are cited."""
    most = max(MOST_CITED, min(MOST_CLAIMS_CITED, len(claims)))
    longest = max((len(claim.events) for claim in claims), default=0)
    in_turn = (claim.events[turn] for turn in range(longest) for claim in claims if turn < len(claim.events))
    return list(islice(dict.fromkeys(in_turn), most))


def moment_in_words(toolbox: Toolbox, video_id: UUID, ms: int) -> str:
    """Return a moment as "0:01:05", after its video's title, or its number without one, if there are several videos."""
    moment = clock(ms, hours=True)
    return f"{toolbox.video_name(video_id)} {moment}" if toolbox.several else moment


def _citations(toolbox: Toolbox, cited: Sequence[UUID], claims: Sequence[Claim]) -> tuple[CitationRecord, ...]:
    events = {event.id: event for event in toolbox.load(cited)}
    frames = middle_frames(toolbox, events)
    records = []
    for event_id in cited:
        if event_id not in events:
            continue
        event, frame = events[event_id], frames.get(event_id)
        own = [(index, claim) for index, claim in enumerate(claims) if event_id in claim.events]
        words = " ".join((toolbox.asked.question.question, *(claim.text for _, claim in own)))
        records.append(
            CitationRecord(
                event.video_id,
                event_id,
                event.span.start_ms,
                event.span.end_ms,
                frame.ms if frame else None,
                frame.id if frame else None,
                best_sentence(event_text(event), words),
                own[0][1].status,
                tuple(index for index, _ in own),
            )
        )
    return tuple(records)


def middle_frames(toolbox: Toolbox, events: Mapping[UUID, StoredEvent]) -> dict[UUID, StoredFrame]:
    """Return the frame nearest to the middle of each event that has one."""
    nearest: dict[UUID, StoredFrame] = {}
    for frame in all_frames(toolbox.asked.graph, list(events)) if events else ():
        span = events[frame.event_id].span
        middle = (span.start_ms + span.end_ms) / 2
        before = nearest.get(frame.event_id)
        if before is None or abs(frame.ms - middle) < abs(before.ms - middle):
            nearest[frame.event_id] = frame
    return nearest

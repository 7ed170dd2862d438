"""The answer of a route: a text that was put together from what was read, each claim with the events it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox as Desk
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


def route_answer(
    desk: Desk,
    text: str,
    claims: Sequence[Claim],
    *,
    head: str,
    records: Sequence[NodeRecord],
    choice: int | None = None,
    reasoning: str = "",
    notes: Iterable[str] = (),
    degraded: Iterable[str] = (),
    shares: Mapping[str, float] | None = None,
    parts: Sequence[AnswerPart] = (),
    columns: Sequence[str] = (),
) -> Answer:
    """Return an answer with these claims, in order of their importance. head, notes, shares: as in answered()."""
    calls = desk.calls
    cited = _cited_in_turn(claims)
    with calls.timed("citations"):
        citations = _citations(desk, cited, claims)
    places = {citation.event_id: index for index, citation in enumerate(citations)}
    return answered(
        desk,
        text,
        citations,
        [
            ClaimRecord(claim.text, claim.status, tuple(places[event] for event in claim.events if event in places))
            for claim in claims
        ],
        head=head,
        records=records,
        choice=choice,
        reasoning=reasoning,
        notes=notes,
        degraded=degraded,
        shares=shares,
        parts=parts,
        columns=columns,
    )


def answered(
    desk: Desk,
    text: str,
    citations: Sequence[CitationRecord],
    claims: Sequence[ClaimRecord],
    *,
    head: str,
    records: Sequence[NodeRecord],
    choice: int | None = None,
    reasoning: str = "",
    notes: Iterable[str] = (),
    degraded: Iterable[str] = (),
    shares: Mapping[str, float] | None = None,
    parts: Sequence[AnswerPart] = (),
    columns: Sequence[str] = (),
) -> Answer:
    """Return an answer with these claims and citations: a claim without a citation is unverified.

    head: the route, for Answer.signals. shares: further signals, each 0 to 1. notes: how it was measured, in words. No
    chance of being right was measured for such answers, so confidence is None.
    """
    calls = desk.calls
    calls.on_progress("citations", 1, 1, f"{len(citations)} citations")
    reason, detail = finish_reason(calls, [], answered=bool(text))
    if not text and not calls.halted:
        detail = NOTHING_SHOWN
    return replace(
        without_text(calls, records, reason, detail),
        text=text,
        choice=choice,
        citations=tuple(citations),
        reasoning=reasoning,
        claims=tuple(claim if claim.citations else replace(claim, status="unverified") for claim in claims),
        signals={**(shares or {}), "head": head},
        notes=tuple(notes),
        degraded=tuple(sorted(set(degraded))),
        shape=desk.asked.understood.shape if text and choice is None else "sentence",
        parts=tuple(parts),
        columns=tuple(columns),
    )


def _cited_in_turn(claims: Sequence[Claim]) -> list[UUID]:
    """Return the events to cite: the first one of each claim, then the second one of each, as many as are cited."""
    most = max(MOST_CITED, min(MOST_CLAIMS_CITED, len(claims)))
    longest = max((len(claim.events) for claim in claims), default=0)
    in_turn = (claim.events[turn] for turn in range(longest) for claim in claims if turn < len(claim.events))
    return list(islice(dict.fromkeys(in_turn), most))


def moment_in_words(desk: Desk, video_id: UUID, ms: int) -> str:
    """Return a moment as "0:01:05", after its video's title, or its number without one, if there are several videos."""
    moment = clock(ms, hours=True)
    return f"{desk.video_name(video_id)} {moment}" if desk.several else moment


def _citations(desk: Desk, cited: Sequence[UUID], claims: Sequence[Claim]) -> tuple[CitationRecord, ...]:
    events = {event.id: event for event in desk.load(cited)}
    frames = middle_frames(desk, events)
    records = []
    for event_id in cited:
        if event_id not in events:
            continue
        event, frame = events[event_id], frames.get(event_id)
        own = [(index, claim) for index, claim in enumerate(claims) if event_id in claim.events]
        words = " ".join((desk.asked.question.question, *(claim.text for _, claim in own)))
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


def middle_frames(desk: Desk, events: Mapping[UUID, StoredEvent]) -> dict[UUID, StoredFrame]:
    """Return the frame nearest to the middle of each event that has one."""
    nearest: dict[UUID, StoredFrame] = {}
    for frame in all_frames(desk.asked.graph, list(events)) if events else ():
        span = events[frame.event_id].span
        middle = (span.start_ms + span.end_ms) / 2
        before = nearest.get(frame.event_id)
        if before is None or abs(frame.ms - middle) < abs(before.ms - middle):
            nearest[frame.event_id] = frame
    return nearest

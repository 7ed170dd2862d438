"""Evidence of an answer as it is stored: citations, strongest first, and claims with the citations of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.answering.contract import CitationRecord, CitationStatus, ClaimRecord
from gpu_workers.engine.answering.ending.claims import best_sentence, claim_status
from gpu_workers.engine.answering.ending.evidence import Evidence
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.words import plain
from gpu_workers.engine.ports import StoredEvent

_STRENGTH: dict[CitationStatus, int] = {"supported": 0, "unverified": 1, "contradicted": 2}

TENTHS = 1
"""Decimals of closeness that count as strength. Events that differ by less are ordered by time."""


@dataclass(frozen=True, slots=True)
class _Cited:
    """One happening that is cited: an event, or several that follow each other and read the same. events: strongest
    first. claims: indices of the statements."""

    events: tuple[StoredEvent, ...]
    span: Span
    claims: tuple[int, ...]
    status: CitationStatus
    closeness: float | None

    @property
    def strength(self) -> tuple[int, float]:
        return _STRENGTH[self.status], -round(self.closeness or 0.0, TENTHS)


def cite(
    asked: Asked, node: AnswerNode, evidence: Evidence
) -> tuple[tuple[CitationRecord, ...], tuple[ClaimRecord, ...]]:
    """Return the citations, ordered by strength and then by time, and the claims with their citations.

    Strength is the status, then the closeness in tenths. Events that follow each other in a video and read the same are
    one citation, with the event that speaks most for the claims and the span of all of them.
    """
    events = {event.id: event for event in node.context.events.values()}
    ids = dict.fromkeys(event_id for statement in evidence.statements for event_id in statement.statuses)
    cited = [_once(evidence, group) for group in _happenings([events[event_id] for event_id in ids])]
    cited.sort(key=lambda one: (*one.strength, one.events[0].video_id, one.span.start_ms))
    place = {event.id: position for position, one in enumerate(cited) for event in one.events}
    claims = tuple(
        ClaimRecord(
            statement.text, statement.status, tuple(sorted({place[event_id] for event_id in statement.statuses}))
        )
        for statement in evidence.statements
    )
    return tuple(_record(asked, evidence, one) for one in cited), claims


def _happenings(events: Sequence[StoredEvent]) -> list[list[StoredEvent]]:
    """Return events in groups that follow each other in one video and read the same."""
    groups: list[list[StoredEvent]] = []
    for event in sorted(events, key=lambda event: (event.video_id, event.span, event.id)):
        last = groups[-1][-1] if groups else None
        if (
            last is not None
            and last.video_id == event.video_id
            and event.span.start_ms <= last.span.end_ms
            and plain(event_text(last)) == plain(event_text(event))
        ):
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _once(evidence: Evidence, group: Sequence[StoredEvent]) -> _Cited:
    statuses: dict[UUID, CitationStatus] = {}
    closest: dict[UUID, float] = {}
    claims: list[int] = []
    for index, statement in enumerate(evidence.statements):
        for event in group:
            if event.id in statement.statuses:
                claims.append(index)
                statuses[event.id] = claim_status([statement.statuses[event.id], *_known(statuses, event.id)])
            if event.id in statement.closeness:
                closest[event.id] = max(statement.closeness[event.id], closest.get(event.id, 0.0))
    ranked = sorted(group, key=lambda event: (_STRENGTH[statuses[event.id]], -closest.get(event.id, 0.0), event.span))
    return _Cited(
        tuple(ranked),
        Span(min(event.span.start_ms for event in group), max(event.span.end_ms for event in group)),
        tuple(dict.fromkeys(claims)),
        claim_status(list(statuses.values())),
        min(1.0, max(0.0, *closest.values(), 0.0)) if closest else None,
    )


def _known(statuses: dict[UUID, CitationStatus], event_id: UUID) -> list[CitationStatus]:
    return [statuses[event_id]] if event_id in statuses else []


def _record(asked: Asked, evidence: Evidence, cited: _Cited) -> CitationRecord:
    event = cited.events[0]
    frame = evidence.frames.get(event.id)
    said = " ".join(evidence.statements[index].text for index in cited.claims)
    return CitationRecord(
        event.video_id,
        event.id,
        cited.span.start_ms,
        cited.span.end_ms,
        frame.ms if frame else None,
        frame.id if frame else None,
        best_sentence(event_text(event), f"{asked.question.question} {said}"),
        cited.status,
        cited.claims,
        cited.closeness,
    )

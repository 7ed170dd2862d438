"""Evidence for an answer: its claims, and for each claim the events that the model was shown, with their best frame.

Whether an event supports a claim is decided by its text, by the reasoner's judgement and by the frames.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.answering.contract import CitationRecord, CitationStatus, ClaimRecord
from gpu_workers.engine.answering.evidence.claims import claims_of, standing
from gpu_workers.engine.answering.evidence.text_support import (
    best_sentence,
    entailed_verdict,
    statement_of,
    text_verdict,
)
from gpu_workers.engine.answering.looking.findings import findings_schema, read_findings
from gpu_workers.engine.answering.looking.looks import Look
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import Message, ModelError, ObserveRequest
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.ports import StoredEvent, StoredFrame, ViewQuery
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import frame_evidence, frames_of_hits

FALLBACK_CITATIONS = 2
MAX_VERDICTS = 10

_VERDICTS: dict[str, CitationStatus] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "unclear": "unverified",
}
_BEARINGS: dict[str, CitationStatus] = {"supports": "supported", "contradicts": "contradicted"}

Link = tuple[int, UUID]
"""A claim, by its index, and an event that is cited for it."""


@dataclass(frozen=True, slots=True)
class _Closeness:
    """Cosines of event texts. to_answer: with question and answer, to rank events; to_claim: with each claim alone, to
    judge them, since a question's words are in every answer to it, right or wrong."""

    to_answer: Mapping[UUID, float]
    to_claim: Mapping[Link, float]


def cite(
    asked: Asked, calls: Calls, node: AnswerNode, answer: ParsedAnswer
) -> tuple[tuple[CitationRecord, ...], tuple[ClaimRecord, ...]]:
    """Return the answer's citations, strongest first, and its claims with their citations.

    The events are those of node that the model cited by a number in its prompt. If it cited none, they are those whose
    text is most similar to the answer. For a claim that none of them supports, a shown event that supports it is added.
    Never raises ModelError: if the embedder or a verifier fails, a citation stays unverified.
    """
    claims = claims_of(answer)
    events = {event.id: event for event in node.context.events.values()}
    whole = f"{asked.question.question} {answer.text}"
    ids = [event_id for event_id in node.cited_events if event_id in events][: asked.settings.citations]
    close = _Closeness({}, {})
    frames: dict[UUID, StoredFrame] = {}
    if events:
        try:
            close = _closeness(asked, calls, whole, claims, list(events.values()))
            frames = _best_frames(asked, calls, whole, ids or list(events))
        except ModelError:
            frames = {}
    ranking = sorted(events, key=lambda event: (-close.to_answer.get(event, 0.0), node.context.numbers[event]))
    ids = ids or ranking[:FALLBACK_CITATIONS]
    texts = {event_id: event_text(event) for event_id, event in events.items()}
    verdicts = _by_text(asked, claims, texts, close) | _by_entailment(asked, calls, claims, texts)
    ids += _missing(asked.settings.citations, claims, ids, ranking, verdicts)
    links = _links(claims, ids, verdicts, close)
    shown = {event_id: _frame(asked, node, frames, event_id) for event_id in ids}
    statuses = {link: verdicts[link] for link in links}
    if asked.settings.verify_citations and not calls.halted:
        statuses |= _by_reasoner(asked, calls, claims, links, texts)
    if asked.settings.verify_frames and not calls.halted:
        statuses |= _by_frames(asked, calls, claims, links, shown, events)
    return _records(asked, claims, ids, statuses, events, texts, shown, close)


def _by_text(
    asked: Asked, claims: Sequence[str], texts: Mapping[UUID, str], close: _Closeness
) -> dict[Link, CitationStatus]:
    sense = asked.models.calibration.same_sense.value
    question = asked.question.question

    def verdict(index: int, event_id: UUID) -> CitationStatus:
        claim, text = claims[index], texts[event_id]
        quote = best_sentence(text, f"{question} {claim}")
        closeness = close.to_claim.get((index, event_id), 0.0)
        return text_verdict(
            claim, text, quote, closeness, question=question, sense=sense, language=asked.answer_language
        )

    return {(index, event_id): verdict(index, event_id) for index in range(len(claims)) for event_id in texts}


def _by_entailment(
    asked: Asked, calls: Calls, claims: Sequence[str], texts: Mapping[UUID, str]
) -> dict[Link, CitationStatus]:
    """Return the verdicts of the entailer; none without one, or if it fails."""
    if asked.entailer is None:
        return {}
    statements = [statement_of(claim, asked.question.question) for claim in claims]
    links = [(index, event_id) for index in range(len(claims)) for event_id in texts]
    try:
        found = asked.entailer.entail(
            [(texts[event_id], statements[index][0]) for index, event_id in links], meter=calls.meter
        )
    except ModelError:
        return {}
    return {
        link: entailed_verdict(entailment, denied=statements[link[0]][1])
        for link, entailment in zip(links, found, strict=True)
    }


def _missing(
    most: int,
    claims: Sequence[str],
    ids: Sequence[UUID],
    ranking: Sequence[UUID],
    verdicts: Mapping[Link, CitationStatus],
) -> list[UUID]:
    """Return, for each of several claims that no cited event supports, the best shown event that supports it, while
    fewer than `most` are cited."""
    added: list[UUID] = []
    for index in range(len(claims)) if len(claims) > 1 else ():
        cited = [*ids, *added]
        if len(cited) >= most or any(verdicts[index, event_id] == "supported" for event_id in cited):
            continue
        added += [event_id for event_id in ranking if verdicts[index, event_id] == "supported"][:1]
    return added


def _links(
    claims: Sequence[str], ids: Sequence[UUID], verdicts: Mapping[Link, CitationStatus], close: _Closeness
) -> list[Link]:
    """Return which events are cited for which claim: all for an only claim, else those whose text supports or
    contradicts it. An event that does neither for any claim is cited for the closest claim."""
    if len(claims) == 1:
        return [(0, event_id) for event_id in ids]
    indices = range(len(claims))
    links: list[Link] = []
    for event_id in ids:
        speaks = [(index, event_id) for index in indices if verdicts[index, event_id] != "unverified"]
        nearest = max(indices, key=lambda index: (close.to_claim.get((index, event_id), 0.0), -index))
        links += speaks or [(nearest, event_id)]
    return links


def _records(
    asked: Asked,
    claims: Sequence[str],
    ids: Sequence[UUID],
    statuses: Mapping[Link, CitationStatus],
    events: Mapping[UUID, StoredEvent],
    texts: Mapping[UUID, str],
    shown: Mapping[UUID, StoredFrame | None],
    close: _Closeness,
) -> tuple[tuple[CitationRecord, ...], tuple[ClaimRecord, ...]]:
    citations = []
    for event_id in ids:
        event, frame = events[event_id], shown[event_id]
        indices = [index for index, linked in statuses if linked == event_id]
        cited_claims = " ".join(claims[index] for index in indices)
        nearest = [close.to_claim[index, event_id] for index in indices if (index, event_id) in close.to_claim]
        citations.append(
            CitationRecord(
                event.video_id,
                event_id,
                event.span.start_ms,
                event.span.end_ms,
                frame.ms if frame else None,
                frame.id if frame else None,
                best_sentence(texts[event_id], f"{asked.question.question} {cited_claims}"),
                standing([statuses[index, event_id] for index in indices]),
                tuple(indices),
                min(1.0, max(0.0, max(nearest))) if nearest else None,
            )
        )
    records = []
    for index, claim in enumerate(claims):
        cited = [event_id for event_id in ids if (index, event_id) in statuses]
        status = standing([statuses[index, event_id] for event_id in cited])
        records.append(ClaimRecord(claim, status, tuple(ids.index(event_id) for event_id in cited)))
    return tuple(citations), tuple(records)


def _closeness(
    asked: Asked, calls: Calls, whole: str, claims: Sequence[str], events: Sequence[StoredEvent]
) -> _Closeness:
    quotes = [best_sentence(event_text(event), whole) for event in events]
    texts = [whole, *claims, *(event.summary for event in events), *quotes]
    vectors = asked.models.text_embedder.embed(texts, meter=calls.meter)
    first, claim_rows = vectors[0], vectors[1 : 1 + len(claims)]
    summaries = vectors[1 + len(claims) : 1 + len(claims) + len(events)]
    quoted = vectors[1 + len(claims) + len(events) :]
    to_claim = {
        (index, event.id): max(float(claim @ summary), float(claim @ quote))
        for index, claim in enumerate(claim_rows)
        for event, summary, quote in zip(events, summaries, quoted, strict=True)
    }
    to_answer = {event.id: float(first @ row) for event, row in zip(events, summaries, strict=True)}
    return _Closeness(to_answer, to_claim)


def _best_frames(asked: Asked, calls: Calls, claim: str, event_ids: Sequence[UUID]) -> dict[UUID, StoredFrame]:
    """Return by event the frame most similar to the claim; events that the frame view does not reach are missing."""
    query = asked.models.frame_embedder.embed_query(claim, meter=calls.meter)
    nearest = ViewQuery(query, max(64, 8 * len(event_ids)))
    hits = asked.graph.search_views({"frame": nearest}, floor=asked.settings.retrieval.floor)["frame"]
    cited = set(event_ids)
    best: dict[UUID, StoredFrame] = {}
    for frame in frames_of_hits(asked.graph, [hit for hit in hits if hit.event_id in cited]):
        best.setdefault(frame.event_id, frame)
    return best


def _frame(asked: Asked, node: AnswerNode, best: Mapping[UUID, StoredFrame], event_id: UUID) -> StoredFrame | None:
    """Return the event's frame that an inspection rests on, else the most similar to the answer, else any."""
    frame = node.seen.get(event_id) or best.get(event_id)
    return frame or next(iter(asked.graph.frames_of([event_id], limit=1)), None)


def _by_reasoner(
    asked: Asked, calls: Calls, claims: Sequence[str], links: Sequence[Link], texts: Mapping[UUID, str]
) -> dict[Link, CitationStatus]:
    """Return the reasoner's verdicts on the first MAX_VERDICTS citations; those without a verdict are missing."""
    verified = links[:MAX_VERDICTS]
    tasks = [partial(_verdict, asked, calls, texts[event_id], claims[index]) for index, event_id in verified]
    with calls.timed("citations"):
        verdicts = calls.together("citations", tasks)
    return {link: verdict for link, verdict in zip(verified, verdicts, strict=True) if verdict}


def _verdict(asked: Asked, calls: Calls, passage: str, statement: str) -> CitationStatus | None:
    prompt = load("verify", asked.question.profile).substitute(
        passage=as_data(passage), question=asked.question.question, statement=statement
    )
    verdict = {"type": "string", "enum": list(_VERDICTS)}
    schema = {
        "type": "object",
        "properties": {"verdict": verdict},
        "required": ["verdict"],
        "additionalProperties": False,
    }
    try:
        samples = calls.ask(
            [Message("user", (prompt,))], stage="verify", meter=calls.meter, schema=schema, max_tokens=32
        )
    except Halt as halt:
        calls.halt(halt)
        return None
    except ModelError:
        return None
    return _VERDICTS.get(str((read_object(samples[0].text) or {}).get("verdict")))


def _by_frames(
    asked: Asked,
    calls: Calls,
    claims: Sequence[str],
    links: Sequence[Link],
    shown: Mapping[UUID, StoredFrame | None],
    events: Mapping[UUID, StoredEvent],
) -> dict[Link, CitationStatus]:
    """Return the checker's verdicts on the cited frames of each claim, one look per claim.

    A frame with a measurement is left out: its text has been compared already, and there are no eyes behind it. What a
    frame shows outweighs the text. Frames that show neither support nor contradiction leave the citation as it is.
    """
    if asked.models.checker is None:
        return {}
    tasks: list[Callable[[], dict[Link, CitationStatus]]] = []
    for index, claim in enumerate(claims):
        frames = [frame for linked, event_id in links if linked == index and (frame := shown[event_id])]
        evidence = frame_evidence(asked.graph, frames, list(events.values()))
        pictures = [(frame, view) for frame, view in zip(frames, evidence, strict=True) if not view.observation]
        if pictures:
            find = f"what shows whether this is so: {claim}"
            request = ObserveRequest(asked.question.question, find, claim, (), tuple(view for _, view in pictures))
            tasks.append(partial(_seen, calls, index, request, [frame for frame, _ in pictures]))
    with calls.timed("citations"):
        verdicts = calls.together("citations", tasks)
    return {link: status for statuses in verdicts for link, status in statuses.items()}


def _seen(
    calls: Calls, index: int, request: ObserveRequest, frames: Sequence[StoredFrame]
) -> dict[Link, CitationStatus]:
    try:
        sample = calls.observe_frames(request, schema=findings_schema(), meter=calls.meter)
    except Halt as halt:
        calls.halt(halt)
        return {}
    except ModelError:
        return {}
    all_of_them = Look(frames[0].video_id, Span(0, max(frame.ms for frame in frames) + 1), request.find, 1.0)
    statuses: dict[Link, list[CitationStatus]] = {}
    for finding in read_findings(sample.text, all_of_them, frames) or ():
        if status := _BEARINGS.get(finding.bearing):
            for frame in finding.frames or frames:
                statuses.setdefault((index, frame.event_id), []).append(status)
    return {link: standing(bearings) for link, bearings in statuses.items()}

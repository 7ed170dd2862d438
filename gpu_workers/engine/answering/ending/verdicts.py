"""Verdicts on claims: whether a shown event supports or contradicts one, by its words, by an entailer, by the reasoner
and by its frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import CitationStatus
from gpu_workers.engine.answering.ending.claims import standing
from gpu_workers.engine.answering.ending.text_support import (
    best_sentence,
    entailed_verdict,
    statement_of,
    text_verdict,
)
from gpu_workers.engine.answering.looking.findings import findings_schema, read_findings
from gpu_workers.engine.answering.looking.looks import Look
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import Message, ModelError, ObserveRequest
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import frame_evidence

MAX_VERDICTS = 10

_VERDICTS: dict[str, CitationStatus] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "unclear": "unverified",
}
_BEARINGS: dict[str, CitationStatus] = {"supports": "supported", "contradicts": "contradicted"}

Link = tuple[int, UUID]
"""A claim, by its index, and an event that is cited for it."""


def by_text(
    asked: Asked,
    claims: Sequence[str],
    links: Iterable[Link],
    texts: Mapping[UUID, str],
    closeness: Mapping[Link, float],
    added: Mapping[Link, float],
) -> dict[Link, CitationStatus]:
    """Return the verdict of words and cosine on every link. texts: of the events. closeness: cosine of each link.
    added: of the words that only the claim has, where text_support.added_words() finds any."""
    sense = asked.models.calibration.same_sense.value
    question = asked.question.question

    def verdict(link: Link) -> CitationStatus:
        claim, text = claims[link[0]], texts[link[1]]
        quote = best_sentence(text, f"{question} {claim}")
        close = closeness.get(link, 0.0)
        return text_verdict(
            claim,
            text,
            quote,
            close,
            sense=sense,
            added=added.get(link),
            question=question,
            language=asked.answer_language,
        )

    return {link: verdict(link) for link in links}


def by_entailment(
    asked: Asked, calls: Calls, claims: Sequence[str], links: Sequence[Link], texts: Mapping[UUID, str]
) -> dict[Link, CitationStatus]:
    """Return the verdicts of the entailer; none without one, or if it fails."""
    if asked.entailer is None or not links:
        return {}
    statements = [statement_of(claim, asked.question.question) for claim in claims]
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


def by_reasoner(
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


def by_frames(
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

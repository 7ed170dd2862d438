"""Evidence for an answer: events that were really shown, their best frame, and whether they bear it out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

from gpu_workers.answering.budget import Halt
from gpu_workers.answering.context import event_text
from gpu_workers.answering.contract import CitationRecord, CitationStatus
from gpu_workers.answering.parsing import ParsedAnswer, read_object
from gpu_workers.answering.run import QuestionRun
from gpu_workers.answering.summary_answer import AnswerNode
from gpu_workers.answering.wording import as_data
from gpu_workers.answering.words import content_words, decisive_words
from gpu_workers.models.roles import Message, ModelError
from gpu_workers.ports import StoredEvent, StoredFrame
from gpu_workers.prompts import load
from gpu_workers.retrieval.frames import frames_of_hits

MAX_CITATIONS = 5
FALLBACK_CITATIONS = 2
SAME_WORDS = 0.6
"""Share of the answer's content words that a passage must hold; initial."""
SAME_SENSE = 0.5
"""Cosine of answer and passage from which a passage counts as bearing it out; initial."""

_VERDICTS: dict[str, CitationStatus] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "unclear": "unverified",
}


def cite(run: QuestionRun, node: AnswerNode, answer: ParsedAnswer) -> tuple[CitationRecord, ...]:
    """Citations of the answer out of the events that node showed, strongest first.

    The events are those the model cited by a number it was really shown; if it cited none, those whose text is most
    similar to the answer. A failing embedder or verifier leaves a citation unverified; it never raises ModelError.
    """
    by_id = {event.id: event for event in node.context.events.values()}
    if not by_id:
        return ()
    claim = f"{run.question.question} {answer.text}"
    ids = [event_id for event_id in node.cited_events if event_id in by_id][:MAX_CITATIONS]
    closeness: dict[UUID, float] = {}
    try:
        closeness = _closeness(run, claim, list(by_id.values()))
        frames = _best_frames(run, claim, ids or list(by_id))
    except ModelError:
        frames = {}
    if not ids:
        best = sorted(by_id, key=lambda event_id: (-closeness.get(event_id, 0.0), node.context.numbers[event_id]))
        ids = best[:FALLBACK_CITATIONS]
    citations = []
    for event_id in ids:
        event = by_id[event_id]
        quote = best_sentence(event_text(event), claim)
        frame = frames.get(event_id) or next(iter(run.graph.frames_of([event_id], limit=1)), None)
        citations.append(
            CitationRecord(
                event.video_id,
                event_id,
                event.span.start_ms,
                event.span.end_ms,
                frame.ms if frame else None,
                frame.id if frame else None,
                quote,
                text_verdict(answer.text, event_text(event), quote, closeness.get(event_id, 0.0)),
            )
        )
    if run.settings.verify_citations and not run.halted:
        return _verified(run, citations, answer)
    return tuple(citations)


def text_verdict(answer: str, passage: str, quote: str, closeness: float) -> CitationStatus:
    """What can be told without a model. Supported: the passage is close in sense or words, and has every number,
    direction and colour of the answer. Contradicted: the quote says the same words with the opposite negation."""
    wanted = content_words(answer)
    overlap = len(wanted & content_words(quote)) / len(wanted) if wanted else 0.0
    decisive = decisive_words(answer) - {"yes", "not"}
    if overlap >= SAME_WORDS and ("not" in decisive_words(answer)) != ("not" in decisive_words(quote)):
        return "contradicted"
    held = len(wanted & content_words(passage)) / len(wanted) if wanted else 0.0
    if decisive <= decisive_words(passage) and (held >= SAME_WORDS or closeness >= SAME_SENSE):
        return "supported"
    return "unverified"


def best_sentence(passage: str, claim: str) -> str:
    """The sentence or clause of passage that shares most content words with claim; the first of equals."""
    sentences = [sentence.strip().rstrip(";") for sentence in re.split(r"(?<=[.!?;])\s+", passage) if sentence.strip()]
    wanted = content_words(claim)
    return max(sentences, key=lambda sentence: len(wanted & content_words(sentence)), default="")


def _closeness(run: QuestionRun, claim: str, events: Sequence[StoredEvent]) -> dict[UUID, float]:
    vectors = run.models.text_embedder.embed([claim, *(event.summary for event in events)], meter=run.meter)
    return {event.id: float(vectors[0] @ row) for event, row in zip(events, vectors[1:], strict=True)}


def _best_frames(run: QuestionRun, claim: str, event_ids: Sequence[UUID]) -> dict[UUID, StoredFrame]:
    """Per event the frame most similar to the claim, where the frame view reaches it."""
    query = run.models.frame_embedder.embed_query(claim, meter=run.meter)
    hits = run.graph.search_frames(query, limit=max(64, 8 * len(event_ids)), floor=run.settings.retrieval.floor)
    wanted = set(event_ids)
    best: dict[UUID, StoredFrame] = {}
    for frame in frames_of_hits(run.graph, [hit for hit in hits if hit.event_id in wanted]):
        best.setdefault(frame.event_id, frame)
    return best


def _verified(
    run: QuestionRun, citations: Sequence[CitationRecord], answer: ParsedAnswer
) -> tuple[CitationRecord, ...]:
    """The citations with the reasoner's verdict where it gives one."""
    passages = run.graph.load_events([citation.event_id for citation in citations])
    texts = [event_text(passages[c.event_id]) if c.event_id in passages else c.quote for c in citations]
    tasks = [partial(_verdict, run, text, answer.text) for text in texts]
    with run.timed("citations"):
        verdicts = run.together("citations", tasks)
    return tuple(
        replace(citation, status=verdict) if verdict else citation
        for citation, verdict in zip(citations, verdicts, strict=True)
    )


def _verdict(run: QuestionRun, passage: str, statement: str) -> CitationStatus | None:
    prompt = load("verify", run.question.profile).substitute(
        passage=as_data(passage), question=run.question.question, statement=statement
    )
    verdict = {"type": "string", "enum": list(_VERDICTS)}
    schema = {
        "type": "object",
        "properties": {"verdict": verdict},
        "required": ["verdict"],
        "additionalProperties": False,
    }
    try:
        samples = run.ask([Message("user", (prompt,))], stage="verify", meter=run.meter, schema=schema, max_tokens=32)
    except Halt as halt:
        run.halt(halt)
        return None
    except ModelError:
        return None
    return _VERDICTS.get(str((read_object(samples[0].text) or {}).get("verdict")))

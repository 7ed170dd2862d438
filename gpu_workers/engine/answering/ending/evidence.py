"""What each statement of an answer rests on: the shown events that are cited for it, and whether they support it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.answering.contract import CitationStatus
from gpu_workers.engine.answering.ending.claims import (
    best_sentence,
    claim_status,
    missing_words,
    statement_of,
    supports,
)
from gpu_workers.engine.answering.ending.verify import Link, by_entailment, by_frames, by_reasoner
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.languages.codes import ENGLISH, is_english
from gpu_workers.engine.languages.words import with_digits
from gpu_workers.engine.models.observer.sentences import surmises, without_surmises
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import StoredEvent, StoredFrame, ViewQuery, Within
from gpu_workers.engine.retrieval.frames import frames_of_hits

FALLBACK_CITATIONS = 2
"""Number of events that are cited for an answer that names none."""

MOST_SEARCHED = 8
"""Maximum number of events that are each searched for their best frame; the others show their middle."""

_ONE_OF_SEVERAL = re.compile(r"\bthe (first|last|final|\d+(?:st|nd|rd|th))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the answer. cited: the events that it names itself; None if the answer names them as a whole."""

    text: str
    cited: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A statement with the verdict of each event that is cited for it. closeness: cosine of the statement and the
    event's words; events that could not be embedded are missing."""

    text: str
    statuses: Mapping[UUID, CitationStatus]
    closeness: Mapping[UUID, float] = field(default_factory=dict)

    @property
    def status(self) -> CitationStatus:
        return claim_status(list(self.statuses.values()))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Statements in their order, and by cited event the frame that shows it best."""

    statements: tuple[CheckedStatement, ...]
    frames: Mapping[UUID, StoredFrame]


@dataclass(frozen=True, slots=True)
class Checks:
    """Which models judge, as far as the effort asks for them. reasoner: one call over all statements, where no entailer
    is served. frames: looks at the cited frames. best_frames: a search for the frame that shows each event best."""

    reasoner: bool = True
    frames: bool = True
    best_frames: bool = True


@dataclass(frozen=True, slots=True)
class _Closeness:
    """Cosines of event texts. to_answer: with question and answer, to rank events; to_claim: with each claim alone, to
    judge them, since a question's words are in every answer to it, right or wrong."""

    to_answer: Mapping[UUID, float] = field(default_factory=dict)
    to_claim: Mapping[Link, float] = field(default_factory=dict)


def find_evidence(
    asked: Asked,
    calls: Calls,
    node: AnswerNode,
    statements: Sequence[Statement],
    *,
    whole: str,
    checks: Checks = Checks(),
) -> Evidence:
    """Return the statements with the events that are cited for them, and the verdict of each event.

    Statements without events of their own share those of node that the model cited by a number in its prompt. If it
    cited none, they are those whose text is most similar to the answer; for a statement that none of them supports, a
    shown event that supports it is added. An event that was not shown is never cited. whole: the answer's text.

    Words and cosine support a statement or leave it unverified. Only an entailer, the reasoner or a look at the frames
    contradicts it. Never raises ModelError: if a model fails, a citation keeps the verdict that it has.
    """
    claims = [statement.text for statement in statements]
    events = {event.id: event for event in node.context.events.values()}
    sure = not any(map(surmises, claims))
    texts = {event_id: _passage(event_text(event), sure=sure) for event_id, event in events.items()}
    asked_and_answered = f"{asked.question.question} {whole}"
    try:
        summaries = {event_id: _passage(event.summary, sure=sure) for event_id, event in events.items()}
        close = _closeness(asked, calls, asked_and_answered, claims, list(events.values()), (summaries, texts))
    except ModelError:
        close = _Closeness()
    own = [statement.cited for statement in statements]
    if all(cited is not None for cited in own):
        links = [(index, event_id) for index, cited in enumerate(own) for event_id in cited or () if event_id in events]
        verdicts = _verdicts(asked, calls, claims, links, texts, close)
    else:
        all_links = [(index, event_id) for index in range(len(claims)) for event_id in texts]
        verdicts = _verdicts(asked, calls, claims, all_links, texts, close)
        links = _links(claims, _cited(asked, node, claims, verdicts, close), verdicts, close)
    statuses = {link: verdicts[link] for link in links}
    said: dict[UUID, list[str]] = {}
    for index, event_id in links:
        said.setdefault(event_id, []).append(claims[index])
    words = {event_id: asked_and_answered if own[0] is None else " ".join(texts_) for event_id, texts_ in said.items()}
    # A frame that an inspection rests on is worth more.
    frames = {
        **(_best_frames(asked, calls, words, events) if checks.best_frames else {}),
        **{event_id: node.seen[event_id] for event_id in words if event_id in node.seen},
    }
    if checks.reasoner and asked.settings.verify_citations and asked.entailer is None:
        statuses |= by_reasoner(asked, calls, claims, links, texts)
    if checks.frames and asked.settings.verify_frames and not calls.halted:
        statuses |= by_frames(asked, calls, claims, links, frames, list(events.values()))
    return Evidence(tuple(_checked(index, claim, statuses, close) for index, claim in enumerate(claims)), frames)


def _checked(index: int, claim: str, statuses: Mapping[Link, CitationStatus], close: _Closeness) -> CheckedStatement:
    mine = {event_id: status for (linked, event_id), status in statuses.items() if linked == index}
    cosines = {event_id: close.to_claim[index, event_id] for event_id in mine if (index, event_id) in close.to_claim}
    return CheckedStatement(claim, mine, cosines)


# --- verdicts by words and by the entailer --------------------------------------------------------------------------


def _verdicts(
    asked: Asked,
    calls: Calls,
    claims: Sequence[str],
    links: Sequence[Link],
    texts: Mapping[UUID, str],
    close: _Closeness,
) -> dict[Link, CitationStatus]:
    """Return the entailer's verdicts, and without an entailer those of words and cosine.

    One event cannot show that it is the first or the last of several. So it supports a statement about such a one only
    if its own words say so, or if the question's time was understood and has narrowed the events already.
    """
    sense, language = asked.models.calibration.same_sense.value, asked.answer_language
    question = asked.question.question
    missing = _missing(asked, calls, claims, links, texts, close)
    verdicts: dict[Link, CitationStatus] = {
        link: "supported"
        if supports(
            texts[link[1]],
            claims[link[0]],
            closeness=close.to_claim.get(link, 0.0),
            sense=sense,
            missing=missing.get(link),
            question=question,
            language=language,
        )
        else "unverified"
        for link in links
    }
    verdicts |= by_entailment(asked, calls, claims, links, texts)
    time = asked.understood.time
    meant = _one_of_several(question.replace(time.words, " ") if time else question, asked.question_language)
    return {
        link: "unverified"
        if status == "supported"
        and not meant | _one_of_several(claims[link[0]], language) <= _one_of_several(texts[link[1]])
        else status
        for link, status in verdicts.items()
    }


def _one_of_several(text: str, language: str = "") -> frozenset[str]:
    """Return the words of an English text that say which one of several is meant (the first, the last)."""
    if not is_english(language):
        return frozenset()
    found = _ONE_OF_SEVERAL.findall(with_digits(text, ENGLISH).lower())
    return frozenset("last" if word == "final" else word for word in found)


def _missing(
    asked: Asked,
    calls: Calls,
    claims: Sequence[str],
    links: Sequence[Link],
    texts: Mapping[UUID, str],
    close: _Closeness,
) -> dict[Link, float]:
    """Return the cosine of an event's text and the words that only the claim has, where the verdict may rest on it."""
    if not is_english(asked.answer_language):
        return {}
    sense, question = asked.models.calibration.same_sense.value, asked.question.question
    near = [link for link in links if close.to_claim.get(link, 0.0) >= sense]
    words = {link: missing_words(statement_of(claims[link[0]], question).text, texts[link[1]]) for link in near}
    words = {link: missing for link, missing in words.items() if missing}
    passages = {
        (index, event_id): (texts[event_id], best_sentence(texts[event_id], f"{question} {claims[index]}"))
        for index, event_id in words
    }
    wanted = list(dict.fromkeys(text for link, missing in words.items() for text in (missing, *passages[link])))
    if not wanted:
        return {}
    try:
        vectors = dict(zip(wanted, asked.models.text_embedder.embed(wanted, meter=calls.meter), strict=True))
    except ModelError:
        return dict.fromkeys(words, 0.0)
    return {
        link: max(float(vectors[missing] @ vectors[text]) for text in passages[link]) for link, missing in words.items()
    }


def _passage(text: str, *, sure: bool) -> str:
    return without_surmises(text) if sure else text


def _closeness(
    asked: Asked,
    calls: Calls,
    whole: str,
    claims: Sequence[str],
    events: Sequence[StoredEvent],
    passages: tuple[Mapping[UUID, str], Mapping[UUID, str]],
) -> _Closeness:
    """passages: the summary and all words of each event, as far as they may support a claim. Raises ModelError."""
    if not events:
        return _Closeness()
    summaries, texts = passages
    near = {
        event.id: [text for text in (summaries[event.id], best_sentence(texts[event.id], whole)) if text]
        for event in events
    }
    wanted = [whole, *claims, *(event.summary for event in events), *(text for own in near.values() for text in own)]
    wanted = list(dict.fromkeys(wanted))
    vectors = dict(zip(wanted, asked.models.text_embedder.embed(wanted, meter=calls.meter), strict=True))
    to_claim = {
        (index, event_id): max(float(vectors[claim] @ vectors[text]) for text in own)
        for index, claim in enumerate(claims)
        for event_id, own in near.items()
        if own
    }
    return _Closeness({event.id: float(vectors[whole] @ vectors[event.summary]) for event in events}, to_claim)


# --- which events are cited for what --------------------------------------------------------------------------------


def _cited(
    asked: Asked,
    node: AnswerNode,
    claims: Sequence[str],
    verdicts: Mapping[Link, CitationStatus],
    close: _Closeness,
) -> list[UUID]:
    """Return the events that the answer rests on as a whole, at most settings.citations. Each of several claims that
    no cited event supports gets the best shown event that supports it."""
    most, shown = asked.settings.citations, node.context.numbers
    events = [event.id for event in node.context.events.values()]
    ranking = sorted(events, key=lambda event_id: (-close.to_answer.get(event_id, 0.0), shown[event_id]))
    cited = [event_id for event_id in node.cited_events if event_id in events][:most] or ranking[:FALLBACK_CITATIONS]
    for index in range(len(claims)) if len(claims) > 1 else ():
        if len(cited) < most and not any(verdicts[index, event_id] == "supported" for event_id in cited):
            cited += [event_id for event_id in ranking if verdicts[index, event_id] == "supported"][:1]
    return cited


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


# --- the frame that shows a cited event best ------------------------------------------------------------------------


def _best_frames(
    asked: Asked, calls: Calls, claims: Mapping[UUID, str], events: Mapping[UUID, StoredEvent]
) -> dict[UUID, StoredFrame]:
    """Return by event the frame with the highest cosine to the event's claim; its middle frame where frames cannot be
    compared with words. An event without frames is missing.

    claims: by event the words that it is cited for. events: at least those of claims.
    """
    found: dict[UUID, StoredFrame] = {}
    by_claim: dict[str, list[UUID]] = {}
    for event_id, claim in claims.items():
        by_claim.setdefault(claim, []).append(event_id)
    try:
        for claim, ids in by_claim.items():
            found |= _nearest_frames(asked, calls, claim, [events[event_id] for event_id in ids])
    except ModelError:
        found = {}
    for event_id in claims:
        if event_id not in found and (middle := asked.graph.frames_of([event_id], limit=1)):
            found[event_id] = middle[0]
    return found


def _nearest_frames(asked: Asked, calls: Calls, claim: str, events: Sequence[StoredEvent]) -> dict[UUID, StoredFrame]:
    query = asked.models.frame_embedder.embed_query(claim, meter=calls.meter)
    best = _first_frames(asked, ViewQuery(query, max(64, 8 * len(events))), {event.id for event in events})
    missing = [event for event in events if event.id not in best]
    for event in missing[:MOST_SEARCHED]:
        # Three, since the frames of a neighbour may lie on the event's borders.
        best |= _first_frames(asked, ViewQuery(query, 3, within=Within(event.video_id, event.span)), {event.id})
    return best


def _first_frames(asked: Asked, query: ViewQuery, wanted: set[UUID]) -> dict[UUID, StoredFrame]:
    hits = asked.graph.search_views({"frame": query}, floor=asked.settings.retrieval.floor)["frame"]
    best: dict[UUID, StoredFrame] = {}
    for frame in frames_of_hits(asked.graph, [hit for hit in hits if hit.event_id in wanted]):
        best.setdefault(frame.event_id, frame)
    return best

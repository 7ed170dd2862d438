"""What each statement of an answer rests on: the shown events that are cited for it, and whether they support it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.answering.contract import CitationStatus
from gpu_workers.engine.answering.ending.claims import (
    CheckedStatement,
    Evidence,
    Statement,
    best_sentence,
    missing_words,
    statement_of,
    supports,
)
from gpu_workers.engine.answering.ending.verify import Link, by_entailment, by_frames, by_reasoner
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.languages.codes import is_english
from gpu_workers.engine.models.observer.sentences import GUESS, GUESSES
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import StoredEvent, StoredFrame, ViewQuery, Within
from gpu_workers.engine.retrieval.frames import frames_of_hits

FALLBACK_CITATIONS = 2
"""Number of events that are cited for an answer that names none."""

MOST_SEARCHED = 8
"""Maximum number of events that are each searched for their best frame; the others show their middle."""


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
    texts = dict(zip(events, _passages_for(claims, [event_text(event) for event in events.values()]), strict=True))
    asked_and_answered = f"{asked.question.question} {whole}"
    try:
        summaries = dict(zip(events, _passages_for(claims, [event.summary for event in events.values()]), strict=True))
        close = _closeness(asked, calls, asked_and_answered, claims, list(events.values()), (summaries, texts))
    except ModelError:
        close = _Closeness()

    def judged(links: Sequence[Link]) -> dict[Link, CitationStatus]:
        return by_entailment(asked, calls, claims, links, texts) or _by_words(asked, calls, claims, links, texts, close)

    own = [statement.cited for statement in statements]
    by_model = checks.reasoner and asked.settings.verify_citations and asked.entailer is None
    statuses: dict[Link, CitationStatus] = {}
    if all(cited is not None for cited in own):
        links = [(index, event_id) for index, cited in enumerate(own) for event_id in cited or () if event_id in events]
    elif by_model:
        links = _nearest_links(claims, _cited(asked, node, close), close)
    else:
        verdicts = judged([(index, event_id) for index in range(len(claims)) for event_id in texts])
        links = _speaking_links(claims, _cited_and_supporting(asked, node, claims, verdicts, close), verdicts, close)
        statuses = {link: verdicts[link] for link in links}
    cited_for: dict[UUID, list[str]] = {}
    for index, event_id in links:
        cited_for.setdefault(event_id, []).append(claims[index])
    words = {id_: asked_and_answered if own[0] is None else " ".join(said) for id_, said in cited_for.items()}
    # A frame that an inspection rests on is worth more.
    frames = {
        **(_best_frames(asked, calls, words, events) if checks.best_frames else {}),
        **{event_id: node.seen[event_id] for event_id in words if event_id in node.seen},
    }
    if by_model:
        statuses |= by_reasoner(asked, calls, claims, links, texts)
    if left := [link for link in links if link not in statuses]:
        statuses |= judged(left)
    if checks.frames and asked.settings.verify_frames and not calls.halted:
        statuses |= by_frames(asked, calls, claims, links, frames, list(events.values()))
    return Evidence(tuple(_checked(index, claim, statuses, close) for index, claim in enumerate(claims)), frames)


def _checked(index: int, claim: str, statuses: Mapping[Link, CitationStatus], close: _Closeness) -> CheckedStatement:
    mine = {event_id: status for (linked, event_id), status in statuses.items() if linked == index}
    cosines = {event_id: close.to_claim[index, event_id] for event_id in mine if (index, event_id) in close.to_claim}
    return CheckedStatement(claim, mine, cosines)


# --- verdicts by words and cosine, where no model judges --------------------------------------------------------------


def _by_words(
    asked: Asked,
    calls: Calls,
    claims: Sequence[str],
    links: Sequence[Link],
    texts: Mapping[UUID, str],
    close: _Closeness,
) -> dict[Link, CitationStatus]:
    sense, language = asked.models.calibration.same_sense.value, asked.answer_language
    missing = _missing(asked, calls, claims, links, texts, close)
    return {
        link: "supported"
        if supports(
            texts[link[1]],
            claims[link[0]],
            closeness=close.to_claim.get(link, 0.0),
            sense=sense,
            missing=missing.get(link),
            question=asked.question.question,
            language=language,
        )
        else "unverified"
        for link in links
    }


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


def _passages_for(claims: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return the descriptions as far as they may support claims: without what a picture only resembles, since a
    classifier of scenes names something for any picture. A claim about what it resembles may rest on all of it."""
    if any(GUESS.lower() in claim.lower() for claim in claims):
        return list(texts)
    return [GUESSES.sub("", text).strip() for text in texts]


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


def _cited(asked: Asked, node: AnswerNode, close: _Closeness) -> list[UUID]:
    """Return the events that the answer rests on as a whole, at most settings.citations."""
    shown = node.context.numbers
    return [event_id for event_id in node.cited_events if event_id in shown][: asked.settings.citations] or _by_answer(
        node, close
    )[:FALLBACK_CITATIONS]


def _by_answer(node: AnswerNode, close: _Closeness) -> list[UUID]:
    """Return the events that were shown, the closest to the answer first."""
    events = [event.id for event in node.context.events.values()]
    return sorted(events, key=lambda event_id: (-close.to_answer.get(event_id, 0.0), node.context.numbers[event_id]))


def _cited_and_supporting(
    asked: Asked,
    node: AnswerNode,
    claims: Sequence[str],
    verdicts: Mapping[Link, CitationStatus],
    close: _Closeness,
) -> list[UUID]:
    """Return the cited events. Each of several claims that no cited event supports gets the best shown event that
    supports it."""
    cited, ranking = _cited(asked, node, close), _by_answer(node, close)
    for index in range(len(claims)) if len(claims) > 1 else ():
        if len(cited) < asked.settings.citations and not any(verdicts[index, id_] == "supported" for id_ in cited):
            cited += [event_id for event_id in ranking if verdicts[index, event_id] == "supported"][:1]
    return cited


def _nearest_links(claims: Sequence[str], ids: Sequence[UUID], close: _Closeness) -> list[Link]:
    """Return each event with the claim that it is closest to, and each claim without one with its closest event."""
    links = dict.fromkeys((_nearest_claim(claims, event_id, close), event_id) for event_id in ids)
    linked = {index for index, _ in links}
    for index in range(len(claims)):
        if ids and index not in linked:
            links[index, max(ids, key=lambda event_id: close.to_claim.get((index, event_id), 0.0))] = None
    return sorted(links, key=lambda link: (link[0], ids.index(link[1])))


def _speaking_links(
    claims: Sequence[str], ids: Sequence[UUID], verdicts: Mapping[Link, CitationStatus], close: _Closeness
) -> list[Link]:
    """Return which events are cited for which claim: all for an only claim, else those whose text supports or
    contradicts it. An event that does neither for any claim is cited for the closest claim."""
    if len(claims) == 1:
        return [(0, event_id) for event_id in ids]
    links: list[Link] = []
    for event_id in ids:
        speaks = [(index, event_id) for index in range(len(claims)) if verdicts[index, event_id] != "unverified"]
        links += speaks or [(_nearest_claim(claims, event_id, close), event_id)]
    return links


def _nearest_claim(claims: Sequence[str], event_id: UUID, close: _Closeness) -> int:
    return max(range(len(claims)), key=lambda index: (close.to_claim.get((index, event_id), 0.0), -index))


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
    best: dict[UUID, StoredFrame] = {}
    for event in events[:MOST_SEARCHED]:
        # Three, since the frames of a neighbour may lie on the event's borders.
        best |= _first_frames(asked, ViewQuery(query, 3, within=Within(event.video_id, event.span)), {event.id})
    return best


def _first_frames(asked: Asked, query: ViewQuery, wanted: set[UUID]) -> dict[UUID, StoredFrame]:
    hits = asked.graph.search_views({"frame": query}, floor=asked.settings.retrieval.floor)["frame"]
    best: dict[UUID, StoredFrame] = {}
    for frame in frames_of_hits(asked.graph, [hit for hit in hits if hit.event_id in wanted]):
        best.setdefault(frame.event_id, frame)
    return best

"""What each statement of an answer rests on: the shown events that are cited for it, and whether they support it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.answering.contract import CitationStatus
from gpu_workers.engine.answering.ending.best_frames import best_frames
from gpu_workers.engine.answering.ending.claims import standing
from gpu_workers.engine.answering.ending.text_support import added_words, best_sentence, statement_of
from gpu_workers.engine.answering.ending.verdicts import Link, by_entailment, by_frames, by_reasoner, by_text
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.words import places
from gpu_workers.engine.languages.codes import is_english
from gpu_workers.engine.models.observer.sentences import surmises, without_surmises
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import StoredEvent, StoredFrame

FALLBACK_CITATIONS = 2
"""Number of events that are cited for an answer that names none."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the answer. cited: the events that it names itself; None if the answer names them as a whole."""

    text: str
    cited: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class Grounded:
    """A statement with the verdict of each event that is cited for it. closeness: cosine of the statement and the
    event's words; events that could not be embedded are missing."""

    text: str
    statuses: Mapping[UUID, CitationStatus]
    closeness: Mapping[UUID, float] = field(default_factory=dict)

    @property
    def status(self) -> CitationStatus:
        return standing(list(self.statuses.values()))


@dataclass(frozen=True, slots=True)
class Grounds:
    """Statements in their order, and by cited event the frame that shows it best."""

    statements: tuple[Grounded, ...]
    frames: Mapping[UUID, StoredFrame]


@dataclass(frozen=True, slots=True)
class _Closeness:
    """Cosines of event texts. to_answer: with question and answer, to rank events; to_claim: with each claim alone, to
    judge them, since a question's words are in every answer to it, right or wrong."""

    to_answer: Mapping[UUID, float]
    to_claim: Mapping[Link, float]


def ground(
    asked: Asked,
    calls: Calls,
    node: AnswerNode,
    statements: Sequence[Statement],
    *,
    whole: str,
    deep: bool = True,
    framed: bool = True,
) -> Grounds:
    """Return the statements with the events that are cited for them.

    Statements without events of their own share those of node that the model cited by a number in its prompt. If it
    cited none, they are those whose text is most similar to the answer; for a statement that none of them supports, a
    shown event that supports it is added. An event that was not shown is never cited. whole: the answer's text. deep:
    whether the reasoner and the checker judge, too, where the effort asks for it. framed: whether the frame that shows
    each event best is searched for, by a search for each claim.
    Never raises ModelError: if the embedder or a verifier fails, a citation stays unverified.
    """
    claims = [statement.text for statement in statements]
    events = {event.id: event for event in node.context.events.values()}
    sure = not any(map(surmises, claims))
    texts = {event_id: _passage(event_text(event), sure=sure) for event_id, event in events.items()}
    asked_and_answered = f"{asked.question.question} {whole}"
    close = _Closeness({}, {})
    if events:
        try:
            close = _closeness(asked, calls, asked_and_answered, claims, list(events.values()), texts, sure=sure)
        except ModelError:
            close = _Closeness({}, {})
    own = [statement.cited for statement in statements]
    if all(cited is not None for cited in own):
        links = [(index, event_id) for index, cited in enumerate(own) for event_id in cited or () if event_id in events]
        verdicts = _by_words(asked, calls, claims, links, texts, close)
    else:
        all_links = [(index, event_id) for index in range(len(claims)) for event_id in texts]
        verdicts = _by_words(asked, calls, claims, all_links, texts, close)
        ids = _cited(asked, node, claims, verdicts, close, events)
        links = _links(claims, ids, verdicts, close)
    statuses = {link: verdicts[link] for link in links}
    cited_for: dict[UUID, list[str]] = {}
    for index, event_id in links:
        cited_for.setdefault(event_id, []).append(claims[index])
    words = {event_id: asked_and_answered if own[0] is None else " ".join(said) for event_id, said in cited_for.items()}
    frames = {
        **(best_frames(asked, calls, {event_id: words[event_id] for event_id in words}, events) if framed else {}),
        # A frame that an inspection rests on is worth more.
        **{event_id: node.seen[event_id] for event_id in words if event_id in node.seen},
    }
    if deep and asked.settings.verify_citations and not calls.halted:
        statuses |= by_reasoner(asked, calls, claims, [link for link in links if texts[link[1]]], texts)
    if deep and asked.settings.verify_frames and not calls.halted:
        shown = {event_id: frames.get(event_id) for event_id in words}
        statuses |= by_frames(asked, calls, claims, links, shown, events)
    return Grounds(tuple(_grounded(index, claim, statuses, close) for index, claim in enumerate(claims)), frames)


def _by_words(
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
    verdicts = by_text(asked, claims, links, texts, close.to_claim, _added(asked, calls, claims, links, texts, close))
    verdicts |= by_entailment(asked, calls, claims, links, texts)
    time = asked.understood.time
    question = asked.question.question.replace(time.words, " ") if time else asked.question.question
    meant = places(question, asked.question_language)
    return {
        (index, event_id): "unverified"
        if status == "supported" and not meant | places(claims[index], asked.answer_language) <= places(texts[event_id])
        else status
        for (index, event_id), status in verdicts.items()
    }


def _added(
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
    words = {link: added_words(statement_of(claims[link[0]], question)[0], texts[link[1]]) for link in near}
    said = {link: added for link, added in words.items() if added}
    if not said:
        return {}
    passages = {
        (index, event_id): (texts[event_id], best_sentence(texts[event_id], f"{question} {claims[index]}"))
        for index, event_id in said
    }
    wanted = list(dict.fromkeys(text for link, added in said.items() for text in (added, *passages[link])))
    try:
        vectors = dict(zip(wanted, asked.models.text_embedder.embed(wanted, meter=calls.meter), strict=True))
    except ModelError:
        return dict.fromkeys(said, 0.0)
    return {link: max(float(vectors[added] @ vectors[text]) for text in passages[link]) for link, added in said.items()}


def _grounded(index: int, claim: str, statuses: Mapping[Link, CitationStatus], close: _Closeness) -> Grounded:
    mine = {event_id: status for (linked, event_id), status in statuses.items() if linked == index}
    cosines = {event_id: close.to_claim[index, event_id] for event_id in mine if (index, event_id) in close.to_claim}
    return Grounded(claim, mine, cosines)


def _cited(
    asked: Asked,
    node: AnswerNode,
    claims: Sequence[str],
    verdicts: Mapping[Link, CitationStatus],
    close: _Closeness,
    events: Mapping[UUID, StoredEvent],
) -> list[UUID]:
    """Return the events that the answer rests on as a whole, at most settings.citations."""
    most = asked.settings.citations
    ids = [event_id for event_id in node.cited_events if event_id in events][:most]
    ranking = sorted(events, key=lambda event: (-close.to_answer.get(event, 0.0), node.context.numbers[event]))
    ids = ids or ranking[:FALLBACK_CITATIONS]
    return ids + _missing(most, claims, ids, ranking, verdicts)


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


def _passage(text: str, *, sure: bool) -> str:
    return without_surmises(text) if sure else text


def _closeness(
    asked: Asked,
    calls: Calls,
    whole: str,
    claims: Sequence[str],
    events: Sequence[StoredEvent],
    passages: Mapping[UUID, str],
    *,
    sure: bool,
) -> _Closeness:
    """passages: the words of each event that may support a claim. sure: whether they leave out what is surmised."""
    near = {
        event.id: [
            text for text in (_passage(event.summary, sure=sure), best_sentence(passages[event.id], whole)) if text
        ]
        for event in events
    }
    own_texts = chain.from_iterable(near.values())
    texts = list(dict.fromkeys([whole, *claims, *(event.summary for event in events), *own_texts]))
    vectors = dict(zip(texts, asked.models.text_embedder.embed(texts, meter=calls.meter), strict=True))
    to_claim = {
        (index, event_id): max(float(vectors[claim] @ vectors[text]) for text in own)
        for index, claim in enumerate(claims)
        for event_id, own in near.items()
        if own
    }
    return _Closeness({event.id: float(vectors[whole] @ vectors[event.summary]) for event in events}, to_claim)

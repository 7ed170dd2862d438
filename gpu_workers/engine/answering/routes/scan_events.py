"""Which events a scan reads, in which order, and what their words alone say about its statement."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import StoredEvent, ViewName, ViewQuery
from gpu_workers.engine.retrieval.frames import spread_first
from gpu_workers.engine.retrieval.tri_view import MOST_EXACT, NO_VECTOR

MOST_EVENTS = 20_000
"""Maximum number of events whose words are read, some 60 hours; of a wider scope the nearest ones, and others that are
spread over it."""

NEAREST = 2_000
"""Number of events nearest to the statement in meaning, and in words, that are read first."""

PAGE = 512
"""Number of events that are loaded at once."""

RANK_OFFSET = 60
"""Added to ranks before they are fused (reciprocal rank fusion)."""

SURE_COVERAGE = 0.8
"""Share of a statement's weight from which an event's own words decide that it is true; an initial value. Below it a
describer may have used other words for the same thing, or the same words for another."""

LEAST_COVERAGE = 0.25
"""Share of a statement's weight from which an event is worth a model's look."""

UNSEEN = 0.5
"""Weight of a term that no event has, as a share of the weight of one that a single event has; an initial value."""


def events_to_read(toolbox: Toolbox, statement: str, readable: Sequence[UUID]) -> list[StoredEvent]:
    """Return the events whose words are read, in order: all that are readable; of a scope with more than MOST_EVENTS
    those nearest to the statement in meaning and in words, and others spread over all of the scope."""
    if len(readable) > MOST_EVENTS:
        known = set(readable)
        near = (*_nearest(toolbox, statement), *_in_index(toolbox, ViewQuery(NO_VECTOR, NEAREST, text=statement)))
        spread = (readable[index] for index in spread_first(len(readable)))
        chosen = dict.fromkeys([*(event_id for event_id in near if event_id in known), *spread])
        taken = set(islice(chosen, MOST_EVENTS))
        readable = [event_id for event_id in readable if event_id in taken]
    return list(_loaded(toolbox, readable))


def promising(
    toolbox: Toolbox, statement: str, by_words: WordMatch, events: Sequence[StoredEvent]
) -> list[StoredEvent]:
    """Return the events on which words do not decide, best first: by shared words and by similarity."""
    by_id = {event.id: event for event in events if event.id not in by_words.sure}
    scores: dict[UUID, float] = {}
    for listed in (by_words.maybe, _nearest(toolbox, statement)):
        for rank, event_id in enumerate(listed):
            if event_id in by_id:
                scores[event_id] = scores.get(event_id, 0.0) + 1.0 / (RANK_OFFSET + rank)
    return [by_id[event_id] for event_id in sorted(scores, key=lambda event_id: -scores[event_id])]


def spread_rest(events: Sequence[StoredEvent], first: Sequence[StoredEvent]) -> list[StoredEvent]:
    """Return the events that are not among the first, each beginning of the list spread over all of them."""
    before = {event.id for event in first}
    rest = [event for event in events if event.id not in before]
    return [rest[index] for index in spread_first(len(rest))]


def events_having(toolbox: Toolbox, words: str, readable: Sequence[UUID]) -> tuple[frozenset[UUID], int]:
    """Return the readable events that have these words in a row, as they are, and how many events were compared: all;
    but if a scope has more than MOST_EVENTS and MOST_EXACT or more of them are hits in the index of words, only these.
    """
    ids, compared = readable, len(readable)
    if len(readable) > MOST_EVENTS:
        exact = (words,) if " " in words else ()
        hits, known = _in_index(toolbox, ViewQuery(NO_VECTOR, MOST_EXACT, text=words, exact=exact)), set(readable)
        ids = [event_id for event_id in dict.fromkeys(hits) if event_id in known]
        compared = compared if len(hits) < MOST_EXACT else len(ids)
    pattern = re.compile(rf"(?<![\w-]){re.escape(plain_words(words))}(?![\w-])")
    having = [event.id for event in worded_events(toolbox, _loaded(toolbox, ids)) if pattern.search(event.text)]
    return frozenset(having), compared


def _nearest(toolbox: Toolbox, statement: str) -> list[UUID]:
    """Return the events nearest to the statement in meaning; none if the embedder fails."""
    try:
        return [hit.event_id for hit in toolbox.search("event", toolbox.text_vector(statement), NEAREST)]
    except ModelError:
        return []


def _in_index(toolbox: Toolbox, query: ViewQuery) -> list[UUID]:
    queries: dict[ViewName, ViewQuery] = {"words": query}
    return [hit.event_id for hit in toolbox.asked.graph.search_views(queries)["words"]]


def _loaded(toolbox: Toolbox, event_ids: Sequence[UUID]) -> Iterator[StoredEvent]:
    for at in range(0, len(event_ids), PAGE):
        yield from toolbox.load(event_ids[at : at + PAGE])


# --- words ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WordedEvent:
    """An event's words. terms: stems of all words. text: all words in lower case, with single spaces."""

    id: UUID
    terms: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class WordMatch:
    """sure: events of which the words alone say that the statement is true. maybe: others with a share of its words,
    best first."""

    sure: frozenset[UUID] = frozenset()
    maybe: tuple[UUID, ...] = ()


def worded_events(toolbox: Toolbox, events: Iterable[StoredEvent]) -> list[WordedEvent]:
    """Return the events' words: summary, speech and writing, and the names of who takes part."""
    events = list(events)
    names: dict[UUID, list[str]] = {}
    for at in range(0, len(events), PAGE):
        for mention in toolbox.asked.graph.entities_of([event.id for event in events[at : at + PAGE]]):
            names.setdefault(mention.event_id, []).append(mention.name)
    found = []
    for event in events:
        spoken = dict.fromkeys(line.text for chunk in event.chunks for line in chunk.transcript)
        written = dict.fromkeys(text for chunk in event.chunks for text in chunk.on_screen_text)
        whole = " ".join((event.summary, *names.get(event.id, ()), *spoken, *written))
        found.append(WordedEvent(event.id, frozenset(content_words(whole, ENGLISH)), plain_words(whole)))
    return found


def match(statement: str, events: Sequence[WordedEvent]) -> WordMatch:
    """Return which of the events the words of a statement point to.

    A rare term weighs more than a frequent one. A term that no event has may have been described in another word: it
    counts half as much as the rarest, so that without it words alone decide nothing.
    """
    terms = frozenset(content_words(statement, ENGLISH))
    found = Counter(term for event in events for term in event.terms & terms)
    weights = {term: math.log(1 + len(events) / found[term]) for term in found}
    if not weights:
        return WordMatch()
    total = sum(weights.values()) + (len(terms) - len(weights)) * UNSEEN * math.log(1 + len(events))
    coverage = {event.id: sum(weights[term] for term in event.terms & weights.keys()) / total for event in events}
    sure = frozenset(event_id for event_id, share in coverage.items() if share >= SURE_COVERAGE)
    maybe = [event_id for event_id, share in coverage.items() if LEAST_COVERAGE <= share < SURE_COVERAGE]
    return WordMatch(sure, tuple(sorted(maybe, key=lambda event_id: -coverage[event_id])))


def plain_words(text: str) -> str:
    """Return text in lower case, without punctuation, with single spaces."""
    return " ".join(re.findall(r"[\w'-]+", text.casefold().replace("\u2019", "'")))

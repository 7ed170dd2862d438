"""How far an event's words speak for a statement, without a model: the terms that they share, weighed by rarity."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.ports import StoredEvent

SURE_COVERAGE = 0.8
"""Share of a statement's weight from which an event's own words decide that it is true; an initial value. Below it a
describer may have used other words for the same thing, or the same words for another."""

LEAST_COVERAGE = 0.25
"""Share of a statement's weight from which an event is worth a model's look."""

UNSEEN = 0.5
"""Weight of a term that no event has, as a share of the weight of one that a single event has; an initial value."""


@dataclass(frozen=True, slots=True)
class WordedEvent:
    """An event's words. terms: stems of all words. text: all words in lower case, with single spaces."""

    event: StoredEvent
    terms: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class WordMatch:
    """sure: events of which the words alone say that the statement is true. maybe: others with a share of its words,
    best first."""

    sure: frozenset[UUID]
    maybe: tuple[UUID, ...] = ()


def worded(event: StoredEvent, names: Iterable[str] = ()) -> WordedEvent:
    """Return an event's words: its summary, speech and writing, and the names of who takes part."""
    spoken = dict.fromkeys(line.text for chunk in event.chunks for line in chunk.transcript)
    written = dict.fromkeys(text for chunk in event.chunks for text in chunk.on_screen_text)
    whole = " ".join((event.summary, *names, *spoken, *written))
    return WordedEvent(event, frozenset(content_words(whole, ENGLISH)), plain_words(whole))


def events_with_words(words: str, events: Sequence[WordedEvent]) -> frozenset[UUID]:
    """Return the events that have these words in a row, as they are."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(plain_words(words))}(?![\w-])")
    return frozenset(item.event.id for item in events if pattern.search(item.text))


def match(statement: str, events: Sequence[WordedEvent]) -> WordMatch:
    """Return which of the events the words of a statement point to.

    A rare term weighs more than a frequent one. A term that no event has may have been described in another word: it
    counts half as much as the rarest, so that without it words alone decide nothing.
    """
    terms = tuple(dict.fromkeys(content_words(statement, ENGLISH)))
    found = Counter(term for item in events for term in item.terms & set(terms))
    weights = {term: math.log(1 + len(events) / found[term]) for term in terms if found[term]}
    if not weights:
        return WordMatch(frozenset())
    total = sum(weights.values()) + (len(terms) - len(weights)) * UNSEEN * math.log(1 + len(events))
    coverage = {item.event.id: sum(weights[term] for term in item.terms & weights.keys()) / total for item in events}
    sure = frozenset(event_id for event_id, share in coverage.items() if share >= SURE_COVERAGE)
    maybe = [event_id for event_id, share in coverage.items() if LEAST_COVERAGE <= share < SURE_COVERAGE]
    return WordMatch(sure, tuple(sorted(maybe, key=lambda event_id: -coverage[event_id])))


def plain_words(text: str) -> str:
    """Return text in lower case, without punctuation, with single spaces."""
    return " ".join(re.findall(r"[\w'-]+", text.casefold().replace("\u2019", "'")))

"""How far an event's words speak for a statement, without a model: the terms that they share, weighed by rarity."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from gpu_workers.engine.answering.routes.word_rules import content_sequence, decisive_words, negated_words, stem
from gpu_workers.engine.ports import StoredEvent

SURE_COVERAGE = 0.8
"""Share of a statement's weight from which an event's own words decide that it is true; an initial value. Below it a
describer may have used other words for the same thing, or the same words for another."""

LEAST_COVERAGE = 0.25
"""Share of a statement's weight from which an event is worth a model's look."""

STEM = 7
"""Maximum number of letters of a stem."""

LITERAL_WORDS = 2
"""Maximum number of words after "say" that are the words said; more of them say what was said, as to whom."""

LEAST_FORM = 4
"""Minimum number of letters of a stem to which an ending was added."""

UNSEEN = 0.5
"""Weight of a term that no event has, as a share of the weight of one that a single event has; an initial value."""

_SPEAKERS = (
    r"(?:(?:is|are|was|were|the (?:word|name|term)|any(?:one|body)|some(?:one|body)|people|they|he|she|we|er|sie|man|"
    r"jemand|él|ella|alguien)\W+)*"
)
_THAT = r"(?:(?:er|sie|es|man|jemand|él|ella|alguien) )?(?:that |of )?"
_SAY = re.compile(
    rf"^[^\w\"“„«「]*{_SPEAKERS}(?:sa(?:y|ys|id|ying)|sagt\w*|gesagt|dicen?|dijo|dijeron|说|說)\b"
    rf"[^\w\"“„«「]*{_THAT}(?P<rest>.+)$",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"^(?:is |are |was |were )?(?P<rest>.+?)\W+(?:(?:is|are|was|were|be|been) )?(?:said|spoken|gesagt)$", re.IGNORECASE
)
_MENTION = re.compile(
    rf"^\W*{_SPEAKERS}(?:mention(?:s|ed|ing)?|speaks? of|contain(?:s|ed|ing)?|erwähn\w*|mencion\w*|提到|ذكر)\b\W*"
    rf"{_THAT}(?P<rest>.+)$",
    re.IGNORECASE,
)
_MENTIONED = re.compile(
    r"^\W*(?:is |are |was |were )?(?P<rest>.+?)\W+(?:(?:is|are|was|were|be|been) )?(?:mentioned|erwähnt)$",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"^(?:the |das |la |el |die )?(?:exact )?(?:words?|names?|terms?|phrases?|wort|worte|begriff|ausdruck|palabras?|"
    r"frase|término|nombre)\s+",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«「]([^\"”“»」]{1,100})[\"”“»」]")
_ARTICLES = re.compile(r"^(?:a|an|the|any|some)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Worded:
    """An event's words. heard: what is said and written. terms: stems of all words. pairs: adjacent stems of the
    summary. text: all words in lower case, with single spaces."""

    event: StoredEvent
    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    negated: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    """sure: events of which the words alone say that the statement is true. maybe: others with a share of its words,
    best first. exact: whether the statement is about the words themselves, so that nothing is left to judge."""

    sure: frozenset[UUID]
    maybe: tuple[UUID, ...]
    exact: bool = False


def worded(event: StoredEvent, names: Iterable[str] = ()) -> Worded:
    """Return an event's words: its summary, speech and writing, and the names of who takes part."""
    spoken = dict.fromkeys(line.text for chunk in event.chunks for line in chunk.transcript)
    written = dict.fromkeys(text for chunk in event.chunks for text in chunk.on_screen_text)
    whole = " ".join((event.summary, *names, *spoken, *written))
    summary = [terms_of(part) for part in re.split(r"[.;!?]", event.summary)]
    pairs = {pair for part in summary for pair in _adjacent(part)}
    return Worded(event, frozenset(terms_of(whole)), frozenset(pairs), _denied(event.summary), _plain(whole))


def match(statement: str, events: Sequence[Worded]) -> Match:
    """Return which of the events the words of a statement point to.

    A statement that something is mentioned, said or written is exact: it is true of the events that hold these words.
    Else a rare term weighs more than a frequent one. A term that no event has may have been described in another word:
    it counts half as much as the rarest, so that without it words alone decide nothing.
    """
    if (words := mentioned_words(statement)) is not None:
        quoted = _QUOTED.search(statement) is not None
        return Match(frozenset(item.event.id for item in events if _holds(item, words, quoted)), (), exact=True)
    known = frozenset().union(*(item.terms for item in events))
    terms = tuple(dict.fromkeys(_known_form(term, known) for term in terms_of(statement)))
    found = Counter(term for item in events for term in item.terms & set(terms))
    weights = {term: math.log(1 + len(events) / found[term]) for term in terms if found[term]}
    total = sum(weights.values()) + (len(terms) - len(weights)) * UNSEEN * math.log(1 + len(events))
    if not weights:
        return Match(frozenset(), ())
    needed = _bound(statement) & {pair for item in events for pair in item.pairs}
    denied = _denied(statement)
    coverage: dict[UUID, float] = {}
    for item in events:
        share = sum(weights[term] for term in item.terms & weights.keys()) / total
        if share and not needed <= item.pairs:
            share = min(share, SURE_COVERAGE - 0.01) / 2
        if (item.negated - denied) & weights.keys():
            share = min(share, SURE_COVERAGE - 0.01)
        coverage[item.event.id] = share
    sure = frozenset(event_id for event_id, share in coverage.items() if share >= SURE_COVERAGE)
    maybe = [event_id for event_id, share in coverage.items() if LEAST_COVERAGE <= share < SURE_COVERAGE]
    return Match(sure, tuple(sorted(maybe, key=lambda event_id: -coverage[event_id])))


def said_words(statement: str) -> str | None:
    """Return the words that a statement says are spoken; None if it is about something else."""
    return _words_in(statement, _SAY.match(statement) or _SAID.match(statement))


def mentioned_words(statement: str) -> str | None:
    """Return the words that a statement says are said or written; None if it is about something else."""
    return said_words(statement) or _words_in(statement, _MENTION.match(statement) or _MENTIONED.match(statement))


def _words_in(statement: str, found: re.Match[str] | None) -> str | None:
    if found is None:
        return None
    if quoted := _QUOTED.search(statement):
        return _plain(quoted[1]) or None
    rest = found["rest"].strip()
    words = _plain(_ARTICLES.sub("", _TERM.sub("", rest)))
    return (words or None) if _TERM.search(rest) or len(words.split()) <= LITERAL_WORDS else None


def terms_of(text: str) -> list[str]:
    """Return the stems of the words that carry meaning, in order; indefinite persons and empty verbs are left out.

    Past forms stand for their verbs, and a stem has at most STEM letters, so that a delivery is delivered.
    """
    present = re.sub(r"\w+", lambda word: _PAST.get(word[0], word[0]), text.lower())
    return [term[:STEM] for term in content_sequence(present) if term not in _EMPTY]


def _known_form(term: str, known: Collection[str]) -> str:
    """Return a term as events have it: "sign" for "signatu", if none has the term itself."""
    if term in known:
        return term
    forms = [term[:n] for n in range(len(term) - 1, LEAST_FORM - 1, -1) if term[:n] in known]
    return next((form for form in forms if term[len(form) :] in _DERIVED), term)


def _holds(item: Worded, words: str, quoted: bool) -> bool:
    """Whether an event holds the words: as they are, or, if they are one word without quotes, in another form."""
    if re.search(rf"(?<![\w-]){re.escape(words)}(?![\w-])", item.text):
        return True
    if quoted and words.isascii():
        return False
    terms = [stem(word)[:STEM] for word in words.split()]
    return len(terms) == 1 and terms[0] in item.terms if words.isascii() else words in item.text


def _bound(statement: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of a colour and the word after it, which belong together wherever they are true."""
    colours = {stem(word)[:STEM] for word in decisive_words(statement) if word.isalpha()}
    return frozenset(pair for pair in _adjacent(terms_of(statement)) if pair[0] in colours)


def _denied(text: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in negated_words(text))


def _adjacent(terms: Sequence[str]) -> list[tuple[str, str]]:
    return list(pairwise(terms))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[\w'-]+", text.casefold().replace("\u2019", "'")))


_PAST_FORMS = """
leapt leap brought bring broke break broken break drank drink gave give given give fell fall fallen fall rang ring
rung ring threw throw thrown throw caught catch bought buy sold sell spoke speak spoken speak wrote write written
write drove drive driven drive rode ride ridden ride swam swim ate eat eaten eat fed feed held hold kept keep lost
lose met meet paid pay said say sent send shook shake shot shoot sang sing slept sleep stole steal stolen steal swept
sweep taught teach wore wear worn wear won win hid hide hidden hide bit bite bitten bite built build dug dig drew draw
drawn draw flew fly flown fly froze freeze frozen freeze hung hang knelt kneel laid lay lit light rose rise slid slide
stuck stick struck strike tore tear torn tear woke wake shut shut began begin begun begin found find led lead
"""
_PAST_WORDS = _PAST_FORMS.split()
_PAST = dict(zip(_PAST_WORDS[::2], _PAST_WORDS[1::2], strict=True))
"""English verbs by their past forms that no ending shows."""

_DERIVED = frozenset(["a", "al", "at", "atio", "atu", "er", "eri", "i", "ing", "io", "ion", "ment", "or", "um", "y"])
"""Endings that make another word of a stem, as far as STEM letters hold them."""

_EMPTY_WORDS = """
people person persons someone somebody something anyone anybody anything everyone everybody one again he she him her
we you i me them out up off over after through happen happens occur occurs appear appears visible seen shown show come
comes go goes get gets put puts take takes make makes be being time times between during towards against who video
recording total number
"""
_EMPTY = frozenset(map(stem, _EMPTY_WORDS.split()))
"""Stems of indefinite persons, and of verbs and particles that hardly distinguish one happening from another."""

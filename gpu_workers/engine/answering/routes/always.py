"""What speaks against a statement that is asked for as true all the time.

Events that say nothing of it are neither for nor against it, so a statement is never proven by silence: the answer says
how many events say so, and that none says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.answering.ending.verify import by_entailment
from gpu_workers.engine.answering.routes.matching import STEM, terms_of
from gpu_workers.engine.answering.routes.word_rules import decisive_words, miscounted, opposed_words, stem
from gpu_workers.engine.models.observer.categories import ANIMALS, VEHICLES
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.retrieval.object_names import singular

MOST_ENTAILED = 64
"""Maximum number of events about the same things that the entailer compares with the statement."""

_OTHERWISE = 'It is said or seen that this is not so: "{statement}"'
_NOBODY = re.compile(
    r"\b(?:nobody|no[ -]one|no (?:person|people)|empty|unattended|unoccupied|deserted)\b", re.IGNORECASE
)
_SOMEBODY = re.compile(r"\b(?:some(?:one|body)|any(?:one|body)|an? person|people)\b", re.IGNORECASE)
_NONE_SEEN = re.compile(
    r"\bno (?P<things>\w+(?: \w+)?(?:, \w+(?: \w+)?)*(?:,? (?:or|and|nor) \w+(?: \w+)?)?) (?:is|are|was|were|can be) "
    r"(?:detected|visible|seen|shown|in view|present|there)\b",
    re.IGNORECASE,
)
_INDEFINITE = re.compile(r"(?:an?|some\w*|any\w*|one|two|three|four|five|\d+|people|at least \w+)\b", re.IGNORECASE)
_PLACED = re.compile(r"\b(?:in|at|on|near|by|inside|outside|behind|under|beside|before)\b", re.IGNORECASE)
_PEOPLE_WORDS = "person people man men woman women child children boy girl guard worker visitor customer"
_PEOPLE = frozenset(_PEOPLE_WORDS.split())
_NEGATION = re.compile(r"\b(?:(?P<noun>no|without)|not|never|cannot)\b|n't\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[.;!?]|,|\b(?:and|but|while|whereas|then)\b", re.IGNORECASE)


def otherwise_statement(statement: str) -> str:
    """Return the statement that a reasoner judges to find what speaks against another one."""
    return _OTHERWISE.format(statement=statement)


def otherwise_by_words(desk: Desk, statement: str, events: Sequence[StoredEvent]) -> frozenset[UUID]:
    """Return the events whose words say that the statement is not true: by opposites, negation, another number or
    another colour of the same things, and by the entailer where one is served."""
    found = {event.id for event in events if says_otherwise(statement, event_text(event))}
    if desk.asked.entailer is not None:
        terms = frozenset(terms_of(statement))
        shared = {event.id: len(terms & frozenset(terms_of(event_text(event)))) for event in events}
        about = sorted((event for event in events if shared[event.id]), key=lambda event: -shared[event.id])
        texts = {event.id: event_text(event) for event in about[:MOST_ENTAILED]}
        links = [(0, event_id) for event_id in texts]
        verdicts = by_entailment(desk.asked, desk.calls, [statement], links, texts)
        found |= {event_id for (_, event_id), verdict in verdicts.items() if verdict == "contradicted"}
    return frozenset(found)


def says_otherwise(statement: str, text: str) -> bool:
    """Whether a clause of an English text says of the same things that the statement is not true of them."""
    if _INDEFINITE.match(statement) and _none_seen(statement, text):
        return True
    whole = frozenset(terms_of(statement))
    clauses = [clause for clause in _CLAUSES.split(text) if clause.strip()]
    return bool(whole) and any(_denies(clause, statement, whole) for clause in clauses)


def _none_seen(statement: str, text: str) -> bool:
    """Whether a text says that nothing of the kind that a statement begins with is seen: "no person, animal or vehicle
    is detected" about "a dog in the yard"."""
    thing, *_ = _PLACED.split(statement, maxsplit=1)
    words = _singulars(thing)
    kinds = set(words)
    kinds |= {"person"} if words & _PEOPLE or _SOMEBODY.search(thing) else set()
    kinds |= {"animal"} if words & ANIMALS else set()
    kinds |= {"vehicle"} if words & VEHICLES else set()
    return any(kinds & _singulars(match["things"]) for match in _NONE_SEEN.finditer(text))


def _singulars(text: str) -> frozenset[str]:
    return frozenset(map(singular, re.findall(r"\w+", text.lower())))


def _denies(clause: str, statement: str, whole: frozenset[str]) -> bool:
    terms = frozenset(terms_of(clause))
    if not whole & terms:
        return False
    if _SOMEBODY.search(statement) and _NOBODY.search(clause) and whole <= terms:
        return True
    # What is left must be there, and something must be left: "the gate is open" is about the gate.
    denied = _denied(clause) - _denied(statement)
    if denied & whole and whole - denied and whole - denied <= terms:
        return True
    against = opposed_words(clause, statement)
    left = whole - _terms(opposed_words(statement, clause))
    if against and left and left <= terms and _beside(clause, against, left):
        return True
    if miscounted(statement, clause):
        return frozenset(term for term in whole if not term.isdigit()) <= terms
    ours, theirs = (
        frozenset(stem(word) for word in decisive_words(part) if word.isalpha() and word != "yes")
        for part in (statement, clause)
    )
    named = whole - _terms(ours)
    differs = bool(ours and theirs and named) and not ours & theirs
    return differs and named <= terms and _beside(clause, theirs, named)


def _denied(clause: str) -> frozenset[str]:
    """Return the terms that a clause denies: the one after "no" or "without", the two after "not"."""
    denied: set[str] = set()
    for match in _NEGATION.finditer(clause):
        denied.update(terms_of(clause[match.end() :])[: 1 if match["noun"] else 2])
    return frozenset(denied)


def _beside(clause: str, words: frozenset[str], terms: frozenset[str]) -> bool:
    """Whether one of the words (stems) stands before one of the terms, or after it with a verb between them at most: in
    "a man opens the door near the gate" it is the door that is opened."""
    row: list[str] = []
    for word in re.findall(r"\w+", clause.lower()):
        if stem(word) in words:
            row.append("")
        elif not word.endswith("ly"):
            row += terms_of(word)
    places = [place for place, word in enumerate(row) if not word]
    return any(terms & {*row[max(0, place - 2) : place], *row[place + 1 : place + 2]} for place in places)


def _terms(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(word[:STEM] for word in stems)

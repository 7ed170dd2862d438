"""Whether an answer about the tape is right. Every rule reads what the engine understood, found or said, nothing else.

span: the stretch that was understood and the expected stretch overlap in at least half of their union. If no time was
understood at all, every one of the best FOUND events lies in the expected stretch.
moment: the stretch that was understood contains the middle of the expected one and lasts at most MOMENT_MS, and one of
the best FOUND events is there. end: the stretch that was understood reaches to the tape's end and lasts at most END_MS.
order: the stretch that was understood begins where the anchor ends (or ends where it begins, for "before"), to
ORDER_MS, and contains the expected event, which is the anchor's neighbour. If no time was understood, the expected
event is among the best FOUND events.
nothing: a time was understood, and no part of the tape belongs to it.
event: the expected event is among the best FOUND events.
number: the number of the answer's text differs by at most a tenth from the expected one.
topics: the answer's text has a key of every expected topic. What it names beyond them decides nothing, and is counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bench.evaluation.tape10.question import TapeQuestion
from bench.evaluation.tape10.saying import NUMBERS
from bench.evaluation.tape10.world import World
from gpu_workers.engine.ekg import Span

FOUND = 5
MOMENT_MS = 300_000
END_MS = 900_000
ORDER_MS = 6_000
TENTH = 0.1

_WORDS = {word: n for n, word in enumerate(NUMBERS)} | {"no": 0, "never": 0, "none": 0, "once": 1, "twice": 2}
_TIMES = re.compile(r"\d+:\d\d(?::\d\d)?(?:\s?[ap]\.?m\b\.?)?|\[?\bE\d+\]?|\b\d+(?:st|nd|rd|th)\b", re.IGNORECASE)
_DATES = re.compile(
    r"\b\d{1,2}\.? (?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{4})?"
    r"|\b\d{4}-\d\d-\d\d\b"
)
_NUMBER = re.compile(r"\d+|[a-z]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a question. understood: whether the engine understood a time; spans: the parts of the tape to which
    it was resolved. found: numbers of the events found, best first. text: the answer, "" without one."""

    understood: bool
    spans: tuple[Span, ...]
    found: tuple[int, ...] = ()
    text: str = ""


def right(world: World, question: TapeQuestion, reply: Reply) -> bool:
    """Whether the reply answers the question, by the question's rule."""
    best = [world.moments[n] for n in reply.found[:FOUND]]
    if question.rule == "nothing":
        return reply.understood and not reply.spans
    if question.rule == "number":
        number = number_of(reply.text)
        assert question.number is not None
        return number is not None and abs(number - question.number) <= TENTH * question.number
    if question.rule == "topics":
        return all(names(reply.text, keys) for keys in question.topics)
    if question.rule == "event":
        return question.moment in reply.found[:FOUND]
    if question.rule == "order":
        if not reply.understood:
            return question.moment in reply.found[:FOUND]
        return any(_in_order(world, question, span) for span in reply.spans)
    assert question.span is not None
    if question.rule == "span":
        if not reply.understood:
            return bool(best) and all(moment.span.overlaps(question.span) for moment in best)
        return overlap(reply.spans, question.span) >= 0.5
    understood = any(_understands(world, question, span) for span in reply.spans)
    return understood and (question.rule == "end" or any(moment.span.overlaps(question.span) for moment in best))


def named_beyond(world: World, question: TapeQuestion, text: str) -> int:
    """Return how many topics the answer names that lie outside what was asked for. A topic that is partly in the
    stretch is not among them, and neither is one whose key an event within what was asked for has too."""

    def inside(scene: str, span: Span) -> bool:
        return scene == question.scene if question.span is None else span.overlaps(question.span)

    shown = " ".join(moment.text for moment in world.moments if inside(moment.scene, moment.span))
    outside = {part.key for part in world.parts if part.key not in question.topics}
    outside -= {part.key for part in world.parts if inside(part.scene, part.span)}
    return sum(names(text, keys) and not names(shown, keys) for keys in outside)


def _understands(world: World, question: TapeQuestion, span: Span) -> bool:
    assert question.span is not None
    if question.rule == "end":
        return span.end_ms >= world.span.end_ms - 1_000 and span.duration_ms <= END_MS
    middle = (question.span.start_ms + question.span.end_ms) // 2
    return span.contains(middle) and span.duration_ms <= MOMENT_MS


def _in_order(world: World, question: TapeQuestion, span: Span) -> bool:
    assert question.anchor is not None
    assert question.moment is not None
    anchor, neighbour = world.moments[question.anchor].span, world.moments[question.moment].span
    gap = span.start_ms - anchor.end_ms if neighbour.start_ms >= anchor.end_ms else anchor.start_ms - span.end_ms
    return abs(gap) <= ORDER_MS and span.holds(neighbour)


def overlap(spans: Sequence[Span], expected: Span) -> float:
    """Return the intersection of disjoint spans with the expected one over their union; 0 without spans."""
    shared = sum(part.duration_ms for span in spans if (part := span.cut_to(expected)) is not None)
    whole = sum(span.duration_ms for span in spans) + expected.duration_ms - shared
    return shared / whole


def number_of(text: str) -> int | None:
    """Return the first number of a text, in digits or in words, that is no time, date, ordinal or event's name; None
    without any."""
    plain = _DATES.sub(" ", _TIMES.sub(" ", text))
    for match in _NUMBER.finditer(plain):
        word = match[0].lower()
        if word.isdigit():
            return int(word)
        if word in _WORDS and not (word == "no" and plain[match.end() :].lstrip().startswith(("answer", "evidence"))):
            return _WORDS[word]
    return None


def names(text: str, keys: Sequence[str]) -> bool:
    """Whether the text contains a key as a word, also with an ending of at most three letters."""
    folded = text.casefold().replace("-", " ")
    return any(re.search(rf"\b{re.escape(key.casefold())}\w{{0,3}}\b", folded) for key in keys)

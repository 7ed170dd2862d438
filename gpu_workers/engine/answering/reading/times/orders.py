"""The rules that read an order: after the second delivery, during the last goal, the second delivery and then what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from gpu_workers.engine.answering.reading.expressions import SHORTLY_MS, Day, Expression, Order, PartOfDay
from gpu_workers.engine.answering.reading.times.lexicon import BEFORE_NOUN, Token
from gpu_workers.engine.answering.reading.times.parsing import DURATION, Parsing, length

MOST_ANCHOR_WORDS = 8
"""Maximum number of words that name the event of an order."""

_ORDER: Mapping[str, Literal["after", "before"]] = {">": "after", "<": "before"}
_INDEFINITE = frozenset({"a", "an", "ein", "eine", "einem", "einen", "einer", "un", "una"})
_OF_PLACES = frozenset({"ahead of", "preceding", "in advance of", "leading up to"})
"""Words of order that are words of place as well: "a surfer ahead of the wave"."""
_IT = frozenset({"it", "that", "this", "them"})

_PARTICIPLE = re.compile(r"(?:[a-zäöü]{2,5})?ge[a-zäöüß]+(?:t|en)|[a-zäöü]+iert")
"""A German participle, in lower case."""


def orders(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    """After the second delivery, before the last goal, half an hour after the delivery, shortly before the delivery."""
    for match in parsing.matches(
        rf"(?:(?P<lead>it?[oB]?)?(?P<length>{DURATION})|(?P<shortly>j))?"
        r"(?P<order>[<>])t?(?P<nth>[oQ]?)(?P<anchor>[xatOi&nj-]{1,20})(?=[.W]|V\.|$)"
    ):
        nth = parsing.of(match, "oQ", "nth")
        words = parsing.of(match, "xatOi&nj-", "anchor")
        if parsing.tokens[match.start("order")].value == BEFORE_NOUN:
            words = _up_to_noun(parsing.text, words)
        most = MOST_ANCHOR_WORDS if nth else 1
        if not 1 <= len(words) <= most or words[0].kind != "x":
            continue
        # Without a number only a noun with the article of something known is a sure anchor: "after the delivery", not
        # "after that" or "after a cut".
        article = parsing.tokens[match.start("order") + 1]
        if not nth and (
            _text(parsing, parsing.tokens[match.start("order")]) in _OF_PLACES
            or article.kind != "t"
            or _text(parsing, article) in _INDEFINITE
        ):
            continue
        parsing.take(match, last=words[-1])
        anchor = parsing.text[words[0].start : words[-1].end]
        number = 1 if not nth else 2 if nth[0].kind == "Q" else nth[0].value
        away = length(parsing, match, "length")[0] if match["length"] else 0
        yield Order(
            _ORDER[match["order"]],
            number,
            anchor,
            at_ms=0 if match["lead"] else away,
            within_ms=SHORTLY_MS if match["shortly"] else away if match["lead"] else 0,
        )
    for match in parsing.matches(
        r"t?(?P<nth>[oQ])(?P<anchor>[xatOi&nj-]{1,20}?)V?"
        r"(?:\.{0,2}(?P<then>W)|\.{1,2}[xatOij]{1,8}(?P<order>[<>])(?P<it>V|l|O?x)?(?=\.|$))"
    ):
        (which,) = parsing.of(match, "oQ", "nth")
        words = parsing.of(match, "xatOi&nj-", "anchor")
        it = parsing.of(match, "x", "it")
        if words[0].kind != "x" or len(words) > MOST_ANCHOR_WORDS or (it and it[0].value not in _IT):
            continue
        parsing.take(match)
        anchor = parsing.text[words[0].start : words[-1].end]
        order = parsing.tokens[match.start("then")].value if match["then"] else _ORDER[match["order"]]
        yield Order(order, 2 if which.kind == "Q" else which.value, anchor)


DURING = frozenset({"during", "while", "whilst", "während", "durante", "mientras"})
_WHILE = frozenset({"while", "whilst", "mientras"})
"""Words before a clause. The German word stands before a noun as well."""


def meetings(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    """During the second delivery, while the alarm rang, between the first and the second delivery."""
    for match in parsing.matches(r"it?(?P<nth>[oQ])(?P<anchor>x[xatOi&nj-]{0,20})(?=[.W]|V\.|$)"):
        words = parsing.of(match, "xatOi&nj-", "anchor")
        if _text(parsing, parsing.tokens[match.start()]) in DURING and len(words) <= MOST_ANCHOR_WORDS:
            parsing.take(match)
            yield Order("during", _number(parsing, match, "nth"), _anchor(parsing, words))
    for match in parsing.matches(r"it(?P<anchor>x[xatOi-]{1,12})(?=\.|$)"):
        words = parsing.of(match, "xatOi-", "anchor")
        lead, article = parsing.tokens[match.start()], parsing.tokens[match.start() + 1]
        known = _text(parsing, lead) in _WHILE and _text(parsing, article) not in _INDEFINITE
        if known and len(words) <= MOST_ANCHOR_WORDS:
            parsing.take(match)
            yield Order("during", 0, _anchor(parsing, words))
    for match in parsing.matches(
        r"bt?(?P<one>[oQ])(?P<from>[xatOinj-]{0,12})&t?(?P<two>[oQ])(?P<to>x[xatOi&nj-]{0,20})(?=[.W]|V\.|$)"
    ):
        words, last = (parsing.of(match, "xatOi&nj-", group) for group in ("from", "to"))
        if len(words) > MOST_ANCHOR_WORDS or len(last) > MOST_ANCHOR_WORDS or (words and words[0].kind != "x"):
            continue
        parsing.take(match)
        one, two = (_number(parsing, match, group) for group in ("one", "two"))
        anchor = _anchor(parsing, words or last)
        yield Order("between", one, anchor, last_nth=two, last_anchor=_anchor(parsing, last))


def _number(parsing: Parsing, match: re.Match[str], group: str) -> int:
    (token,) = parsing.of(match, "oQ", group)
    return 2 if token.kind == "Q" else int(token.value)


def _anchor(parsing: Parsing, words: list[Token]) -> str:
    return parsing.text[words[0].start : words[-1].end]


def _text(parsing: Parsing, token: Token) -> str:
    return parsing.text[token.start : token.end].lower()


def _up_to_noun(text: str, words: list[Token]) -> list[Token]:
    """Return the words up to their last noun, without the verbs after it: "Lieferung" of "Lieferung passiert ist".

    Nouns are capitalised. In a text without capitals only participles are left out.
    """
    pieces = [text[word.start : word.end] for word in words]
    nouns = [n for n, piece in enumerate(pieces) if piece != piece.lower()]
    if nouns:
        return words[: nouns[-1] + 1]
    count = len(words)
    while count > 1 and _PARTICIPLE.fullmatch(pieces[count - 1]):
        count -= 1
    return words[:count]

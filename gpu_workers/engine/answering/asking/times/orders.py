"""The rule that reads an order: after the second delivery, before the last goal, the second delivery and then what."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_workers.engine.answering.asking.times.expressions import Day, Expression, Order, PartOfDay
from gpu_workers.engine.answering.asking.times.parsing import Parsing

MOST_ANCHOR_WORDS = 8
"""Maximum number of words that name the event of an order."""


def orders(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    """After the second delivery, before the last goal, after the delivery."""
    for match in parsing.matches(r"(?P<order>[<>])t?(?P<nth>[oQ]?)(?P<anchor>[xatOi&n-]{1,20})(?=\.|$)"):
        nth = parsing.of(match, "oQ", "nth")
        words = parsing.of(match, "xatOi&n-", "anchor")
        most = MOST_ANCHOR_WORDS if nth else 1
        if not 1 <= len(words) <= most or words[0].kind != "x":
            continue
        # Without a number only a noun with its article is a sure anchor: "after the delivery", not "after that".
        if not nth and "t" not in match.group():
            continue
        parsing.take(match)
        anchor = parsing.text[words[0].start : words[-1].end]
        number = 1 if not nth else 2 if nth[0].kind == "Q" else nth[0].value
        yield Order("after" if match["order"] == ">" else "before", number, anchor)
    for match in parsing.matches(r"t?(?P<nth>[oQ])(?P<anchor>[xatOi&n-]{1,20})\.{0,2}(?P<then>W)"):
        (which,) = parsing.of(match, "oQ", "nth")
        words = parsing.of(match, "xatOi&n-", "anchor")
        if words[0].kind != "x" or len(words) > MOST_ANCHOR_WORDS:
            continue
        parsing.take(match)
        anchor = parsing.text[words[0].start : words[-1].end]
        yield Order(parsing.tokens[match.start("then")].value, 2 if which.kind == "Q" else which.value, anchor)

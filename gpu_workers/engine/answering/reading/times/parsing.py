"""A question as tokens, and which of them a rule has taken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpu_workers.engine.answering.reading.times.lexicon import Token

ALSO = frozenset({"and", "or", "und", "oder", "sowie", "y", "y la", "y las", "o"})
"""Words that name one more time. Others, such as to and until, join two times to the stretch between them."""

DURATION = r"(?:d|n-?[uQ](?:&?n-?[uQ])*|[uQ])"
"""A length of time, over the kinds of tokens."""


@dataclass(frozen=True, slots=True)
class Parsing:
    """tokens with their kinds as a string, and which of them a rule has taken."""

    text: str
    tokens: Sequence[Token]
    kinds: str
    taken: list[bool]

    def matches(self, pattern: str) -> Iterator[re.Match[str]]:
        """Yield the matches of pattern in which no token is taken, from left to right; the caller takes them."""
        for match in re.finditer(pattern, self.kinds):
            if match.end() > match.start() and not any(self.taken[match.start() : match.end()]):
                yield match

    def take(self, match: re.Match[str], *, last: Token | None = None) -> None:
        """Take the tokens of a match, up to last if it is given."""
        end = match.end() if last is None else self.tokens.index(last) + 1
        self.taken[match.start() : end] = [True] * (end - match.start())

    def also(self, index: int) -> bool:
        """Whether the token at index says that one more time follows."""
        token = self.tokens[index]
        return self.text[token.start : token.end].lower() in ALSO

    def of(self, match: re.Match[str], kinds: str, group: int | str = 0) -> list[Token]:
        """Return the tokens of these kinds in a match."""
        start, end = match.span(group)
        return [token for token in self.tokens[start:end] if token.kind in kinds] if start >= 0 else []


def length(parsing: Parsing, match: re.Match[str], group: str) -> tuple[int, int]:
    """Return the DURATION of a group in ms, and its smallest unit."""
    total, number, smallest = 0, None, 0
    for token in parsing.of(match, "dnuQ", group):
        if token.kind == "n":
            number = token.value
            continue
        unit = token.value
        total += unit * (1 if number is None or token.kind == "d" else number)
        smallest = min(smallest or unit, unit)
        number = None
    return total, min(smallest, 60_000)

"""A question as tokens, and which of them a rule has taken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpu_workers.engine.answering.asking.times.lexicon import Token


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

    def of(self, match: re.Match[str], kinds: str, group: int | str = 0) -> list[Token]:
        """Return the tokens of these kinds in a match."""
        start, end = match.span(group)
        return [token for token in self.tokens[start:end] if token.kind in kinds] if start >= 0 else []

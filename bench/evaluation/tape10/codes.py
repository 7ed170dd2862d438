"""Names, numbers and codes of the tape: each code once, decoys one character away, and the errors of a text reader."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

SURNAMES = (
    "Petersen", "Yilmaz", "Okafor", "Lindqvist", "Moreau", "Castellano", "Novak", "Haddad", "Brandt", "Ivanova",
    "Fitzgerald", "Nakamura", "Oyelaran", "Schreiber", "Kowalska", "Dubois", "Albrecht", "Santoro", "Vestergaard",
    "Rahman", "Tschirner", "Quintero", "Bergmann", "Achterberg", "Lefebvre", "Mbeki", "Halloran", "Zielinski",
    "Thorvald", "Papadakis", "Eriksen", "Wozniak", "Marchetti", "Sandoval", "Duval", "Krueger", "Osman", "Jelinek",
)  # fmt: skip
"""Names of people that are said and written."""

_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
_CITIES = ("B", "HH", "M", "K", "F", "S", "DD", "L", "HB", "KI", "MD", "ER", "WI", "FR")
_CONFUSED = {"0": "O", "O": "0", "1": "I", "I": "1", "8": "B", "B": "8", "5": "S", "S": "5", "2": "Z", "Z": "2"}
"""Characters that readers of text take for each other."""


class Codes:
    """Draws codes that never repeat and that differ from each other in at least two characters, except for decoys."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._used: set[str] = set()
        self._numbers = [str(n) for n in range(104, 990) if n % 10]
        rng.shuffle(self._numbers)

    def name(self) -> str:
        return self._rng.choice(SURNAMES)

    def number(self) -> str:
        """Return a number of three digits that was not drawn before, as long as there are any."""
        return self._numbers.pop() if self._numbers else str(self._rng.randrange(1_000, 9_999))

    def new(self, kind: str) -> str:
        """Return a new code of a kind: plate, order, lot, sensor, badge or contract."""
        while True:
            code = _MAKERS[kind](self._rng)
            if all(distance(code, other) > 1 for other in self._used):
                self._used.add(code)
                return code

    def decoys(self, code: str, count: int) -> Iterator[str]:
        """Yield other codes that differ from code in one character."""
        while count:
            position = self._rng.randrange(len(code))
            pool = "0123456789" if code[position].isdigit() else _LETTERS if code[position].isalpha() else ""
            if not pool:
                continue
            other = code[:position] + self._rng.choice(pool) + code[position + 1 :]
            if other not in self._used:
                self._used.add(other)
                count -= 1
                yield other

    def misread(self, code: str) -> str:
        """Return the code as a text reader may show it: one character confused, or a hyphen or space lost."""
        spots = [n for n, letter in enumerate(code) if letter in _CONFUSED]
        if spots and self._rng.random() < 0.7:
            spot = self._rng.choice(spots)
            return code[:spot] + _CONFUSED[code[spot]] + code[spot + 1 :]
        return code.replace("-", " ", 1) if "-" in code and self._rng.random() < 0.5 else code.replace("-", "", 1)


def distance(left: str, right: str) -> int:
    """Return the number of places in which two codes of one length differ; their lengths' difference plus one if the
    lengths differ."""
    if len(left) != len(right):
        return abs(len(left) - len(right)) + 1
    return sum(a != b for a, b in zip(left, right, strict=True))


def _letters(rng: random.Random, count: int) -> str:
    return "".join(rng.choice(_LETTERS) for _ in range(count))


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choice("0123456789") for _ in range(count))


_MAKERS: dict[str, Callable[[random.Random], str]] = {
    "plate": lambda rng: f"{rng.choice(_CITIES)}-{_letters(rng, 2)} {rng.randrange(100, 9_999)}",
    "order": lambda rng: f"{_digits(rng, 5)}-{_letters(rng, 2)}",
    "lot": lambda rng: f"L{_digits(rng, 3)}-{_letters(rng, 1)}{_digits(rng, 2)}",
    "sensor": lambda rng: f"T{_letters(rng, 1)}-{_digits(rng, 4)}",
    "badge": lambda rng: f"V-{_digits(rng, 5)}",
    "contract": lambda rng: f"{_letters(rng, 2)}-{_digits(rng, 4)}",
}

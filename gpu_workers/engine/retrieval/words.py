"""Words of texts as tokens: how the view of words reads what is shown, said, written and asked.

A token is a run of letters and digits, without differences of case and of compatible forms (NFKC). Scripts that are
written without spaces give one token per character. Both stores and every query take their tokens from here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.languages.words import stemmed

TOKEN_CHARACTERS = 60
"""Number of characters by which two tokens are compared. No row of an index holds more."""

LEAST_STEMMED = 4
"""Minimum number of characters of a word that is stemmed."""

_BY_CHARACTER = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, kana and Han: scripts that put no spaces between words."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token and the part start..end of the text that it was read from. dense: one character of a script without
    spaces. written: as the text has it."""

    folded: str
    start: int
    end: int
    written: str
    dense: bool = False


def tokens(text: str) -> list[Token]:
    """Return the tokens of text in order. Every character has a meaning of its own or none; no text raises."""
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    for run in _runs().finditer(text):
        if run.group().isascii():  # one token, and lower case is all that folding does
            yield Token(run.group().lower()[:TOKEN_CHARACTERS], run.start(), run.end(), run.group())
            continue
        folded = _folded(run.group())
        for part in _runs().finditer(folded):
            word = part.group()
            # An offset inside the run is kept only where folding kept the characters.
            start, end = (part.start(), part.end()) if len(folded) == len(run.group()) else (0, len(run.group()))
            written = run.group()[start:end]
            yield Token(
                word[:TOKEN_CHARACTERS], run.start() + start, run.start() + end, written, bool(_dense().match(word))
            )


def plain(token: str) -> str:
    """Return token without accents and vowel points: cafe for café."""
    if token.isascii():
        return token
    bare = "".join(c for c in unicodedata.normalize("NFKD", token) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", bare) or token


def canonical(texts: Sequence[str]) -> str:
    """Return the tokens of the texts, a line per text, each between spaces. A phrase is in a text if phrase_of(phrase)
    is in this."""
    return "\n".join(line for text in texts if (line := phrase_of(text)))


def phrase_of(text: str) -> str:
    """Return the tokens of text between spaces; "" without a token."""
    words = " ".join(token.folded for token in tokens(text))
    return f" {words} " if words else ""


@lru_cache(maxsize=65_536)
def stem(word: str, language: str = ENGLISH) -> str:
    """Return the stem of a word in lower case by its language's Snowball stemmer; the word itself without one.

    language: ISO 639-1 code. A word with a digit has no stem.
    """
    if not word.isalpha() or len(word) < LEAST_STEMMED:
        return word
    return stemmed([word], language)[0] or word


def _folded(text: str) -> str:
    # Twice, since folding may leave characters that are composed or compatible.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@cache
def _runs() -> re.Pattern[str]:
    """Return the pattern of one token: a character of a dense script with its marks, or a run of other letters, digits
    and marks. Controls, formats (as of direction) and unpaired surrogates end a token."""
    marks = _classes(("Mn", "Mc", "Me"))
    return re.compile(f"[{_BY_CHARACTER}][{marks}]*|(?:(?![{_BY_CHARACTER}])[^\\W_][{marks}]*)+")


@cache
def _dense() -> re.Pattern[str]:
    return re.compile(f"[{_BY_CHARACTER}]")


def _classes(categories: tuple[str, ...]) -> str:
    """Return the characters of these Unicode categories as the inside of a character class."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x1F000):
        if unicodedata.category(chr(code)) in categories:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


# --- words in quotation marks, which must be found exactly -----------------------------------------------------------

_PAIRS = (('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("«", "»"), ("»", "«"), ("「", "」"), ("『", "』"))
QUOTED = re.compile("|".join(f"{first}([^{first}{last}]*){last}" for first, last in _PAIRS))
"""A quotation with its marks."""

_MARKS = re.compile('["“”„«»「」『』]')


def quoted(text: str) -> tuple[str, tuple[str, ...]]:
    """Return text without its quotation marks, and the phrases that were between a pair of them, each once.

    A mark without a partner, and marks around something without a letter or digit, quote nothing. Apostrophes are no
    quotation marks.
    """
    phrases = ("".join(match.groups("")).strip() for match in QUOTED.finditer(text))
    exact = tuple(dict.fromkeys(phrase for phrase in phrases if phrase_of(phrase)))
    return " ".join(_MARKS.sub(" ", text).split()), exact

"""Words of time in one language, and how a text is read with them: each word becomes a token of one kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_workers.engine.answering.reading.expressions import Day, Reading
from gpu_workers.engine.retrieval.quotation import QUOTED

KINDS = {
    "a": "at, on",
    "b": "between",
    "f": "from",
    "&": "and, to",
    "i": "in, during",
    "t": "an article",
    "O": "of",
    "n": "a number",
    "o": "an ordinal; last is -1",
    "u": "a unit, in ms",
    "Q": "second: a unit or an ordinal",
    "d": "a duration, in ms",
    "c": "a reading of a clock",
    "H": "a share: half is 2, quarter is 4",
    "B": "beginning",
    "E": "end",
    "e": "the last shot, in one phrase with its article",
    "Z": "at the beginning, in one phrase",
    "Y": "at the end, in one phrase",
    "M": "middle",
    "h": "halfway through the video, in one phrase",
    "V": "of the video",
    "l": "of it: of the video, or of something else",
    "N": "into the video",
    "y": "a day by its distance from today, perhaps with its part, or another day with its part",
    "G": "days ago, after their number: 1 for days, 7 for weeks",
    "J": "a day, after or before its number, or with it as the value",
    "w": "a weekday",
    "m": "a month",
    "D": "a date",
    "p": "a part of the day",
    ">": "after",
    "<": "before, until",
    "S": "when the clock showed",
    "g": "about",
    "j": "shortly, before after or before",
    "K": "o'clock",
    "k": "mark, of a time of the video",
    "s": "on the clock, after its reading",
    "C": "a word that hints at a time of another form",
    "P": "a move of a player: skip to",
    "R": "on: the rest of the video",
    "W": "what comes after, or before, the event that was named just now",
    "L": "left: the rest of the video",
    "x": "another word",
    ".": "the end of a clause",
    "-": "another sign",
}
"""Kinds of tokens. A pattern of the grammar is a regular expression over these letters."""

BEFORE_NOUN = "before a noun"
"""Value of "after" and "before" in a language that capitalises nouns, and puts verbs after what these words name."""


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    value: Any
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A language's words of time. phrases: kind and value by the words in lower case, single spaces between them."""

    language: str
    phrases: Mapping[str, tuple[str, Any]]
    longest: int = field(default=1)

    @classmethod
    def of(cls, language: str, *tables: Mapping[str, tuple[str, Any]]) -> Lexicon:
        phrases = {phrase: entry for table in tables for phrase, entry in table.items()}
        return cls(language, phrases, max(len(phrase.split()) for phrase in phrases))


def entries(kind: str, words: str | Mapping[str, Any], value: Any = None) -> dict[str, tuple[str, Any]]:
    """Return entries of one kind: words separated by " / ", all with value, or each with a value of its own."""
    if isinstance(words, str):
        return dict.fromkeys(words.split(" / "), (kind, value))
    return {word: (kind, each) for words_of, each in words.items() for word in words_of.split(" / ")}


def listed(words: str) -> list[str]:
    return words.split()


def numbered(words: Iterable[str], *, first: int = 0) -> dict[str, int]:
    return {word: number for number, word in enumerate(words, start=first)}


_HALF = r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?)"
_PIECES = re.compile(
    rf"(?P<quoted>{QUOTED.pattern})"
    r"|(?P<iso>(?<!\d)(?P<y>\d{4})-(?P<mo>\d{1,2})-(?P<da>\d{1,2})(?!\d))"
    r"|(?P<dotted>(?<![\d.:])(?P<da2>\d{1,2})\.(?P<mo2>\d{1,2})\.(?P<y2>\d{4})?(?!\d))"
    rf"|(?P<clock>(?<![\d:/])(?<!(?<!\.)\.)(?P<h>\d{{1,3}}):(?P<mi>[0-5]\d)(?::(?P<s>[0-5]\d))?(?!\d|:\d){_HALF}?)"
    rf"|(?P<hour>(?<![\d:/.])(?P<h2>\d{{1,2}})(?:\.(?P<mi2>[0-5]\d))?(?:{_HALF.replace('half', 'half2')}|\s?Uhr\b"
    r"(?:\s(?P<mi4>[0-5]\d)\b)?|h(?P<mi3>[0-5]\d)?\b(?!\s?\d)))"
    r"|(?P<ordinal>(?<![\d:/.])\d{1,3}(?:st|nd|rd|th|ª|º)\b|(?<![\d:/.])\d{1,2}\.(?=\s[^\W\d_]))"
    r"|(?P<number>(?<![\w:/.])\d{1,5}(?![\w:/]|[.,]\d))"
    r"|(?P<word>b4\b|[^\W\d_]+(?:['\u2019][^\W\d_]+)*)"
    r"|(?P<dash>\s?(?:[-\u2013\u2014]|(?:\.{2,3}|\u2026)(?=\s?\d{1,3}:\d))\s?)"
    r"|(?P<stop>[.,;?!:()\u00bf\u00a1\u2026\u3002\uff1f])"
    r"|(?P<other>\S)",
    re.IGNORECASE,
)


def tokens_of(text: str, lexicon: Lexicon) -> list[Token]:
    """Return the tokens of text in order. Words are looked up in the longest phrases first.

    What stands in quotation marks is one word that means no time, and so is a part of a code (FR-HR 56).
    """
    pieces = list(_PIECES.finditer(text))
    tokens: list[Token] = []
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        taken = 1
        if piece["quoted"] or _is_in_code(piece):
            token = Token("x", piece.group().lower(), piece.start(), piece.end())
        elif piece["word"]:
            token, taken = _phrase(pieces, index, lexicon)
        else:
            token = _figures(piece)
        tokens.append(token)
        index += taken
    return tokens


def _is_in_code(piece: re.Match[str]) -> bool:
    """Whether a word in capitals is joined by a hyphen to letters in capitals or to figures."""
    text, start, end = piece.string, piece.start(), piece.end()
    joined = re.search(r"[A-Z\d]-$", text[:start]) or re.match(r"-[A-Z\d]", text[end:])
    return bool(piece["word"] and piece.group().isupper() and joined)


def _phrase(pieces: list[re.Match[str]], index: int, lexicon: Lexicon) -> tuple[Token, int]:
    """Return the token of the longest phrase that begins here, and the number of pieces it takes."""
    words: list[str] = []
    best: tuple[Token, int] | None = None
    start, taken = pieces[index].start(), 0
    for piece in pieces[index:]:
        taken += 1
        if piece["dash"] and piece.group() == "-" and words:
            continue
        if not piece["word"] or len(words) == lexicon.longest:
            break
        words.append(piece["word"].lower().replace("\u2019", "'"))
        entry = lexicon.phrases.get(" ".join(words))
        if entry is not None:
            best = Token(entry[0], entry[1], start, piece.end()), taken
    return best or (Token("x", pieces[index].group().lower(), start, pieces[index].end()), 1)


def _figures(piece: re.Match[str]) -> Token:
    start, end, text = piece.start(), piece.end(), piece.group()
    if piece["iso"] or piece["dotted"]:
        year = piece["y"] or piece["y2"]
        month, day = int(piece["mo"] or piece["mo2"]), int(piece["da"] or piece["da2"])
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return Token("-", text, start, end)
        return Token("D", Day(month=month, day=day, year=int(year) if year else None), start, end)
    if piece["clock"]:
        parts = tuple(int(part) for part in (piece["h"], piece["mi"], piece["s"]) if part is not None)
        return Token("c", _reading(parts, piece["half"]), start, end)
    if piece["hour"]:
        minute = piece["mi2"] or piece["mi3"] or piece["mi4"]
        return Token("c", _reading((int(piece["h2"]), int(minute or 0)), piece["half2"], spoken=True), start, end)
    if piece["ordinal"]:
        return Token("o", int(re.sub(r"\D", "", text)), start, end)
    if piece["number"]:
        return Token("n", int(text), start, end)
    if piece["dash"] and text not in ("-", "\u2013", "\u2014") and not _joins_figures(piece):
        return Token(".", text, start, end)
    return Token("&" if piece["dash"] else "." if piece["stop"] else "-", text, start, end)


def _joins_figures(piece: re.Match[str]) -> bool:
    """Whether a dash or dots stand between figures: "10:00 - 10:30" and "10:00 .. 10:30" are a stretch, others end a
    clause."""
    return bool(re.search(r"[\dm]$", piece.string[: piece.start()]) and re.match(r"\d", piece.string[piece.end() :]))


def _reading(parts: tuple[int, ...], half: str | None, *, spoken: bool = False) -> Reading:
    if half and 1 <= parts[0] <= 12:
        return Reading(parts, "am" if half.lower() == "a" else "pm", spoken=True)
    return Reading(parts, spoken=spoken)

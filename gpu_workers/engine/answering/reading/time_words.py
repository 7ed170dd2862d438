"""The words of a text as tokens of time: figures, and the phrases of the tables in times.toml.

Names of months and weekdays are Babel's (CLDR), number words and ordinals text2num's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from gpu_workers.engine.answering.reading.forms import (
    HOUR_MS,
    MINUTE_MS,
    PARTS_OF_DAY,
    SECOND_MS,
    ClockTime,
    Day,
    Fraction,
    PartOfDay,
)
from gpu_workers.engine.languages import codes
from gpu_workers.engine.languages.words import NUMBERED
from gpu_workers.engine.retrieval.words import QUOTED

_TABLES = tomllib.loads(Path(__file__).with_name("times.toml").read_text())
LANGUAGES: Sequence[str] = tuple(_TABLES)
"""ISO 639-1 codes of the languages that have a table."""

_UNITS_MS = {"hour": HOUR_MS, "minute": MINUTE_MS, "second": SECOND_MS}
_NUMBERED_KINDS = {
    "first": ("NTH", 1), "last": ("NTH", -1), "half": ("HALF", 2), "third": ("HALF", 3), "quarter": ("HALF", 4),
    "day": ("DAY", 1), "week": ("DAY", 7), "second": ("SECOND", SECOND_MS),
}  # fmt: skip
_HAN = "〇一二三四五六七八九十"
_PIECES = (
    (
        # A part of a code, such as FR-HR 5628, is no time; nor is what stands in quotation marks.
        rf"(?P<code>{QUOTED.pattern}|(?-i:\b[A-Z]+-[A-Z\d]+(?:\s\d+)?\b))"
        r"|(?P<date>(?<!\d)(?P<y>\d{4})-(?P<mo>\d{1,2})-(?P<d>\d{1,2})(?!\d)"
        r"|(?<![\d.:])(?P<d2>\d{1,2})\.(?P<mo2>\d{1,2})\.(?P<y2>\d{4})?(?!\d))"
        r"|(?P<clock>(?<![\d:/])(?<!(?<!\.)\.)(?P<figures>\d{1,3}(?::[0-5]\d){1,2})(?!\d|:\d)(?:HALF|(?P<uhr>\s?Uhr\b))?)"
        r"|(?P<hour>(?<![\d:/.])(?P<h>\d{1,2})(?:\.(?P<m>[0-5]\d))?(?:HALF2|\s?Uhr\b(?:\s(?P<m2>[0-5]\d)\b)?"
        r"|\s?h(?P<m3>[0-5]\d)?\b(?!\s?\d)))"
        r"|(?P<nth>(?<![\d:/.])\d{1,3}(?:st|nd|rd|th|ª|º)\b|(?<![\d:/.])\d{1,2}\.(?=\s[^\W\d_])"
        rf"|第\s?(?:\d+|[{_HAN}]+))"
        rf"|(?P<num>(?<![A-Za-z_:/.\d])\d{{1,5}}(?![A-Za-z_\d:/]|[.,]\d)|[{_HAN}]+(?=个?小时|分钟|秒|点))"
        r"|(?P<phrase>PHRASES)"
        r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)"
        r"|(?P<dash>\s?(?:[-–—]|(?:\.{2,3}|…)(?=\s?\d{1,3}:\d))\s?)"
        r"|(?P<stop>[.,;?!:()¿¡…。？，！、])|\S"
    )
    .replace("HALF2", r"(?:\s?(?P<half2>[ap])\.?\s?m\b\.?)")
    .replace("HALF", r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?)")
)


@dataclass(frozen=True, slots=True)
class TimeWord:
    """A token. kind: OTHER for a word without meaning for a time. start, end: its characters in the text."""

    kind: str
    value: Any
    start: int
    end: int


def time_words(text: str, language: str) -> Iterator[TimeWord]:
    """Yield the tokens of text in order. Raises KeyError for a language without a table."""
    (phrases, pieces), end = _table(language), 0
    for piece in pieces.finditer(text):
        if piece.start() < end:
            continue
        kind, value, end = "OTHER", None, piece.end()
        if piece["phrase"]:
            kind, value = phrases[_plain(piece[0])]
        elif piece["date"]:
            year = piece["y"] or piece["y2"]
            month, day = int(piece["mo"] or piece["mo2"]), int(piece["d"] or piece["d2"])
            if 1 <= month <= 12 and 1 <= day <= 31:
                kind, value = "ONDAY", (Day(month=month, day=day, year=int(year) if year else None), None)
        elif piece["clock"]:
            figures = piece["figures"].split(":")
            half = ("am" if int(figures[0]) < 12 else "pm") if piece["uhr"] else piece["half"]
            kind, value = "CLOCK", _clock(figures, half, spoken=False)
        elif piece["hour"]:
            parts = [piece["h"], piece["m"] or piece["m2"] or piece["m3"] or "0"]
            kind, value = "CLOCK", _clock(parts, piece["half2"], spoken=True)
        elif piece["nth"]:
            kind, value = "NTH", _number(re.sub(r"[^\d〇-龥]|第", "", piece[0]))
        elif piece["num"]:
            kind, value = "NUM", _number(piece[0])
        elif piece["dash"]:
            between = re.search(r"[\dm]$", text[: piece.start()]) and re.match(r"\d", text[end:])
            kind = "TO" if between else "DASH" if piece[0].strip() == piece[0] else "STOP"
        elif piece["word"]:
            kind, value, end = _spelt(text, piece.start(), end, language)
        elif piece["stop"]:
            kind = "STOP"
        yield TimeWord(kind, value, piece.start(), end)


def _spelt(text: str, start: int, end: int, language: str) -> tuple[str, int | None, int]:
    """Return the number that the words from start on spell, at most three of them, or else another word."""
    following = re.match(r"[^\W\d_]+(?:[\s-][^\W\d_]+){0,2}", text[start:])
    spelt = following.group() if following else ""
    while spelt:
        number = re.fullmatch(r"(\d{1,5})([^\d\s]*)", _digits(spelt.lower().replace("-", " "), language))
        if number:
            return "NTH" if number[2] else "NUM", int(number[1]), start + len(spelt)
        spelt = re.sub(r"(?:^|[\s-])[^\W\d_]+$", "", spelt)
    return "OTHER", None, end


@cache
def _digits(words: str, language: str) -> str:
    if language not in NUMBERED:
        return words
    from text_to_num import alpha2digit

    return str(alpha2digit(words, language, threshold=0))


def _number(figures: str) -> int:
    if figures.isdecimal():
        return int(figures)
    tens, ten, ones = figures.rpartition("十")
    return (10 * _HAN.index(tens or "一") if ten else 0) + (_HAN.index(ones) if ones else 0)


def _clock(figures: Sequence[str], half: str | None, *, spoken: bool) -> ClockTime:
    parts = tuple(map(int, figures))
    if half and parts[0] <= 12:
        return ClockTime(parts, "am" if half[0] in "aA" else "pm")
    return ClockTime(parts, "either" if spoken else "")


def _plain(phrase: str) -> str:
    return re.sub(r"[\s-]+", " ", phrase.lower().replace("’", "'"))


@cache
def _table(language: str) -> tuple[Mapping[str, tuple[str, Any]], re.Pattern[str]]:
    """Return the phrases of a language with kind and value, and the pattern of its tokens."""
    phrases = {_plain(phrase): (kind, value) for kind, value, names in _rows(language) for phrase in names}
    longest = sorted(phrases, key=len, reverse=True)
    known = "|".join(re.escape(phrase).replace(r"\ ", r"[\s-]+").replace("'", "['’]") for phrase in longest)
    # Words of a script without spaces have no boundaries.
    known = known if not codes.LANGUAGES[language].spaced else rf"\b(?:{known})(?!\w)"
    return phrases, re.compile(_PIECES.replace("PHRASES", known), re.IGNORECASE)


def _rows(language: str) -> Iterator[tuple[str, Any, Sequence[str]]]:
    """Yield kind, value and phrases; a later row of the same phrase counts."""
    from babel import Locale

    locale, table = Locale(language), _TABLES[language]
    for form in ("abbreviated", "wide"):
        for n, name in locale.months["format"][form].items():
            # In Portuguese "dez" is ten.
            if _digits(name.strip("."), language) == name.strip("."):
                yield "MONTH", n, [name.strip(".")]
    parts = PARTS_OF_DAY | {name: PartOfDay(*hours) for name, hours in table.get("hours", {}).items()}
    for n, weekday in locale.days["format"]["wide"].items():
        yield "WEEKDAY", n, [weekday]
        for name, tails in table["parts"].items():
            yield "ONDAY", (Day(weekday=n), parts[name]), [weekday + tail for tail in tails]  # "Dienstagnachmittag"
    for key, phrases in table.items():
        if isinstance(phrases, list):
            yield *_NUMBERED_KINDS.get(key, (key.upper(), None)), phrases
        elif key != "hours":
            yield from ((*_meaning(key, name, parts), names) for name, names in phrases.items())


def _meaning(key: str, name: str, parts: Mapping[str, PartOfDay]) -> tuple[str, Any]:
    """Return the kind and the value of phrases in a table's sub-table (key) under a name."""
    if key == "days":
        day, _, part = name.partition(" ")
        return "ONDAY", (Day(ago=int(day)) if day.isdigit() else Day(weekday=int(day[1:])), parts.get(part))
    if key == "clocks":
        hour, half = name.split()
        return "CLOCK", ClockTime((int(hour), 0), "am" if half == "am" else "pm")
    if key in ("parts", "in_part", "every_part"):
        return ("PART" if key == "parts" else "INPART"), replace(parts[name], every=key == "every_part")
    if key == "units":
        return "UNIT", _UNITS_MS[name]
    if key == "spans":
        return "SPAN", int(name) * SECOND_MS
    if key == "fractions":
        start, of = map(int, name.split("/"))
        return "FRACTION", Fraction(start, start + 1, of)
    return key.upper(), int(name)

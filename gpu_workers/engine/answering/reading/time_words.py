"""The words of a text as tokens of time: figures, and the phrases of the tables in times.toml.

Names of months and weekdays are Babel's (CLDR), number words and ordinals text2num's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from gpu_workers.engine.answering.reading.expressions import UNITS_MS, WEEKEND, ClockTime, Day, PartOfDay
from gpu_workers.engine.languages.words import NUMBERED
from gpu_workers.engine.retrieval.words import QUOTED

_TABLES = tomllib.loads(Path(__file__).with_name("times.toml").read_text())
LANGUAGES: Sequence[str] = tuple(_TABLES)
"""ISO 639-1 codes of the languages that have a table."""

_HALF = r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?)"
_HAN = "〇一二三四五六七八九十"
_FIGURES = (
    # A part of a code, such as FR-HR 5628, is no time; nor is what stands in quotation marks.
    rf"(?P<code>{QUOTED.pattern}|(?-i:\b[A-Z]+-[A-Z\d]+(?:\s\d+)?\b))"
    r"|(?P<date>(?<!\d)(?P<y>\d{4})-(?P<mo>\d{1,2})-(?P<da>\d{1,2})(?!\d)"
    r"|(?<![\d.:])(?P<da2>\d{1,2})\.(?P<mo2>\d{1,2})\.(?P<y2>\d{4})?(?!\d))"
    rf"|(?P<clock>(?<![\d:/])(?<!(?<!\.)\.)(?P<h>\d{{1,3}}):(?P<mi>[0-5]\d)(?::(?P<s>[0-5]\d))?(?!\d|:\d){_HALF}?)"
    rf"|(?P<hour>(?<![\d:/.])(?P<h2>\d{{1,2}})(?:\.(?P<mi2>[0-5]\d))?(?:{_HALF.replace('half', 'half2')}|\s?Uhr\b"
    r"(?:\s(?P<mi3>[0-5]\d)\b)?|\s?h(?P<mi4>[0-5]\d)?\b(?!\s?\d)))"
    r"|(?P<ordinal>(?<![\d:/.])\d{1,3}(?:st|nd|rd|th|ª|º)\b|(?<![\d:/.])\d{1,2}\.(?=\s[^\W\d_])"
    rf"|第\s?(?:\d+|[{_HAN}]+))"
    rf"|(?P<number>(?<![A-Za-z_:/.\d])\d{{1,5}}(?![A-Za-z_\d:/]|[.,]\d)|[{_HAN}]+(?=个?小时|分钟|秒|点))"
)
_OTHERS = (
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)"
    r"|(?P<dash>\s?(?:[-–—]|(?:\.{2,3}|…)(?=\s?\d{1,3}:\d))\s?)"
    r"|(?P<stop>[.,;?!:()¿¡…。？，！、])|\S"
)


@dataclass(frozen=True, slots=True)
class TimeWord:
    """A token. kind: OTHER for a word without meaning for a time. start, end: its characters in the text."""

    kind: str
    value: Any
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Table:
    phrases: Mapping[str, tuple[str, Any]]
    pieces: re.Pattern[str]


def nouns_in_capitals(language: str) -> bool:
    """Whether a language writes nouns with a capital letter."""
    return bool(_TABLES[language].get("nouns_in_capitals"))


def time_words(text: str, language: str) -> Iterator[TimeWord]:
    """Yield the tokens of text in order. Raises KeyError for a language without a table."""
    table, end = _table(language), 0
    for piece in table.pieces.finditer(text):
        if piece.start() < end:
            continue
        kind, value, end = _read(piece, table, text, language)
        yield TimeWord(kind, value, piece.start(), end)


def _read(piece: re.Match[str], table: _Table, text: str, language: str) -> tuple[str, Any, int]:
    figures, end = piece.group(), piece.end()
    if piece["phrase"]:
        return (*table.phrases[" ".join(re.split(r"[\s-]+", figures.lower().replace("’", "'")))], end)
    if piece["date"]:
        month, day = int(piece["mo"] or piece["mo2"]), int(piece["da"] or piece["da2"])
        year = piece["y"] or piece["y2"]
        valid = 1 <= month <= 12 and 1 <= day <= 31
        return (
            ("DATE", Day(month=month, day=day, year=int(year) if year else None), end)
            if valid
            else ("OTHER", None, end)
        )
    if piece["clock"]:
        parts = tuple(int(piece[name]) for name in ("h", "mi", "s") if piece[name])
        return "CLOCK", _clock(parts, piece["half"]), end
    if piece["hour"]:
        minute = piece["mi2"] or piece["mi3"] or piece["mi4"] or 0
        return "CLOCK", _clock((int(piece["h2"]), int(minute)), piece["half2"], spoken=True), end
    if piece["ordinal"]:
        return "NTH", _number(re.sub(r"[^\d〇-龥]|第", "", figures)), end
    if piece["number"]:
        return "NUM", _number(figures), end
    if piece["dash"]:
        between = re.search(r"[\dm]$", text[: piece.start()]) and re.match(r"\d", text[end:])
        return ("TO" if between else "DASH" if figures.strip() == figures else "STOP"), None, end
    if piece["word"]:
        return _word(piece, text, language)
    return "STOP" if piece["stop"] else "OTHER", None, end


def _word(piece: re.Match[str], text: str, language: str) -> tuple[str, Any, int]:
    """Return the number that the words from here on spell, at most three of them, or another word."""
    following = re.match(r"[^\W\d_]+(?:[\s-][^\W\d_]+){0,2}", text[piece.start() :])
    spelt = following.group() if following else ""
    while spelt:
        number = re.fullmatch(r"(\d{1,5})([^\d\s]*)", _digits(spelt.lower().replace("-", " "), language))
        if number:
            return "NTH" if number[2] else "NUM", int(number[1]), piece.start() + len(spelt)
        spelt = re.sub(r"(?:^|[\s-])[^\W\d_]+$", "", spelt)
    return "OTHER", None, piece.end()


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


def _clock(parts: tuple[int, ...], half: str | None, *, spoken: bool = False) -> ClockTime:
    if half and 1 <= parts[0] <= 12:
        return ClockTime(parts, "am" if half.lower() == "a" else "pm", spoken=True)
    return ClockTime(parts, spoken=spoken)


@cache
def _table(language: str) -> _Table:
    rows = list(_rows(language, _TABLES[language]))
    phrases = {re.sub(r"[\s-]+", " ", phrase.lower()): (kind, value) for kind, value, names in rows for phrase in names}
    longest = sorted(phrases, key=len, reverse=True)
    known = "|".join(re.escape(phrase).replace(r"\ ", r"[\s-]+").replace("'", "['’]") for phrase in longest)
    # Words of a script without spaces have no boundaries.
    known = known if language == "zh" else rf"\b(?:{known})(?!\w)"
    return _Table(phrases, re.compile(f"{_FIGURES}|(?P<phrase>{known}){_OTHERS}", re.IGNORECASE))


def _rows(language: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Any, Sequence[str]]]:
    """Yield kind, value and phrases; a later row of the same phrase counts."""
    from babel import Locale

    locale = Locale(language)
    for form in ("abbreviated", "wide"):
        for n, name in locale.months["format"][form].items():
            # In Portuguese "dez" is ten.
            if _digits(name.strip("."), language) == name.strip("."):
                yield "MONTH", n, [name.strip(".")]
    for key, phrases in table.items():
        if isinstance(phrases, list) and key not in ("on_weekday", "weekend"):
            yield key.upper(), None, phrases
    for kind, values in _VALUES.items():
        yield from ((kind, value, table.get(key, ())) for key, value in values.items())
    hours = {name: PartOfDay(*each) for name, each in table["hours"].items()}
    readers: Mapping[str, tuple[str, Callable[[str], Any]]] = {
        "units": ("UNIT", lambda unit: UNITS_MS[unit]),
        "lengths": ("SPAN", lambda seconds: int(seconds) * 1_000),
        "clocks": ("CLOCK", lambda at: ClockTime(tuple(map(int, at.split(":"))), spoken=True)),
        "past": ("PAST", int),
        "later": ("LATER", int),
        "fractions": ("FRACTION", lambda share: tuple(map(int, share.split("/")))),
        "parts": ("PART", hours.__getitem__),
        "in_part": ("INPART", hours.__getitem__),
        "every_part": ("INPART", lambda name: replace(hours[name], every=True)),
        "days": ("ONDAY", lambda ago: (Day(ago=int(ago)), None)),
        "day_parts": ("ONDAY", lambda key: (Day(ago=int(key.split()[0])), hours[key.split()[1]])),
    }
    for key, (kind, read) in readers.items():
        yield from ((kind, read(value), phrases) for value, phrases in table.get(key, {}).items())
    yield "ONDAY", (Day(weekday=5), WEEKEND), table.get("weekend", ())
    for n, weekday in locale.days["format"]["wide"].items():
        yield "WEEKDAY", n, [weekday]
        yield "ONDAY", (Day(weekday=n), None), [f"{lead} {weekday}".strip() for lead in table.get("on_weekday", ())]
        for name, phrases in table["parts"].items() if table.get("compounds") else ():
            yield "ONDAY", (Day(weekday=n), hours[name]), [weekday + phrase for phrase in phrases]


_VALUES: Mapping[str, Mapping[str, int]] = {
    "NTH": {"first": 1, "last": -1},
    "HALF": {"half": 2, "third": 3, "quarter": 4},
    "DAY": {"day": 1, "week": 7},
    "SECOND": {"second": UNITS_MS["second"]},
}

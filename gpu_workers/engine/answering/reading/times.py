"""The times that a question names, read from its figures and from the words that carry the structure of a time.

A rule is a regular expression over the kinds of the question's tokens (THE NTH UNIT), so that one grammar serves every
language with a table in times.toml. It covers the common forms; a capable reasoner reads the others (call.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate, product
from typing import TypeVar

from gpu_workers.engine.answering.reading.forms import (
    CENTRE,
    CLOSING,
    HOUR_MS,
    MINUTE_MS,
    OPENING,
    SECOND_MS,
    Clocked,
    ClockTime,
    Day,
    Edge,
    Form,
    Fraction,
    Frame,
    NamedTime,
    Order,
    PartOfDay,
)
from gpu_workers.engine.answering.reading.time_words import LANGUAGES, TimeWord, time_words

One = TypeVar("One")
Other = TypeVar("Other")

SHORTLY_MS = 5 * MINUTE_MS
"""Shortly after, just before."""

MOST_ANCHOR_WORDS = 8
"""Maximum number of words that name the event of an order."""


@lru_cache(maxsize=64)
def times_in(text: str, language: str) -> tuple[NamedTime, str]:
    """Return the times that text names, and the text without the words that name them; a text that consists of a time
    keeps its words.

    language: ISO 639-1 code. A language without a table has figures alone (1:23:45), read with the English table.
    """
    words = list(time_words(text, language if language in LANGUAGES else "en"))
    tokens = _Tokens(text, words)
    found: list[tuple[int, Form | Day | PartOfDay]] = []
    taken: set[int] = set()
    dated = False
    for pattern, read in _RULES:
        at = 0
        while at < len(words):
            match = tokens.match(pattern, at, dated=dated)
            meant = None if match is None or not taken.isdisjoint(range(at, match.end)) else read(match)
            if match is None or meant is None:
                at += 1
                continue
            found += [(at, each) for each in meant]
            taken |= set(range(at, match.end))
            at = match.end
        dated = any(isinstance(each, (Day, PartOfDay)) for _, each in found)
    # "And" between two times belongs to neither of them, and to nothing else.
    taken |= {n for n, word in enumerate(words) if word.kind == "AND" and {n - 1, n + 1} <= taken}
    forms = _dated([each for _, each in sorted(found, key=lambda pair: pair[0])])
    own, remaining = _split(text, [words[n] for n in sorted(taken)])
    if not forms:
        return NamedTime(), text
    return NamedTime(own, tuple(forms)), remaining if len(remaining.split()) > 1 else text


def _dated(found: Sequence[Form | Day | PartOfDay]) -> list[Form]:
    """Return the forms on the days and the parts of days among them: one after the other if there are as many of both,
    else each on all."""
    forms = [each for each in found if not isinstance(each, (Day, PartOfDay))]
    days: list[Day | None] = [each for each in found if isinstance(each, Day)]
    parts: list[PartOfDay | None] = [each for each in found if isinstance(each, PartOfDay)]
    if not days and not parts:
        return forms
    pairs = _paired(days or [None], parts or [None])
    clocked = [each for each in forms if isinstance(each, Clocked)]
    others = [each for each in forms if not isinstance(each, Clocked)]
    return [*others, *(each.on(day, part) for each, (day, part) in _paired(clocked or [Clocked("day")], pairs))]


def _paired(ones: Sequence[One], others: Sequence[Other]) -> list[tuple[One, Other]]:
    return list(zip(ones, others, strict=True)) if len(ones) == len(others) else list(product(ones, others))


def _split(text: str, taken: Sequence[TimeWord]) -> tuple[str, str]:
    """Return the words that were taken, and the text without them."""
    pieces: list[tuple[int, int]] = []
    for word in taken:
        start = pieces.pop()[0] if pieces and not text[pieces[-1][1] : word.start].strip() else word.start
        pieces.append((start, word.end))
    rest = [text[end:start] for (_, end), (start, _) in zip([(0, 0), *pieces], [*pieces, (len(text), 0)], strict=True)]
    remaining = re.sub(r"(?<!\s)\s+([?.,!])", r"\1", " ".join(" ".join(rest).split())).lstrip(" ,.;:-")
    return ", ".join(text[start:end] for start, end in pieces), remaining


# --- patterns over kinds of tokens ---------------------------------------------------------------------------------

_SHORTHANDS = {
    "ELSEWHERE": "(?!OF|FROM|THE)",  # "at the end of the table" is no time
    "VIDEOS": "(?:(?:OF|IN|AT|FROM)? THE? VIDEO (?!THAT))",  # "the clip that …" is a part of it
    "CLAUSE": "(?=STOP|DASH|OVER|THEN|ASK|$)",
    "LENGTH": "(?:SPAN|NUM DASH? UNITS (?:AND? NUM UNITS)?|UNITS)",
    "TIME": "(?:PAST NUM|CLOCK OCLOCK?|NUM LATER|NUM OCLOCK?)",
    "ORD": "(?:NTH|SECOND)",
    "UNITS": "(?:UNIT|SECOND)",
    "LEADS": "(?:WHEN? THE? WATCH SHOWS?|AT|IN|DURING|ABOUT|VERY|THE){0,8}",
    "ANCHOR": f"OTHER (?:(?!STOP|OVER|ASK|CLOCK|UNIT|SPAN|WEEKDAY|ONDAY|MONTH|INPART|ORDER|BEGIN|END)KIND)"
    f"{{0,{MOST_ANCHOR_WORDS - 1}}}?",
    "ORDER": "(?:AFTER|BEFORE|AFTERTHE|BEFORETHE)",
    "DAYISH": "(?:THE? ORD DAY|NUM MONTH|ORD MONTH|MONTH|ONDAY|WEEKDAY)",
}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a regular expression over kinds, each of which ends with a semicolon."""

    def expand(pattern: str) -> str:
        return re.sub(r"[A-Z]{2,}", lambda name: expand_name(name[0]), pattern)

    def expand_name(name: str) -> str:
        if name == "KIND":
            return "(?:[A-Z]+;)"
        return expand(_SHORTHANDS[name]) if name in _SHORTHANDS else f"(?:{name};)"

    return re.compile(re.sub(r"\s", "", expand(pattern)))


class _Tokens:
    """The tokens of a text, over whose kinds patterns run."""

    def __init__(self, text: str, words: Sequence[TimeWord]) -> None:
        self.text, self.words = text, words
        self._kinds = "".join(f"{word.kind};" for word in words)
        self._starts = [0, *accumulate(len(word.kind) + 1 for word in words)]
        self._places = {start: n for n, start in enumerate(self._starts)}

    def match(self, pattern: str, first: int, *, dated: bool) -> _Match | None:
        """Return the pattern's match that begins with a token; None if there is none. dated: as in _Match."""
        found = _compiled(pattern).match(self._kinds, self._starts[first])
        if found is None or not found[0]:
            return None
        place = self._places
        groups = {
            name.rstrip("23456"): self.words[place[found.start(name)] : place[found.end(name)]]
            for name in found.groupdict()
            if found[name]
        }
        return _Match(self, first, place[found.end()], groups, dated)


@dataclass(frozen=True, slots=True)
class _Match:
    """A pattern's match: its tokens from first until before end, and those of each group.

    Groups one, one2 and one3 are the same in several alternatives. dated: whether the text names a day or a part of
    one.
    """

    tokens: _Tokens
    first: int
    end: int
    groups: dict[str, Sequence[TimeWord]]
    dated: bool

    def __getitem__(self, group: str) -> Sequence[TimeWord]:
        return self.groups.get(group, ())

    def kinds(self, group: str = "") -> list[str]:
        """Return the kinds of a group's tokens, or of all."""
        return [word.kind for word in (self[group] if group else self.tokens.words[self.first : self.end])]

    @property
    def following(self) -> str:
        """Return the kind of the token after the match, "" at the end of the text."""
        return self.tokens.words[self.end].kind if self.end < len(self.tokens.words) else ""

    def text(self, group: str) -> str:
        return self.tokens.text[self[group][0].start : self[group][-1].end] if self[group] else ""

    def value(self, group: str) -> int:
        """Return the number, or the unit in ms, of a group of one token."""
        word = self[group][0]
        return 2 if word.kind == "SECOND" and not group.startswith("unit") else int(word.value)

    def length(self) -> tuple[int, int]:
        """Return the LENGTH of group length in ms, and its smallest unit, a minute at most; zeros without one."""
        total, number, smallest = 0, 1, MINUTE_MS
        for word in self["length"]:
            if word.kind == "NUM":
                number = word.value
            elif word.kind in ("UNIT", "SECOND", "SPAN"):
                total += number * word.value
                smallest, number = min(smallest, word.value), 1
        return total, smallest

    def time(self, group: str) -> ClockTime | None:
        """Return the TIME, or the bare hour, of a group; None if its hour is none."""
        words = self[group]
        if words[0].kind == "CLOCK":
            return words[0].value if isinstance(words[0].value, ClockTime) else None
        hour = next(word.value for word in words if word.kind == "NUM")
        shift = next((word.value for word in words if word.kind in ("PAST", "LATER")), None)
        if hour > 24:
            return None
        parts = (hour,) if shift is None else ((hour - (shift < 0) - 1) % 12 + 1, shift % 60)
        return ClockTime(parts, "either")

    def frame(self, *times: ClockTime) -> Frame:
        """Return the clock of these times by the words of the match, and by those that say how a clock shows them."""
        if {"VIDEO", "MARK"} & set(self.kinds()):
            return "video"
        if any(word.kind == "WATCH" for word in self.tokens.words):
            return "shown"
        return "wall" if any(time.half for time in times) else "any"


_Read = Callable[[_Match], Sequence[Form | Day | PartOfDay] | None]
"""Returns what a match means; None if it is no time, so that its tokens are free."""


# --- days and parts of days ----------------------------------------------------------------------------------------


def _day(match: _Match) -> Sequence[Day | PartOfDay] | None:
    if match["named"]:
        return [each for each in match["named"][0].value if each is not None]
    if match["weekday"]:
        first = match.value("weekday")
        days = (match.value("until") - first) % 7 if match["until"] else 0
        return [Day(weekday=(first + n) % 7) for n in range(days + 1)]
    if match["ago"]:
        return [Day(ago=match.value("unit") * (match["ago"][0].value or 1))]
    if match["nth"]:
        return [Day(nth=match.value("nth"))]
    day, year = match.value("day"), match.value("year") if match["year"] else None
    valid = 1 <= day <= 31 and (year is None or 1900 <= year <= 2200)
    return [Day(month=match.value("month"), day=day, year=year)] if valid else None


def _part_of_day(match: _Match) -> Sequence[PartOfDay]:
    return [match["part"][0].value]


# --- times of a clock ----------------------------------------------------------------------------------------------


def _between(match: _Match) -> Sequence[Form] | None:
    """Two times are the ends of a stretch, unless nothing but "and" joins them."""
    one, two = match.time("one"), match.time("two")
    joins, lead = set(match.kinds("join")), match.kinds("lead")
    if one is None or two is None or (joins <= {"AND", "STOP", "AT", "IN", "THE", "ABOUT"} and not lead):
        return None
    if len(one.parts) == 1 and two.half in ("am", "pm") and one.half == "either":
        # "Two and 3 pm" is in the afternoon from two on, "11 to 1 pm" around noon.
        same = one.parts[0] <= two.parts[0] % 12 or two.parts[0] == 12
        one = replace(one, half=two.half if same else "either")
    bare = [group for group in ("one", "two") if match.kinds(group) == ["NUM"]]
    if bare and not (match.dated and lead) and not (bare == ["one"] and two.half and joins <= {"TO", "AND"}):
        return None
    return [Clocked("between", one, two, frame=match.frame(one, two))]


def _open_ended(match: _Match) -> Sequence[Form] | None:
    time, edge = match.time("one"), match.kinds("edge")[0]
    if time is None or _is_other_number(match):
        return None
    if edge in ("BEFORE", "UNTIL"):
        return [Clocked("until", end=time, frame=match.frame(time))]
    return [Clocked("since", time, frame=match.frame(time))]


def _at(match: _Match) -> Sequence[Form] | None:
    time = match.time("one")
    # "At the 47:56 mark of the game" is a time of another clock.
    if time is None or _is_other_number(match) or (match.following == "OF" and "MARK" in match.kinds()):
        return None
    about = bool({"ABOUT", "SHORTLY"} & set(match.kinds()))
    return [Clocked("at", time, frame=match.frame(time), about=about)]


def _is_other_number(match: _Match) -> bool:
    """Whether a bare number is no hour: without a day or a word of place before it, or with a noun after it."""
    if match.kinds("one") != ["NUM"]:
        return False
    return not match.dated or match.following in ("OTHER", "UNIT", "SECOND", "NUM", "MONTH", "DASH", "DAY", "OF")


# --- parts of a video ----------------------------------------------------------------------------------------------


def _stretch(start_ms: int, end_ms: int) -> Clocked:
    one, two = (ClockTime((ms // HOUR_MS, ms // MINUTE_MS % 60, ms // SECOND_MS % 60)) for ms in (start_ms, end_ms))
    return Clocked("between", one, two, frame="video")


def _counted_units(match: _Match) -> Sequence[Form]:
    """Minute 12; minutes 5 to 10; hour 2, which is the second; between the 5th and the 10th minute."""
    unit, start = match.value("unit"), match.value("one")
    end = max(match.value("two"), start + 1) if match["two"] else start + 1
    if match.kinds("one") != ["NUM"] or unit == HOUR_MS:
        start, end = start - 1, end - (not match["two"])
    return [_stretch(max(0, start) * unit, end * unit)]


def _into(match: _Match) -> Sequence[Form]:
    """Ten minutes into the video; 2 hours and 5 minutes in; at the 12 minute mark."""
    long, unit = match.length()
    return [_stretch(long, long + unit)]


def _edges(match: _Match) -> Sequence[Form] | None:
    """The first ten minutes; in the first and in the last hour; the twelfth minute."""
    sides = [{"BEGIN": 1, "END": -1, "SECOND": 2}.get(w.kind, w.value) for w in (*match["edge"], *match["other"])]
    long, _ = match.length()
    # "The last minute decision": a unit alone may belong to the next word.
    alone = len(match["length"]) == 1 and match.kinds("length") != ["SPAN"]
    sure = bool({"IN", "DURING", "VIDEO"} & set(match.kinds())) or match.following in ("", "STOP", "AND", "DASH", "ASK")
    inner = not set(sides) <= {1, -1}
    if (inner and not alone) or (alone and not inner and not sure) or (inner and match.following == "OF"):
        return None
    return [_side(side, long) for side in sides]


def _side(number: int, ms: int) -> Form:
    """Return the first (1), the last (-1) or another stretch of that length."""
    if number in (1, -1):
        return Edge("first" if number == 1 else "last", ms)
    return _stretch((number - 1) * ms, number * ms)


def _edge(match: _Match) -> Sequence[Form]:
    """With ten minutes left; the ten minutes at the start."""
    return [_side(1 if match["begin"] else -1, match.length()[0])]


def _shares(match: _Match) -> Sequence[Form] | None:
    """The second half; the first and the last third."""
    if match["share"]:
        return [match["share"][0].value]
    of, numbers = match.value("of"), [match.value(name) for name in ("nth", "other") if match[name]]
    if of not in (2, 3, 4) or max(numbers) > of:
        return None
    firsts = [of - 1 if number < 0 else number - 1 for number in numbers]
    return [Fraction(first, first + 1, of) for first in firsts]


def _opening_or_closing(match: _Match) -> Sequence[Form] | None:
    (word,) = match["edge"]
    if word.kind == "NTH" and word.value not in (1, -1):
        return None
    return [OPENING if word.kind == "BEGIN" or word.value == 1 else CLOSING]


# --- orders --------------------------------------------------------------------------------------------------------


def _order(match: _Match) -> Sequence[Form]:
    """After the second delivery; half an hour after it; the second delivery is over; "after the delivery" by itself is
    the first."""
    away, near = match.length()[0], bool(match["shortly"])
    return [
        Order(
            "before" if {"BEFORE", "BEFORETHE", "AHEAD"} & set(match.kinds("order")) else "after",
            match.value("nth") if match["nth"] else 1,
            match.text("anchor"),
            at_ms=0 if match["lead"] else away,
            within_ms=SHORTLY_MS if near else away if match["lead"] else 0,
        )
    ]


def _during(match: _Match) -> Sequence[Form]:
    """During the last goal; while the alarm rings; between the first and the second delivery."""
    nth = match.value("nth") if match["nth"] else 0
    if not match["to"]:
        return [Order("during", nth, match.text("anchor"))]
    last = match.text("to")
    return [Order("between", nth, match.text("anchor") or last, last_nth=match.value("last"), last_anchor=last)]


_SPACED = "(?:(?P<lead>(?:IN|DURING) THE? (?:NTH|BEGIN)?)? (?P<length>LENGTH)|(?P<shortly>SHORTLY))?"
_RULES: Sequence[tuple[str, _Read]] = (
    ("LEADS (?P<named>ONDAY)", _day),
    ("LEADS (?:(?P<day>NUM|ORD) OF? FROM? THE? (?P<month>MONTH)|(?P<month2>MONTH) THE? (?P<day2>NUM|ORD)) "
     "(?:STOP? OF? FROM? (?P<year>NUM))?", _day),
    ("(?P<ago>NUM|AN) (?P<unit>DAY) AGO|(?:AGO|BEFORE) (?P<ago2>NUM|AN) (?P<unit2>DAY)", _day),
    # "The second day of the fair" is none of the recording.
    ("(?:(?:AT|IN|DURING) THE?|(?:(?<=OF)|(?<=FROM)|^) THE?) (?:(?P<nth>ORD) DAY|DAY (?P<nth2>NUM)) VIDEOS? "
     "(?!OF|FROM|THE|AFTER|BEFORE)|THE (?P<nth3>ORD) DAY CLAUSE", _day),
    ("(?<!AN) (?:AT|IN|FROM|DURING)? THE? NTH? (?P<weekday>WEEKDAY) (?:(?:TO|BEFORE) LEADS (?P<until>WEEKDAY))?", _day),
    ("(?P<part>INPART)|LEADS (?P<part2>PART) (?:OF|FROM)? (?=DAYISH)"
     "|(?:IN|DURING|OF|AT) THE? (?P<part3>PART) (?!OTHER|PART)|(?<=PART) AND LEADS (?P<part4>PART)"
     "|(?:(?<=DAY)|(?<=MONTH)|(?<=NTH)|(?<=NUM)|(?<=ONDAY)|(?<=WEEKDAY)|(?<=CLOCK)) STOP? (?P<part5>PART)"
     "|(?<=OTHER) THE (?P<part6>PART) CLAUSE", _part_of_day),
    ("(?:DURING THE? (?P<nth>ORD)|WHILE THE) (?P<anchor>ANCHOR) CLAUSE"
     "|BETWEEN THE? (?P<nth2>ORD) (?P<anchor2>ANCHOR)? AND THE? (?P<last>ORD) (?P<to>ANCHOR) CLAUSE", _during),
    (f"{_SPACED} (?P<order>ORDER|AHEAD) OTHER{{0,2}} THE? (?P<nth>ORD) (?P<anchor>ANCHOR) "
     "(?:CLAUSE|(?=VIDEOS CLAUSE|BEGIN))", _order),
    (f"{_SPACED} (?P<order>(?:AFTER|BEFORE) (?=THE)|AFTERTHE|BEFORETHE) THE? (?P<anchor>OTHER) "
     "(?:CLAUSE|(?=VIDEOS CLAUSE))", _order),
    ("THE? (?P<nth>ORD) (?P<anchor>ANCHOR) VIDEOS? (?:OVER|STOP? AND? THEN)", _order),
    # "The second delivery: what happened just before it?"
    ("(?:WHEN|FROM)? THE? (?P<nth>ORD) (?P<anchor>ANCHOR) VIDEOS? (?:STOP|BEGIN|END) KIND{0,12}? (?P<order>ORDER|THEN) "
     "OF? OTHER? STOP* $", _order),
    ("(?:IN? DURING? THE? SECTION (?:OF THE? VIDEO)? THAT? OTHER?)? (?P<lead>FROM|BETWEEN|AFTER)? LEADS (?P<one>TIME) "
     "(?P<join>KIND{1,7}?) (?P<two>TIME) VIDEOS?", _between),
    ("(?P<edge>FROM|AFTER|BEFORE) LEADS (?P<one>TIME) ON?|LEADS (?P<one2>TIME) (?P<edge2>SINCE|UNTIL)",
     _open_ended),
    ("LEADS (?P<one>CLOCK OCLOCK?|PAST NUM|NUM LATER|NUM OCLOCK|(?<=AT)NUM|(?<=ABOUT)NUM) "
     "(?:VIDEOS|INTO VIDEOS?|DASH? MARK VIDEOS?)? (?:SHOWS|WATCH)?", _at),
    ("(?:FROM|BETWEEN)? LEADS (?P<unit>UNIT) (?P<one>NUM) (?:(?:TO|AND|BEFORE|DASH)+ LEADS|KIND{1,5}? UNIT) "
     "(?P<two>NUM) VIDEOS? (?!UNITS)", _counted_units),
    ("(?:FROM|BETWEEN) THE? (?P<one>NUM|ORD) (?:TO|AND) THE? (?P<two>NUM|ORD) (?P<unit>UNITS) VIDEOS? (?!ORDER)",
     _counted_units),
    ("LEADS (?P<unit>UNIT|(?<=AT)SECOND|(?<=IN THE)SECOND) (?P<one>NUM) VIDEOS? (?!UNITS|TO|AND|OF|DASH)",
     _counted_units),
    ("LEADS (?P<edge>ORD|BEGIN|END) (?:AND LEADS (?P<other>ORD|BEGIN|END))? (?P<length>LENGTH) VIDEOS? "
     "(?!ORDER THE? (?:OTHER|ORD))", _edges),
    ("OTHER? THE? (?P<length>LENGTH) LEFT|(?:TO|BEFORE) THE? (?P<begin>(?P<length2>LENGTH)) DASH? MARK"
     "|IN? THE? (?P<length3>LENGTH) (?:AT|OF){0,8} THE? (?P<begin2>BEGIN) VIDEOS? ELSEWHERE"
     "|IN? THE? (?P<length4>LENGTH) (?:AT|FROM|OF|TO|BEFORE|BEFORETHE|THE|VIDEO){0,8} END VIDEOS? ELSEWHERE", _edge),
    ("(?:AT|IN|ABOUT|AFTER){0,8} THE? (?P<length>LENGTH) (?:INTO (?:VIDEOS|OTHER CLAUSE)?|IN CLAUSE|VIDEOS? DASH? MARK)"
     "|(?:AT|AFTER|(?<!NUM) TO) ABOUT? THE? (?P<length2>NUM DASH? UNITS (?:AND? NUM UNITS)?) VIDEOS? (?!OF|ORDER)"
     "|(?P<length3>LENGTH) (?:AFTER|FROM) THE? BEGIN VIDEOS? ELSEWHERE|(?P<length4>NUM UNIT AND? NUM UNITS)", _into),
    ("(?:IN|DURING) THE? (?P<nth>ORD) (?:AND LEADS (?P<other>ORD))? (?P<of>HALF|NTH) (?:VIDEOS|OF THE MATCH)? ELSEWHERE"
     "|LEADS (?P<share>FRACTION)", _shares),
    ("(?:AT|BETWEEN|BEFORE|ABOUT|IN|FROM|TO){0,8} (?:THE|VERY){0,8} (?P<edge>BEGIN|END) VIDEOS"
     "|(?:AT|BETWEEN|BEFORE|ABOUT|IN (?=(?:THE|VERY){0,8} BEGIN)){1,8} (?:THE|VERY){0,8} (?P<edge2>BEGIN|END) ELSEWHERE"
     "|(?:BEFORE|WHEN|HOW)? OTHER? (?:THE? VIDEO|(?<=HOW)OTHER|(?<=HOW OTHER)OTHER) (?:OTHER|OF)? "
     "(?P<edge3>BEGIN|END) (?!OF|AT TIME|OTHER TIME)"
     "|THE (?P<edge4>NTH|BEGIN|END) SCENE (?:VIDEOS|CLAUSE)|(?<!IN)THE (?P<edge5>END) CLAUSE", _opening_or_closing),
    ("(?:AT|IN)? THE? MIDDLE VIDEOS|MIDDLE THE? VIDEO|VIDEO OF? MIDDLE", lambda match: [CENTRE]),
)  # fmt: skip

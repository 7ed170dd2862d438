"""The times that a question names, read from its figures and from the words that carry the structure of a time.

A rule is a regular expression over the kinds of the question's tokens (THE NTH UNIT), so that one grammar serves every
language with a table in times.toml. It covers the common forms; a capable reasoner reads the others
(canonical_times.py).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from gpu_workers.engine.answering.reading.expressions import (
    CENTRE,
    CLOSING,
    OPENING,
    SHORTLY_MS,
    Clocked,
    ClockTime,
    Day,
    Edge,
    Expression,
    Fraction,
    Frame,
    NamedTime,
    Offset,
    Order,
    PartOfDay,
)
from gpu_workers.engine.answering.reading.time_words import LANGUAGES, TimeWord, nouns_in_capitals, time_words

MOST_ANCHOR_WORDS = 8
"""Maximum number of words that name the event of an order."""


def named_time(text: str, *, language: str = "") -> NamedTime | None:
    """Return the times that text names; None if it names none.

    language: ISO 639-1 code; "" tries every table, and the one that explains most of the text counts.
    A language without a table has figures alone (1:23:45), read with the English table.
    """
    if language:
        return _named(text, language if language in LANGUAGES else "en")
    found = [time for known in LANGUAGES if (time := _named(text, known)) is not None]
    return max(found, key=lambda time: len(time.words.replace(", ", "")), default=None)


def _named(text: str, language: str) -> NamedTime | None:
    parse = _Parse.of(text, language)
    days, parts = _days(parse), _parts_of_day(parse)
    found = [expression for rule in _RULES for expression in rule(parse, bool(days or parts))]
    if days or parts:
        own = [part for _, part in days]
        found = _dated(found, [day for day, _ in days] or [None], own if any(own) else parts or [None])
    if not found:
        return None
    ordered = [expression for expression in found if isinstance(expression, Order)]
    found = [ordered[0]] if ordered else _one_stretch(found)
    joined = len(found) > 1 and parse.is_joined() and not any(isinstance(e, Clocked) and e.end for e in found)
    words, remaining = parse.split()
    return NamedTime(words, tuple(found), remaining, joined=joined)


# --- patterns over kinds of tokens ---------------------------------------------------------------------------------

_SHORTHANDS = {
    "ELSEWHERE": "(?!OF|FROM|THE)",  # "at the end of the table" is no time
    "VIDEOS": "(?:(?:OF|IN|AT|FROM)? THE? VIDEO (?!THAT))",  # "the clip that …" is a part of it
    "CLAUSE": "(?=STOP|DASH|OVER|THEN|ASK|$)",
    "LENGTH": "(?:SPAN|NUM DASH? UNITS (?:AND? NUM UNITS)?|UNITS)",
    "TIME": "(?:PAST NUM|CLOCK (?:OCLOCK|WATCH)?|NUM LATER|NUM (?:OCLOCK|WATCH)?)",
    "ORD": "(?:NTH|SECOND)",
    "UNITS": "(?:UNIT|SECOND)",
    "LEADS": "(?:AT|IN|DURING|ABOUT|VERY|THE)*",
    "ANCHOR": "OTHER (?:(?!STOP|OVER|ASK|CLOCK|UNIT|SPAN|WEEKDAY|ONDAY|DATE|MONTH|INPART|ORDER) KIND){0,15}?",
    "ORDER": "(?:AFTER|BEFORE|AFTERTHE|BEFORETHE)",
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

    return re.compile("(?<![A-Z])(?:" + re.sub(r"\s", "", expand(pattern)) + ")")


@dataclass(frozen=True, slots=True)
class _Match:
    """A pattern's match: its tokens, and those of each group; groups one and one2 are the same in two alternatives."""

    words: Sequence[TimeWord]
    first: int
    groups: dict[str, Sequence[TimeWord]]

    def __getitem__(self, group: str) -> Sequence[TimeWord]:
        return self.groups.get(group, ())

    def value(self, group: str) -> int:
        """Return the number, or the unit in ms, of a group of one token."""
        word = self.groups[group][0]
        return 2 if word.kind == "SECOND" and not group.startswith("unit") else int(word.value)

    def length(self) -> tuple[int, int]:
        """Return the LENGTH of group length in ms, and its smallest unit, a minute at most."""
        total, number, smallest = 0, 1, 60_000
        for word in self["length"]:
            if word.kind == "NUM":
                number = word.value
            elif word.kind in ("UNIT", "SECOND", "SPAN"):
                total += number * word.value
                smallest, number = min(smallest, word.value), 1
        return total, smallest

    def time(self, group: str) -> ClockTime | None:
        """Return the TIME of a group; None if its hour is none."""
        words = self[group]
        number = next((word.value for word in words if word.kind == "NUM"), 0)
        shift = next((word.value for word in words if word.kind in ("PAST", "LATER")), None)
        if words[0].kind == "CLOCK":
            return words[0].value if isinstance(words[0].value, ClockTime) else None
        if number > 24:
            return None
        if shift is None:
            return ClockTime((number,), spoken=len(words) > 1)
        return ClockTime(((number - (shift < 0) - 1) % 12 + 1, shift % 60), spoken=True)


@dataclass(frozen=True, slots=True)
class _Parse:
    """A text's tokens, their kinds as a string, and which of them a rule has taken."""

    text: str
    language: str
    words: Sequence[TimeWord]
    kinds: str
    starts: Sequence[int]
    taken: list[bool]

    @classmethod
    def of(cls, text: str, language: str) -> _Parse:
        words = list(time_words(text, language))
        starts, kinds = [], ""
        for word in words:
            starts.append(len(kinds))
            kinds += f"{word.kind};"
        return cls(text, language, words, kinds, starts, [False] * len(words))

    def take(self, pattern: str) -> Iterator[_Match]:
        """Yield the matches of pattern among tokens that no rule has taken. They are taken unless the caller says
        that they are none (leave)."""
        for match in _compiled(pattern).finditer(self.kinds):
            first, last = (bisect_left(self.starts, place) for place in match.span())
            if first == last or any(self.taken[first:last]):
                continue
            groups = {
                name.rstrip("23456"): self.words[bisect_left(self.starts, start) : bisect_left(self.starts, end)]
                for name in match.groupdict()
                for start, end in [match.span(name)]
                if start < end
            }
            self.taken[first:last] = [True] * (last - first)
            yield _Match(self.words[first:last], first, groups)

    def leave(self, match: _Match, *, beyond: TimeWord | None = None, only: Sequence[str] = ()) -> None:
        """Give tokens of a match back: those beyond a word, those of some kinds, or all."""
        for n, word in enumerate(match.words, start=match.first):
            if (beyond is None or word.start > beyond.start) and (not only or word.kind in only):
                self.taken[n] = False

    def said(self, words: Sequence[TimeWord]) -> str:
        return self.text[words[0].start : words[-1].end]

    def before(self, match: _Match) -> str:
        return self.words[match.first - 1].kind if match.first else ""

    def after(self, match: _Match) -> str:
        end = match.first + len(match.words)
        return self.words[end].kind if end < len(self.words) else ""

    def is_joined(self) -> bool:
        """Whether the words between the times join them to one stretch: "between the start and 10:00", "Monday to
        Wednesday"."""
        first, last = self.taken.index(True), len(self.taken) - self.taken[::-1].index(True)
        kinds = [word.kind for word in self.words]
        loose = {kinds[n] for n in range(first, last) if not self.taken[n]}
        return "BETWEEN" in kinds[max(0, first - 1) : last] or bool(loose & {"TO", "BEFORE"})

    def split(self) -> tuple[str, str]:
        """Return the words that were taken, and the text without them."""
        for n in range(1, len(self.words) - 1):
            # "And" between two times belongs to neither of them, and to nothing else.
            if self.taken[n - 1] and self.taken[n + 1] and self.words[n].kind == "AND":
                self.taken[n] = True
        pieces: list[list[int]] = []
        for word, taken in zip(self.words, self.taken, strict=True):
            if taken and pieces and not self.text[pieces[-1][1] : word.start].strip():
                pieces[-1][1] = word.end
            elif taken:
                pieces.append([word.start, word.end])
        rest, end = [], 0
        for start, until in pieces:
            rest.append(self.text[end:start])
            end = until
        remaining = " ".join(" ".join([*rest, self.text[end:]]).split())
        remaining = re.sub(r"\s+([?.,!])", r"\1", remaining).lstrip(" ,.;:-")
        return ", ".join(self.text[start:end] for start, end in pieces), remaining


# --- days ----------------------------------------------------------------------------------------------------------

_DAYS = (
    "LEADS (?P<date>DATE)|LEADS (?P<named>ONDAY)",
    "LEADS (?:(?P<day>NUM|ORD) OF? FROM? THE? (?P<month>MONTH)|(?P<month2>MONTH) THE? (?P<day2>NUM|ORD)) "
    "(?:STOP? OF? FROM? (?P<year>NUM))?",
    "(?P<ago>NUM|AN) (?P<unit>DAY) AGO|(?:AGO|BEFORE) (?P<ago2>NUM|AN) (?P<unit2>DAY)",
    # "The second day of the fair" is none of the recording.
    "(?:(?:AT|IN|DURING) THE?|(?:(?<=OF)|(?<=FROM)|^) THE?) (?:(?P<nth>ORD) DAY|DAY (?P<nth2>NUM)) VIDEOS? "
    "(?!OF|FROM|THE|AFTER|BEFORE)|THE (?P<nth3>ORD) DAY CLAUSE",
    "(?:AT|IN|FROM|BETWEEN|DURING) THE? (?P<weekday>WEEKDAY)|(?:(?<=CLOCK)|(?<=INPART)) (?P<weekday2>WEEKDAY)"
    "|(?P<weekday3>WEEKDAY) (?=STOP? (?:AT|ABOUT|IN|FROM|BETWEEN|BEFORE|AFTER)* (?:PART|INPART|TIME))",
    "(?:AND|TO|BEFORE) LEADS (?P<next>WEEKDAY)",
)


def _days(parse: _Parse) -> list[tuple[Day, PartOfDay | None]]:
    """Return the days that a question names, in order, with the part of the day that the same word names."""
    found: list[tuple[int, Day, PartOfDay | None]] = []
    for pattern in _DAYS:
        for match in parse.take(pattern):
            day, part = _day(match, known=bool(found))
            if day is None:
                parse.leave(match)
                continue
            # Words that join two times say later how these belong together.
            if day.weekday is not None:
                parse.leave(match, only=("TO", "BETWEEN", "AND", "BEFORE"))
            found.append((match.first, day, part))
    return [(day, part) for _, day, part in sorted(found, key=lambda each: each[0])]


def _day(match: _Match, *, known: bool) -> tuple[Day | None, PartOfDay | None]:
    if match["date"]:
        return match["date"][0].value, None
    if match["named"]:
        day, part = match["named"][0].value
        return day, part
    if match["month"]:
        day, year = match.value("day"), match.value("year") if match["year"] else None
        valid = 1 <= day <= 31 and (year is None or 1900 <= year <= 2200)
        return (Day(month=match.value("month"), day=day, year=year) if valid else None), None
    if match["ago"]:
        return Day(ago=match.value("unit") * (match["ago"][0].value or 1)), None
    if match["nth"]:
        return Day(nth=match.value("nth")), None
    weekday = match["weekday"] or (match["next"] if known else ())
    return (Day(weekday=weekday[0].value) if weekday else None), None


_PARTS_OF_DAY = (
    "LEADS (?P<part>PART) (?:OF|FROM)? (?=THE? (?:ORD DAY|NUM MONTH|ORD MONTH|DATE))|(?P<part2>INPART)"
    "|(?:IN|DURING|OF|AT) THE? (?P<part3>PART) (?=STOP|OF|AT|FROM|ONDAY|NUM|$)|(?<=PART) AND LEADS (?P<part4>PART)"
    "|(?:(?<=DAY)|(?<=MONTH)|(?<=NTH)|(?<=NUM)|(?<=DATE)|(?<=CLOCK)) STOP? (?P<part5>PART)"
    # "Summarise the afternoon."
    "|(?<=^OTHER) THE (?P<part6>PART) CLAUSE"
)


def _parts_of_day(parse: _Parse) -> list[PartOfDay | None]:
    found: list[PartOfDay | None] = []
    for match in parse.take(_PARTS_OF_DAY):
        parse.leave(match, only=("AND", "STOP"))
        found.append(match["part"][0].value)
    return found


def _dated(found: list[Expression], days: Sequence[Day | None], parts: Sequence[PartOfDay | None]) -> list[Expression]:
    """Return the expressions on these days: one after the other if there are as many of both, else each on all."""
    pairs = list(zip(days, parts, strict=True)) if len(days) == len(parts) else list(product(days, parts))
    clocked = [each for each in found if isinstance(each, Clocked)]
    others = [each for each in found if not isinstance(each, Clocked)]
    if not clocked and (days != [None] or not found):
        return [*others, *(Clocked("day", day=day, part=part, frame="wall") for day, part in pairs)]
    timed = list(zip(clocked, pairs, strict=True)) if len(clocked) == len(pairs) else list(product(clocked, pairs))
    return [
        *others,
        *(replace(e, day=day, part=part, frame="shown" if e.frame == "shown" else "wall") for e, (day, part) in timed),
    ]


def _one_stretch(found: list[Expression]) -> list[Expression]:
    """Return "after two" and "before three" as one stretch, where these are all that was found."""
    edges = {each.kind: each for each in found if isinstance(each, Clocked)}
    since, until = edges.get("since"), edges.get("until")
    if len(found) != 2 or since is None or until is None:
        return found
    frame: Frame = "wall" if "wall" in (since.frame, until.frame) else since.frame
    return [replace(since, kind="between", end=until.end, frame=frame)]


# --- rules: each yields the expressions it finds. dated: whether the question names a day or a part of one ---------


def _shown(parse: _Parse, dated: bool) -> Iterator[Expression]:
    for match in parse.take(
        "(?:WHEN|WHILE|DURING)? THE? WATCH SHOWS LEADS (?P<one>TIME)|WHEN THE? WATCH (?P<one2>TIME) SHOWS?"
        "|LEADS (?P<one3>CLOCK) ONWATCH"
    ):
        yield Clocked("at", match.time("one"), frame="shown")


def _between(parse: _Parse, dated: bool) -> Iterator[Expression]:
    for match in parse.take(
        "(?:IN? DURING? THE? SECTION (?:OF THE? VIDEO)? THAT? OTHER?)? (?P<lead>FROM|BETWEEN|AT|BEGIN OTHER?|AFTER)? "
        "LEADS (?P<one>TIME) (?P<join>OTHER? TO|AND (?:END|TO|BEFORE|OTHER AT)|AND|BEFORE|AT) OTHER? LEADS "
        "(?P<two>TIME) (?P<video>VIDEOS)?"
    ):
        one, two = match.time("one"), match.time("two")
        lead = match["lead"][0].kind if match["lead"] else ""
        join = [word.kind for word in match["join"]]
        # Spanish says "de las 10:00 a las 11:00".
        if one is None or two is None or (join == ["AT"] and lead != "FROM"):
            parse.leave(match)
            continue
        if len(one.parts) == 1 and two.half and not one.half:
            # "Two and 3 pm" is in the afternoon from two on, "11 to 1 pm" around noon.
            same = one.parts[0] <= two.parts[0] % 12 or two.parts[0] == 12
            one = replace(one, half=two.half if same else "", spoken=True)
        if not all(_certain(time, "", dated and bool(lead)) for time in (one, two)):
            parse.leave(match)
            continue
        frame: Frame = "video" if match["video"] else _frame(one, two)
        if join == ["AND"] and lead != "BETWEEN":
            yield from (Clocked("at", time, frame=frame) for time in (one, two))
        else:
            yield Clocked("between", one, two, frame=frame)


def _open_ended(parse: _Parse, dated: bool) -> Iterator[Expression]:
    for match in parse.take(
        "(?P<edge>FROM|AFTER|BEFORE) LEADS (?P<one>TIME) (?:ON|AT (?=STOP|$))?|(?P<one2>CLOCK) (?P<edge2>SINCE|UNTIL)"
    ):
        time = match.time("one")
        if time is None or parse.before(match) == "SHORTLY" or not _certain(time, parse.after(match), dated):
            parse.leave(match)
        elif match["edge"][0].kind in ("BEFORE", "UNTIL"):
            yield Clocked("until", end=time, frame=_frame(time))
        else:
            yield Clocked("since", time, frame=_frame(time))


def _at(parse: _Parse, dated: bool) -> Iterator[Expression]:
    for match in parse.take(
        "(?P<leads>(?:AT|IN|ABOUT|SHORTLY|AFTER|BEFORE|THE|VERY)*) (?P<one>TIME) "
        "(?P<video>VIDEOS|INTO VIDEOS?|DASH? MARK VIDEOS?)?"
    ):
        time, leads = match.time("one"), {word.kind for word in match["leads"]}
        named = bool(leads or match["video"])
        # "At the 47:56 mark of the game" is a time of another clock.
        if (
            time is None
            or (match["video"] and parse.after(match) == "OF")
            or not _certain(time, parse.after(match), dated and named)
            or not (named or dated or len(time.parts) > 2 or time.spoken)
        ):
            parse.leave(match)
            continue
        frame: Frame = "video" if match["video"] else _frame(time)
        yield Clocked("at", time, frame=frame, about=bool(leads & {"ABOUT", "SHORTLY"}))


def _certain(time: ClockTime, following: str, known: bool) -> bool:
    """Whether figures are surely a time: those of a clock, or a bare hour next to a day."""
    sure = len(time.parts) > 1 or time.spoken
    return sure or (known and following not in ("OTHER", "UNIT", "SECOND", "NUM", "MONTH", "DASH", "DAY"))


def _frame(*times: ClockTime) -> Frame:
    return "wall" if any(time.spoken for time in times) else "any"


def _units(parse: _Parse, dated: bool) -> Iterator[Expression]:
    """Minutes 5 to 10; between the 5th and the 10th minute; minute 12; ten minutes into the video."""
    for match in parse.take(
        "(?:FROM|BETWEEN)? LEADS (?P<unit>UNIT) (?P<one>NUM) (?:TO|AND|BEFORE)+ LEADS UNIT? (?P<two>NUM) VIDEOS? "
        "(?!UNITS)"
    ):
        yield _offset(match, match.value("one"), max(match.value("two"), match.value("one") + 1))
    for match in parse.take(
        "(?:FROM|BETWEEN) THE? (?P<one>NUM|ORD) (?:TO|AND) THE? (?P<two>NUM|ORD) (?P<unit>UNITS) VIDEOS? (?!ORDER)"
    ):
        yield _offset(match, match.value("one") - (match["one"][0].kind != "NUM"), match.value("two"))
    for match in parse.take("(?:TO|BEFORE) THE? (?P<length>LENGTH) DASH? MARK"):
        yield Edge("first", match.length()[0])
    for match in parse.take(
        "LEADS (?P<unit>UNIT|(?<=AT)SECOND|(?<=IN THE)SECOND) (?P<one>NUM) VIDEOS? (?!UNITS|TO|AND|OF|DASH)"
    ):
        yield _offset(match, match.value("one"), match.value("one") + 1)
    for match in parse.take(
        "(?:AT|IN|ABOUT|AFTER)* THE? (?P<length>LENGTH) (?:INTO (?:VIDEOS|OTHER CLAUSE)?|IN CLAUSE|VIDEOS? DASH? MARK)"
        "|(?:AT ABOUT? THE? (?P<length2>NUM DASH? UNITS)|AFTER THE? (?P<length3>LENGTH) VIDEOS) "
        "(?!OF|OTHER|ORDER)"
        "|(?P<length4>LENGTH) AFTER THE? BEGIN VIDEOS? ELSEWHERE"
    ):
        long, unit = match.length()
        yield Offset(long, long + unit)


def _offset(match: _Match, start: int, end: int) -> Offset:
    return Offset(start * match.value("unit"), end * match.value("unit"))


def _edges(parse: _Parse, dated: bool) -> Iterator[Expression]:
    """The first ten minutes; in the first and in the last hour; the twelfth minute; the ten minutes before the end."""
    for match in parse.take(
        "(?P<lead>LEADS) (?P<edge>ORD|BEGIN|END) (?:AND LEADS (?P<other>ORD|BEGIN|END))? (?P<length>LENGTH) "
        "(?P<video>VIDEOS)? (?!DASH|ORDER THE? (?:OTHER|ORD))"
    ):
        sides = [{"BEGIN": 1, "END": -1, "SECOND": 2}.get(w.kind, w.value) for w in (*match["edge"], *match["other"])]
        (long, _), after, leads = match.length(), parse.after(match), {word.kind for word in match["lead"]}
        # "The last minute decision": a unit alone may belong to the next word.
        alone = len(match["length"]) == 1 and match["length"][0].kind != "SPAN"
        within = bool(match["video"] or leads & {"IN", "DURING"})
        inner = not set(sides) <= {1, -1}
        if (
            (alone and not within and after not in ("", "STOP", "AND"))
            or (inner and (not alone or after == "OF"))
            or not (leads or match["video"] or match.first == 0)
        ):
            parse.leave(match)
            continue
        for side in sides:
            edge = Edge("first" if side == 1 else "last", long)
            yield edge if side in (1, -1) else Offset((side - 1) * long, side * long)
    for match in parse.take(
        "OTHER? THE? (?P<length>LENGTH) LEFT|IN? THE? (?P<length2>LENGTH) (?:AT THE? (?P<begin>BEGIN)|AT THE? END"
        "|(?:BEFORE THE?|BEFORETHE) (?:VIDEO END|END)) VIDEOS? ELSEWHERE"
    ):
        yield Edge("first" if match["begin"] else "last", match.length()[0])


def _shares(parse: _Parse, dated: bool) -> Iterator[Expression]:
    """The second half; the first and the last third; the beginning, the end, the middle of the video."""
    for match in parse.take(
        "(?:IN|DURING) THE? (?P<nth>ORD) (?:AND LEADS (?P<other>ORD))? (?P<of>HALF|NTH) (?:VIDEOS|OF THE MATCH)? "
        "ELSEWHERE|LEADS (?P<share>FRACTION)"
    ):
        if match["share"]:
            start, of = match["share"][0].value
            yield Fraction(start, start + 1, of)
            continue
        of, numbers = match.value("of"), [match.value(name) for name in ("nth", "other") if match[name]]
        if of not in (2, 3, 4) or max(numbers) > of:
            parse.leave(match)
            continue
        for number in numbers:
            first = of - 1 if number < 0 else number - 1
            yield Fraction(first, first + 1, of)
    for match in parse.take(
        "(?:AT|BETWEEN|BEFORE|ABOUT|IN|FROM)* (?:THE|VERY)* (?P<edge>BEGIN|END) VIDEOS"
        "|(?:AT|BETWEEN|BEFORE|ABOUT|IN (?=(?:THE|VERY)* BEGIN))+ (?:THE|VERY)* (?P<edge2>BEGIN|END) ELSEWHERE"
        "|(?:BEFORE|WHEN|HOW)? OTHER? (?:THE? VIDEO|(?<=HOW)OTHER|(?<=HOW OTHER)OTHER) (?:OTHER|OF)? "
        "(?P<edge3>BEGIN|END) (?!OF|AT TIME|OTHER TIME)"
        "|THE (?P<edge4>NTH|BEGIN|END) SCENE (?:VIDEOS|CLAUSE)|(?<!IN)THE (?P<edge5>END) CLAUSE"
    ):
        (word,) = match["edge"]
        if word.kind == "NTH" and word.value not in (1, -1):
            parse.leave(match)
            continue
        yield OPENING if word.kind == "BEGIN" or word.value == 1 else CLOSING
    yield from (CENTRE for _ in parse.take("(?:AT|IN)? THE? MIDDLE VIDEOS|MIDDLE THE? VIDEO|VIDEO OF? MIDDLE"))


def _orders(parse: _Parse, dated: bool) -> Iterator[Expression]:
    """After the second delivery; half an hour after the delivery; during the last goal; between the first and the
    second delivery. Without a number, an event is a noun that the question takes as known: "after the delivery"."""
    for match in parse.take(
        "(?:(?P<lead>(?:IN|DURING) THE? (?:NTH|BEGIN)?)? (?P<length>LENGTH)|(?P<shortly>SHORTLY))? "
        "(?:(?P<order>AFTER|BEFORE) (?P<known>THE)?|(?P<order2>AFTERTHE|BEFORETHE)) (?P<nth>ORD)? "
        "(?P<anchor>ANCHOR) (?:CLAUSE|(?=VIDEOS CLAUSE))"
    ):
        anchor, order = match["anchor"], match["order"][0].kind
        if nouns_in_capitals(parse.language):
            anchor = _up_to_noun(parse, anchor)
        if len(anchor) > (MOST_ANCHOR_WORDS if match["nth"] else 1) or not (
            match["nth"] or match["known"] or order.endswith("THE")
        ):
            parse.leave(match)
            continue
        parse.leave(match, beyond=anchor[-1])
        away = match.length()[0] if match["length"] else 0
        yield Order(
            "after" if order.startswith("AFTER") else "before",
            match.value("nth") if match["nth"] else 1,
            parse.said(anchor),
            at_ms=0 if match["lead"] else away,
            within_ms=SHORTLY_MS if match["shortly"] else away if match["lead"] else 0,
        )
    for match in parse.take(
        "(?:DURING THE? (?P<nth>ORD)|WHILE THE) (?P<anchor>ANCHOR) CLAUSE"
        "|THE? (?P<nth3>ORD) (?P<anchor3>ANCHOR) VIDEOS? (?P<then>OVER|STOP? AND? THEN)"
        "|BETWEEN THE? (?P<nth2>ORD) (?P<anchor2>ANCHOR)? AND THE? (?P<last>ORD) (?P<to>ANCHOR) CLAUSE"
    ):
        anchor, last = match["anchor"] or match["to"], match["to"]
        if max(len(anchor), len(last)) > MOST_ANCHOR_WORDS:
            parse.leave(match)
            continue
        nth = match.value("nth") if match["nth"] else 0
        if last:
            yield Order("between", nth, parse.said(anchor), last_nth=match.value("last"), last_anchor=parse.said(last))
        else:
            yield Order("after" if match["then"] else "during", nth, parse.said(anchor))


def _up_to_noun(parse: _Parse, words: Sequence[TimeWord]) -> Sequence[TimeWord]:
    """Return the words up to their last noun, without the verbs after it: "Lieferung" of "Lieferung passiert ist"."""
    nouns = [n for n, word in enumerate(words) if parse.text[word.start].isupper()]
    return words[: nouns[-1] + 1] if nouns else words


_RULES: Sequence[Callable[[_Parse, bool], Iterator[Expression]]] = (
    _shown, _between, _open_ended, _units, _edges, _shares, _at, _orders,
)  # fmt: skip

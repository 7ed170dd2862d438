"""The rules by which a question's words name a time. They read the question alone.

A rule is a regular expression over the kinds of the question's tokens, one letter each (lexicon.KINDS), so that one
grammar serves every language that has a table of words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from gpu_workers.engine.answering.reading.expressions import (
    CENTRE,
    CLOSING,
    OPENING,
    Clocked,
    Day,
    Edge,
    Expression,
    Frame,
    NamedTime,
    Offset,
    Order,
    PartOfDay,
    Reading,
)
from gpu_workers.engine.answering.reading.times.combining import dated, is_joined, joined_edges
from gpu_workers.engine.answering.reading.times.days import day_of, more_days, more_parts, part_of_day
from gpu_workers.engine.answering.reading.times.english import ENGLISH
from gpu_workers.engine.answering.reading.times.german import GERMAN
from gpu_workers.engine.answering.reading.times.lexicon import Lexicon, tokens_of
from gpu_workers.engine.answering.reading.times.orders import meetings, orders
from gpu_workers.engine.answering.reading.times.pairs import share_of, two_of_one_noun
from gpu_workers.engine.answering.reading.times.parsing import DURATION, Parsing, length
from gpu_workers.engine.answering.reading.times.spanish import SPANISH
from gpu_workers.engine.answering.reading.times.stretch import without_stretch

LEXICONS = {lexicon.language: lexicon for lexicon in (ENGLISH, GERMAN, SPANISH)}
"""By language. A further language is a table of words here."""

# "At the end of the table" is no time, nor are "am Ende des Tisches" and "al final de la mesa".
_ELSEWHERE = r"(?![Oftl])"
_TIMED = r"[cn]K?"


def named_time(text: str, *, language: str = "") -> NamedTime | None:
    """Return the times that text names; None if it names none.

    language: ISO 639-1 code; "" tries every table, and the one that explains most of the text counts.
    A language without a table has figures alone (1:23:45), read with the English table.
    """
    if language:
        return _named(text, LEXICONS.get(language, ENGLISH))
    found = [time for lexicon in LEXICONS.values() if (time := _named(text, lexicon)) is not None]
    return max(found, key=lambda time: len(time.words), default=None)


def _named(text: str, lexicon: Lexicon) -> NamedTime | None:
    tokens = tokens_of(text, lexicon)
    parsing = Parsing(text, tokens, "".join(token.kind for token in tokens), [False] * len(tokens))
    day, part = day_of(parsing), part_of_day(parsing)
    days = [day, *more_days(parsing)] if day is not None else [None]
    parts = [part, *more_parts(parsing)] if part is not None else [None]
    found = [expression for rule in _RULES for expression in rule(parsing, day, part)]
    if day is not None or part is not None:
        found = dated(found, days, parts)
    if not found:
        return None
    ordered = [expression for expression in found if isinstance(expression, Order)]
    found = [ordered[0]] if ordered else joined_edges(found)
    words, remaining = _split(parsing)
    return NamedTime(words, tuple(found), remaining, joined=len(found) > 1 and is_joined(parsing, found))


def _split(parsing: Parsing) -> tuple[str, str]:
    """Return the words of the rules, and the text without them and without what names their stretch."""
    pieces: list[list[int]] = []
    for n in range(1, len(parsing.tokens) - 1):
        # "And" between two times belongs to neither of them, and to nothing else.
        if parsing.taken[n - 1] and parsing.taken[n + 1] and parsing.also(n):
            parsing.taken[n] = True
    for token, taken in zip(parsing.tokens, parsing.taken, strict=True):
        if taken and pieces and not parsing.text[pieces[-1][1] : token.start].strip():
            pieces[-1][1] = token.end
        elif taken:
            pieces.append([token.start, token.end])
    rest, end = [], 0
    for start, until in pieces:
        rest.append(without_stretch(parsing.text[end:start], parsing.text[start:until]))
        end = until
    remaining = " ".join(" ".join([*rest, parsing.text[end:]]).split())
    remaining = re.sub(r"\s+([?.,!])", r"\1", remaining).lstrip(" ,.;:-")
    return ", ".join(parsing.text[start:end] for start, end in pieces), remaining


# --- rules: each yields the expressions it finds --------------------------------------------------------------------

_Rule = Callable[[Parsing, Day | None, PartOfDay | None], Iterator[Expression]]


def _shown(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    for match in parsing.matches(rf"S[ag]*(?P<one>{_TIMED})|[ag]*t?(?P<other>c)s"):
        reading = _reading(parsing, match, "one" if match["one"] else "other")
        if reading is not None:
            parsing.take(match)
            yield Clocked("at", reading, frame="shown")


def _between(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    dated = day is not None or part is not None
    # In Spanish "a" is to after "de", and at elsewhere.
    pair = rf"[tag]*(?P<one>{_TIMED})(?(since)[&<a]|[&<])[tag]*(?P<two>{_TIMED})(?P<video>V?)"
    for match in parsing.matches(rf"(?P<from>(?P<since>f)|[baP])?{pair}"):
        one, two = _reading(parsing, match, "one"), _reading(parsing, match, "two")
        figures = parsing.of(match, "c") or "K" in match.group()
        if one is None or two is None or not (figures or (dated and match["from"])):
            continue
        # "two and 3 pm" is in the afternoon from two on; "1:00 and 2" is no pair of times.
        if len(one.parts) == 1 and two.half and not one.half:
            one = replace(
                one, half=two.half if one.parts[0] <= two.parts[0] % 12 or two.parts[0] == 12 else "", spoken=True
            )
        if not match["from"] and parsing.kinds[match.start("one") :][:1] == "n":
            continue
        if len(one.parts) == 1 and not (one.spoken or two.spoken or dated):
            continue
        parsing.take(match)
        if match["from"] != "b" and parsing.also(match.end("one")):
            # "At 10:00 and at 15:00" are two times.
            for reading in (one, two):
                yield Clocked("at", reading, frame="video" if match["video"] else _frame(one, two))
            continue
        yield Clocked(
            "between", one, two, frame="video" if match["video"] or match["from"] == "P" else _frame(one, two)
        )


def _open_ended(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    for match in parsing.matches(rf"(?<!j)(?P<edge>[f><])[tag]*(?P<one>{_TIMED})(?:R|a(?!t?[wymDo]))?"):
        reading = _reading(parsing, match, "one")
        if reading is None or not _certain(reading, parsing, match, day, part):
            continue
        parsing.take(match)
        if match["edge"] == "<":
            yield Clocked("until", end=reading, frame=_frame(reading))
        else:
            yield Clocked("since", reading, frame=_frame(reading))


def _at(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    for match in parsing.matches(rf"(?P<at>[agi]+t?|j[<>]t?|[CP])?(?P<one>{_TIMED})(?P<video>[VNk]?)"):
        reading = _reading(parsing, match, "one")
        if reading is None or not _certain(reading, parsing, match, day, part):
            continue
        if not match["at"] and not match["video"] and len(reading.parts) < 3 and not reading.spoken and day is None:
            continue
        parsing.take(match)
        frame: Frame = "video" if match["video"] or match["at"] in ("C", "P") else _frame(reading)
        yield Clocked("at", reading, frame=frame, about=not {"g", "j"}.isdisjoint(match["at"] or ""))


def _minutes(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    """Minute 12, minutes 5 to 10, the twelfth minute, ten minutes into the video, at 90 seconds."""
    # "Once minute 5 begins and before minute 10" is one stretch, too.
    pair = r"(?P<unit>u|(?<=[fbai])Q)(?P<one>n)(?:[&<]|x?&<)[ait]*[uQ]?(?P<two>n)"
    for match in parsing.matches(rf"[fbait]*{pair}V?(?![uQ])"):
        unit, one, two = (parsing.tokens[match.start(name)].value for name in ("unit", "one", "two"))
        if one <= two:
            parsing.take(match)
            yield Offset(one * unit, max(two, one + 1) * unit)
    for match in parsing.matches(r"[bf]t?(?P<one>o)&t?(?P<two>o)(?P<unit>[uQ])V?"):
        one, two, unit = (parsing.tokens[match.start(name)].value for name in ("one", "two", "unit"))
        if 0 < one <= two:
            parsing.take(match)
            yield Offset((one - 1) * unit, two * unit)
    for match in parsing.matches(r"[&<]t?(?P<length>n[-&]?[uQ]|d)k"):
        parsing.take(match)
        yield Edge("first", length(parsing, match, "length")[0])
    for match in parsing.matches(r"[it]*a*t?(?P<unit>u|(?<=[ai])Q)(?P<one>n)V?(?![uQ&])"):
        unit, one = (parsing.tokens[match.start(name)].value for name in ("unit", "one"))
        parsing.take(match)
        yield Offset(one * unit, (one + 1) * unit)
    for match in parsing.matches(
        rf"(?:[ai]g?t?)?(?P<length>{DURATION})(?P<into>N|i(?=\.))|[ag]t?(?P<mark>n[-&]?[uQ])-?(?:k|V)?(?![Ox<>])|[ag]t?(?P<point>d)k|>t?(?P<after>{DURATION})V"
        rf"|(?P<since>{DURATION})>t?BV?{_ELSEWHERE}"
    ):
        group = "length" if match["into"] else next(name for name in ("mark", "point", "after", "since") if match[name])
        long, unit = length(parsing, match, group)
        parsing.take(match)
        yield Offset(long, long + unit)
    for match in parsing.matches(
        r"(?:i|^)t?(?P<nth>[oQ])(?P<unit>[uQ])V?(?!x?O)|t?(?P<nth2>[oQ])(?P<unit2>[uQ])(?:V|(?=\.|$))"
    ):
        nth = parsing.tokens[match.start("nth" if match["nth"] else "nth2")]
        unit = parsing.tokens[match.start("unit" if match["unit"] else "unit2")].value
        number = 2 if nth.kind == "Q" else nth.value
        parsing.take(match)
        yield Edge("last", unit) if number < 0 else Offset((number - 1) * unit, number * unit)


def _edges(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    """The first ten minutes, the last half hour."""
    for match in parsing.matches(
        rf"(?P<lead>i?t?)(?P<edge>[oBE])(?P<length>{DURATION})(?P<video>V?)(?:<E)?(?!-|[<>]t?[xoQ])"
    ):
        edge = parsing.tokens[match.start("edge")]
        nth = {"B": 1, "E": -1}.get(edge.kind, edge.value)
        if nth not in (1, -1) or not (match["lead"] or match["video"] or match.start() == 0):
            continue
        # "The last minute decision": a unit alone may belong to the next word.
        alone = match["length"] in ("u", "Q") and "i" not in match["lead"] and not match["video"]
        if alone and not re.match(r"$|\.|ix(?:\.|$)", parsing.kinds[match.end() :]):
            continue
        parsing.take(match)
        yield Edge("first" if nth == 1 else "last", length(parsing, match, "length")[0])
    for match in parsing.matches(rf"x?t?(?P<length>{DURATION})L"):
        parsing.take(match)
        yield Edge("last", length(parsing, match, "length")[0])
    for match in parsing.matches(rf"i?t?(?P<length>{DURATION})(?:at?(?P<edge>[BE])|<t?E)V?{_ELSEWHERE}"):
        parsing.take(match)
        yield Edge("first" if match["edge"] == "B" else "last", length(parsing, match, "length")[0])


def _shares(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    """The second half, the last third, the beginning, the end, the middle of the video."""
    for match in parsing.matches(rf"it?(?P<nth>[oQ])(?P<of>[Ho])V?{_ELSEWHERE}"):
        nth, of = parsing.tokens[match.start("nth")], parsing.tokens[match.start("of")].value
        number = 2 if nth.kind == "Q" else nth.value
        share = share_of(number, of)
        if share is not None:
            parsing.take(match)
            yield share
    for match in parsing.matches(rf"(?:[ai]+t?B|Z)V?{_ELSEWHERE}|(?:[abi<>]*t?B|Z)V"):
        parsing.take(match)
        yield OPENING
    for match in parsing.matches(
        rf"(?:[a<]t?E|Y)V?{_ELSEWHERE}|(?:[aib<>]*t?E|Y)V|(?<=&)t?E{_ELSEWHERE}|e(?:V|(?=\.|$))"
    ):
        parsing.take(match)
        yield CLOSING
    for match in parsing.matches(r"[ai]?t?(?:MV|h)"):
        parsing.take(match)
        yield CENTRE


_RULES: tuple[_Rule, ...] = (
    _shown,
    _between,
    _open_ended,
    two_of_one_noun,
    _minutes,
    _edges,
    _shares,
    _at,
    orders,
    meetings,
)


# --- parts of rules ------------------------------------------------------------------------------------------------


def _reading(parsing: Parsing, match: re.Match[str], group: str) -> Reading | None:
    tokens = parsing.of(match, "cnK", group)
    first = tokens[0]
    if first.kind == "c":
        return first.value if isinstance(first.value, Reading) else None
    if not 0 <= first.value <= 24:
        return None
    return Reading((first.value,), spoken=len(tokens) > 1)


def _certain(reading: Reading, parsing: Parsing, match: re.Match[str], day: Day | None, part: PartOfDay | None) -> bool:
    """Whether a reading is surely a time: a clock's figures, or a bare number next to a day or with o'clock."""
    if len(reading.parts) > 1 or reading.spoken:
        return True
    at = match.groupdict().get("at") or match.groupdict().get("edge") or ""
    following = parsing.kinds[match.end() : match.end() + 1]
    return bool(at) and (day is not None or part is not None) and following not in ("x", "u", "n", "m", "-")


def _frame(*readings: Reading) -> Frame:
    return "wall" if any(reading.spoken for reading in readings) else "any"

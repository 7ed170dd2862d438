"""The days and parts of days that a question names."""

from __future__ import annotations

import re

from gpu_workers.engine.answering.reading.expressions import Day, PartOfDay
from gpu_workers.engine.answering.reading.times.parsing import Parsing

SUMMARISING = frozenset({"summarise", "summarize", "recap", "describe", "fass", "fasse", "fassen", "resume", "resumir"})
"""Verbs whose object may be a part of the day."""


def day_of(parsing: Parsing) -> Day | None:
    """Return the day that a question names, and take its words; None without one."""
    for match in parsing.matches(r"a?t?D|a?t?(?:w\.?a?t?)?(?:[no][Of]?m(?:[Of]?n)?|mt?[no](?:\.?n)?)"):
        made = _date(parsing, match)
        if made is not None:
            parsing.take(match)
            return made
    for match in parsing.matches("[nt]G"):
        first, unit = (token.value for token in parsing.tokens[match.start() : match.end()])
        parsing.take(match)
        return Day(ago=unit * (first if isinstance(first, int) else 1))
    for match in parsing.matches("y"):
        parsing.take(match)
        value = parsing.tokens[match.start()].value
        day = value[0] if isinstance(value, tuple) else value
        return day if isinstance(day, Day) else Day(ago=day)
    # "The second day of the fair" is none of the recording.
    for match in parsing.matches(r"(?:[aiO]t?|(?<![^.])t?|t(?=[oQ]JV))(?:[oQ]J|Jn)V?(?![Oft])|JV?(?![Oftn])"):
        number, *_ = [*parsing.of(match, "oQn"), *parsing.of(match, "J")]
        if number.value is None:
            continue
        parsing.take(match)
        return Day(nth=2 if number.kind == "Q" else number.value)
    # In Spanish "el lunes" is "on Monday"; in other languages an article makes a name: "the Sunday newspaper".
    for match in parsing.matches(r"[aoi]?tw"):
        if parsing.text[parsing.tokens[match.end() - 2].start : parsing.tokens[match.end() - 2].end].lower() == "el":
            parsing.take(match)
            return Day(weekday=parsing.of(match, "w")[0].value)
    for match in parsing.matches(r"[aoi]t?o?w|(?<=p)Ot?w|w(?=p|\.?c|\.?[abfi]t?[cn])|(?<=c)w"):
        value = parsing.of(match, "w")[0].value
        # Part of the day in the same word: left for part_of_day().
        parsing.take(match)
        return Day(weekday=value[0] if isinstance(value, tuple) else value)
    return None


def more_days(parsing: Parsing) -> list[Day]:
    """Return the days that "and" or "or" adds to the first one, and take their words."""
    days = []
    for match in parsing.matches(r"[&x][ait]*o?(?P<day>D|y|w|[no][Of]?m(?:[Of]?n)?|mt?[no])"):
        if not parsing.also(match.start()):
            continue
        token = parsing.tokens[match.start("day")]
        if token.kind in "wy":
            value = token.value[0] if isinstance(token.value, tuple) else token.value
            day = Day(weekday=value) if token.kind == "w" else value if isinstance(value, Day) else Day(ago=value)
        elif (date := _date(parsing, match)) is not None:
            day = date
        else:
            continue
        parsing.take(match)
        days.append(day)
    return days


def more_parts(parsing: Parsing) -> list[PartOfDay]:
    """Return the parts of the day that "and" or "or" adds to the first one, and take their words."""
    parts = []
    for match in parsing.matches(r"[&x][ait]*p"):
        if parsing.also(match.start()):
            parsing.take(match)
            parts.append(parsing.of(match, "p")[0].value)
    return parts


def _date(parsing: Parsing, match: re.Match[str]) -> Day | None:
    dates = parsing.of(match, "D")
    if dates:
        return dates[0].value if isinstance(dates[0].value, Day) else None
    month = parsing.of(match, "m")[0].value
    numbers = [token.value for token in parsing.of(match, "no")]
    years = [number for number in numbers[1:] if 1900 <= number <= 2200]
    if not 1 <= numbers[0] <= 31 or (len(numbers) > 1 and not years):
        return None
    return Day(month=month, day=numbers[0], year=years[0] if years else None)


def part_of_day(parsing: Parsing) -> PartOfDay | None:
    """Return the part of the day that a question names, and take its words; None without one."""
    for token in parsing.tokens:
        if token.kind in "wy" and isinstance(token.value, tuple) and isinstance(token.value[1], PartOfDay):
            return token.value[1]
    for match in parsing.matches("p"):
        token = parsing.tokens[match.start()]
        before, after = parsing.kinds[: match.start()], parsing.kinds[match.end() :]
        next_to_time = re.search(r"[wymDcnK]$|[wymD]\.$", before) or re.match(r"[aO]t?(?:[wyDnom]|QJ)", after)
        if isinstance(token.value, PartOfDay) and (next_to_time or " " in parsing.text[token.start : token.end]):
            parsing.take(match)
            return token.value
    # "During the morning", "summarise the afternoon": a part of the day that no other word belongs to.
    for match in parsing.matches(r"(?P<lead>[iO])t?p(?=\.|$)|(?<=x)tp(?=(?P<rest>x?)(?:\.|$))"):
        token = parsing.of(match, "p")[0]
        about = parsing.tokens[match.start() - 1].value if match["lead"] is None else ""
        rest = [] if match["lead"] else parsing.of(match, "x", "rest")
        summarised = about in SUMMARISING and all(word.value == "zusammen" for word in rest)
        if isinstance(token.value, PartOfDay) and (match["lead"] or summarised):
            parsing.take(match)
            return token.value
    return None

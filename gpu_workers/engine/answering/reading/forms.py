"""The canonical forms of the times that a question names, before any recording is looked at.

Both readers give these forms: the reasoner by TIMES_SCHEMA, and the parser of words (times.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

HOUR_MS, MINUTE_MS, SECOND_MS = 3_600_000, 60_000, 1_000

Frame = Literal["any", "video", "wall", "shown"]
"""The clock that figures belong to: any if the words leave that open, the video's own time, the wall clock, or the
clock that is readable in the picture."""


@dataclass(frozen=True, slots=True)
class ClockTime:
    """Figures of a clock: hours, minutes and seconds, or minutes and seconds, or hours alone.

    half: the half of the day that was named; either if the words name a time of day and leave it open ("half past
    three"); "" for figures alone.
    """

    parts: tuple[int, ...]
    half: Literal["", "am", "pm", "either"] = ""

    @property
    def ms(self) -> int:
        """Return the figures as a time of a video: 1:23:45 in hours, 1:23 in minutes, 1 in hours."""
        hours, minutes, seconds = (0, *self.parts)[-3:] if len(self.parts) > 1 else (self.parts[0], 0, 0)
        return ((hours * 60 + minutes) * 60 + seconds) * SECOND_MS


@dataclass(frozen=True, slots=True)
class Day:
    """A day. Exactly one of: ago (0 today, 1 yesterday), weekday (Monday is 0), month with day and perhaps year, nth
    (the second day that was filmed; -1 is the last)."""

    ago: int | None = None
    weekday: int | None = None
    month: int = 0
    day: int = 0
    year: int | None = None
    nth: int = 0

    def is_day(self, of: date, *, today: date) -> bool:
        """Whether of is this day. A day by nth depends on what was filmed, so it is always False."""
        if self.ago is not None:
            return (today - of).days == self.ago
        if self.weekday is not None:
            return of.weekday() == self.weekday
        return (of.month, of.day) == (self.month, self.day) and self.year in (None, of.year)


@dataclass(frozen=True, slots=True)
class PartOfDay:
    """A part of the day in hours; end is above 24 if it ends on the next day. every: of each day that was filmed."""

    start: int
    end: int
    every: bool = False


WEEKEND = PartOfDay(0, 48)
"""Saturday and Sunday, from the start of Saturday."""

PARTS_OF_DAY = {
    "morning": PartOfDay(5, 12),
    "afternoon": PartOfDay(12, 18),
    "evening": PartOfDay(18, 23),
    "night": PartOfDay(21, 30),
    "weekend": WEEKEND,
}


@dataclass(frozen=True, slots=True)
class Clocked:
    """A time by the figures of a clock, by a day, or both.

    kind: at (start only), between, since (start only), until (end only), day (no figures). about: "around three".
    """

    kind: Literal["at", "between", "since", "until", "day"]
    start: ClockTime | None = None
    end: ClockTime | None = None
    day: Day | None = None
    part: PartOfDay | None = None
    frame: Frame = "any"
    about: bool = False

    def on(self, day: Day | None, part: PartOfDay | None) -> Clocked:
        """Return this time on a day, or in a part of one: then it is no time of a video."""
        return replace(self, day=day, part=part, frame="shown" if self.frame == "shown" else "wall")


@dataclass(frozen=True, slots=True)
class Edge:
    """The first, or the last, ms of each video."""

    edge: Literal["first", "last"]
    ms: int


@dataclass(frozen=True, slots=True)
class Fraction:
    """A part of each video: from numerator start to numerator end over of (the second half is 1 to 2 of 2).

    most_ms: maximum length of a part at an edge of the video, 0 without one.
    """

    start: int
    end: int
    of: int
    most_ms: int = 0

    def __str__(self) -> str:
        return f"{self.start}/{self.of} to {self.end}/{self.of}"


@dataclass(frozen=True, slots=True)
class Order:
    """What comes after, before or during the nth occurrence of an event in order of time; nth -1 is the last, 0 (with
    during) each of them. Or what comes between it and the last_nth occurrence of last_anchor.

    at_ms: the distance from it, "half an hour after". within_ms: the longest distance, "in the ten minutes after". Both
    are 0 without one, and at most one is given.
    """

    order: Literal["after", "before", "during", "between"]
    nth: int
    anchor: str
    at_ms: int = 0
    within_ms: int = 0
    last_nth: int = 0
    last_anchor: str = ""


Form = Clocked | Edge | Fraction | Order

OPENING = Fraction(0, 1, 10, 10 * MINUTE_MS)
"""The beginning of a video: its first tenth, ten minutes at most."""

CLOSING = Fraction(9, 10, 10, 10 * MINUTE_MS)
"""The end of a video: its last tenth, ten minutes at most."""

CENTRE = Fraction(4, 6, 10)
"""The middle of a video."""


@dataclass(frozen=True, slots=True)
class NamedTime:
    """The times that a text names. words: its parts that name them. forms: empty if it names none."""

    words: str = ""
    forms: tuple[Form, ...] = ()

    @property
    def order(self) -> Order | None:
        """Return the order among the forms; it decides alone."""
        return next((form for form in self.forms if isinstance(form, Order)), None)


# --- the reply of a reasoner ---------------------------------------------------------------------------------------

MOST_TIMES = 31
"""Maximum number of times of one question."""

_CLOCKED = ("at", "between", "since", "until", "day")
_WHOLE = {"beginning": OPENING, "middle": CENTRE, "end": CLOSING}
_ORDERS = ("after", "before", "during", "between_events")
_KINDS = (*_CLOCKED, "first", "last", "fraction", *_WHOLE, *_ORDERS)
_FRAMES: Mapping[str, Frame] = {"either": "any", "video": "video", "wall": "wall", "picture": "shown"}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "words": {"type": "string", "description": "The customer's words that name this time, copied."},
    "kind": {"type": "string", "enum": list(_KINDS)},
    "clock": {
        "type": "string",
        "enum": list(_FRAMES),
        "description": "Whose time start and end are. either: the words leave open whether of video or wall clock.",
    },
    "start": {"type": "string", "description": 'H:MM:SS, MM:SS or "3 pm"; of fraction "1/2" begins the second half.'},
    "end": {"type": "string", "description": 'As start; of fraction "2/2" ends the second half. "" if not named.'},
    "approximate": {"type": "boolean", "description": 'As in "around three".'},
    "day": {
        "type": "string",
        "description": '"", "today", "3 days ago", "monday", "2026-05-03", "05-03", "day 2" or "last day".',
    },
    "part_of_day": {"type": "string", "enum": ["", *PARTS_OF_DAY]},
    "every_day": {"type": "boolean", "description": 'As in "every morning".'},
    "seconds": {"type": "integer", "description": "Length of first or last; distance of after or before; else 0."},
    "within": {"type": "boolean", "description": "Whether seconds is the longest distance from the event."},
    "nth": {"type": "integer", "description": "Which occurrence of event: 1 the first, -1 the last, 0 each of them."},
    "event": {"type": "string", "description": "The event of after, before, during, between_events, in English."},
    "last_nth": {"type": "integer"},
    "last_event": {"type": "string", "description": "The second event of between_events, in English."},
}

TIMES_SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": _PROPERTIES,
        "required": list(_PROPERTIES),
        "additionalProperties": False,
    },
}
"""The times that a question names; an empty list if it names none."""


def time_of_reply(fields: Sequence[Mapping[str, Any]], said: Sequence[str]) -> NamedTime:
    """Return the times of a reply that follows TIMES_SCHEMA.

    It names none if one of its words stands in none of the customer's texts (said). Raises ValueError for a reply that
    contradicts itself.
    """
    if len(fields) > MOST_TIMES:
        raise ValueError(f'"times" has more than {MOST_TIMES} items')
    try:
        forms = tuple(_form(each) for each in fields)
    except ValueError as error:
        raise ValueError('"times" does not have the canonical form') from error
    texts = [" ".join(text.split()).lower() for text in said]
    words = [" ".join(each["words"].split()) for each in fields]
    if not all(any(piece and piece.lower() in text for text in texts) for piece in words):
        return NamedTime()
    return NamedTime(", ".join(dict.fromkeys(words)), forms)


def _form(fields: Mapping[str, Any]) -> Form:
    """Raises ValueError for fields that contradict each other."""
    kind, seconds = fields["kind"], fields["seconds"]
    if kind in _CLOCKED:
        return _clocked(fields)
    if kind in _WHOLE:
        return _WHOLE[kind]
    if kind in ("first", "last"):
        if seconds <= 0:
            raise ValueError("a length is missing")
        return Edge(kind, seconds * SECOND_MS)
    if kind == "fraction":
        (start, of), (end, other) = (map(int, fields[name].split("/")) for name in ("start", "end"))
        if of != other or not 0 <= start < end <= of:
            raise ValueError("no part of a whole")
        return Fraction(start, end, of)
    return _order(fields)


def _clocked(fields: Mapping[str, Any]) -> Clocked:
    kind, part, day = fields["kind"], PARTS_OF_DAY.get(fields["part_of_day"]), _day(fields["day"])
    start, end = (_clock_time(fields[name]) for name in ("start", "end"))
    needed = {"at": (True, False), "between": (True, True), "since": (True, False), "until": (False, True)}
    if (start is not None, end is not None) != needed.get(kind, (False, False)):
        raise ValueError("start and end do not fit the kind")
    if kind == "day" and day is None and part is None:
        raise ValueError("a day is missing")
    if part == WEEKEND:
        day = day or Day(weekday=5)
    elif part is not None:
        part = PartOfDay(part.start, part.end, every=fields["every_day"])
    time = Clocked(kind, start, end, frame=_FRAMES[fields["clock"]], about=fields["approximate"])
    return time if day is None and part is None else time.on(day, part)


def _clock_time(text: str) -> ClockTime | None:
    if not text.strip():
        return None
    match = re.fullmatch(r"(\d{1,3})(?::([0-5]\d))?(?::([0-5]\d))?\s*([ap])?\.?(?:m\.?)?", text.strip().lower())
    if match is None or (match[4] and not 1 <= int(match[1]) <= 12):
        raise ValueError(f"{text!r} is no time of a clock")
    parts = tuple(int(part) for part in match.groups()[:3] if part is not None)
    if match[4]:
        return ClockTime(parts, "am" if match[4] == "a" else "pm")
    return ClockTime(parts, "either" if len(parts) == 1 else "")


def _day(text: str) -> Day | None:
    text = text.strip().lower()
    if not text:
        return None
    if text in _WEEKDAYS:
        return Day(weekday=_WEEKDAYS.index(text))
    if text in ("today", "yesterday"):
        return Day(ago=int(text == "yesterday"))
    if match := re.fullmatch(r"(\d{1,4}) days? ago", text):
        return Day(ago=int(match[1]))
    if match := re.fullmatch(r"day (\d{1,4})|last day", text):
        return Day(nth=int(match[1] or -1))
    match = re.fullmatch(r"(?:(\d{4})-)?(\d{1,2})-(\d{1,2})", text)
    if match is None or not (1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= 31):
        raise ValueError(f"{text!r} is no day")
    return Day(month=int(match[2]), day=int(match[3]), year=int(match[1]) if match[1] else None)


def _order(fields: Mapping[str, Any]) -> Order:
    kind, nth, event, seconds = (fields[name] for name in ("kind", "nth", "event", "seconds"))
    between = kind == "between_events"
    if not event.strip() or nth < -1 or (nth == 0 and kind != "during") or seconds < 0:
        raise ValueError("no occurrence of an event")
    if between and (not fields["last_event"].strip() or fields["last_nth"] < -1 or fields["last_nth"] == 0):
        raise ValueError("no second event")
    away = seconds * SECOND_MS if kind in ("after", "before") else 0
    return Order(
        "between" if between else kind,
        nth,
        event.strip(),
        at_ms=0 if fields["within"] else away,
        within_ms=away if fields["within"] else 0,
        last_nth=fields["last_nth"] if between else 0,
        last_anchor=fields["last_event"].strip() if between else "",
    )

"""What the words of a question say about time, before any recording is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
SECOND_MS = 1_000
DAY_MS = 24 * HOUR_MS
UNITS_MS = {"hour": HOUR_MS, "minute": MINUTE_MS, "second": SECOND_MS}

Frame = Literal["any", "video", "wall", "shown"]
"""The clock that figures belong to: any if the words leave that open, the video's own time, the wall clock, or the
clock that is readable in the picture."""


@dataclass(frozen=True, slots=True)
class ClockTime:
    """Figures of a clock: hours, minutes and seconds, or minutes and seconds, or hours alone.

    half: "am" or "pm" if it was said. spoken: whether the words name a time of day ("3 pm", "15 Uhr", "noon").
    """

    parts: tuple[int, ...]
    half: Literal["", "am", "pm"] = ""
    spoken: bool = False


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
        if self.nth:
            return False
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


@dataclass(frozen=True, slots=True)
class Offset:
    """A stretch of the video's own time, in ms; end_ms None is the end of the video."""

    start_ms: int
    end_ms: int | None


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


Expression = Clocked | Offset | Edge | Fraction | Order

SHORTLY_MS = 5 * MINUTE_MS
"""Shortly after, just before."""

OPENING = Fraction(0, 1, 10, 10 * MINUTE_MS)
"""The beginning of a video: its first tenth, ten minutes at most."""

CLOSING = Fraction(9, 10, 10, 10 * MINUTE_MS)
"""The end of a video: its last tenth, ten minutes at most."""

CENTRE = Fraction(4, 6, 10)
"""The middle of a video."""


@dataclass(frozen=True, slots=True)
class NamedTime:
    """The times that a text names. words: its parts that name them. expressions: at least one. remaining: the text
    without these parts. joined: whether words such as between and until make of several times the stretch that holds
    them all."""

    words: str
    expressions: tuple[Expression, ...]
    remaining: str
    joined: bool = False

"""Times as people say them, and which part of the tape a wall-clock time names."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bench.evaluation.tape10.world import World
from gpu_workers.engine.ekg import Span

NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_QUARTERS = {0: "{hour}", 15: "quarter past {hour}", 30: "half past {hour}", 45: "quarter to {next}"}


class LocalTime:
    """The local time of every second of the tape. It is computed second by second, apart from the engine's clock."""

    def __init__(self, world: World) -> None:
        rows = [
            recording.local(recording.span.start_ms + ms).replace(tzinfo=None)
            for recording in world.recordings
            for ms in range(0, recording.span.duration_ms, 1_000)
        ]
        self.origin = rows[0].replace(hour=0, minute=0, second=0, microsecond=0)
        self._seconds: NDArray[np.int64] = np.asarray([round((row - self.origin).total_seconds()) for row in rows])

    def at(self, second: int) -> datetime:
        """Return the local time, without a zone, of a second of the tape."""
        return self.origin + timedelta(seconds=int(self._seconds[second]))

    def span(self, start: datetime, end: datetime) -> Span | None:
        """Return what of the tape was filmed from start until before end; None if that is nothing or in several parts.

        start, end: local, without a zone.
        """
        low, high = ((time - self.origin).total_seconds() for time in (start, end))
        (inside,) = np.nonzero((self._seconds >= low) & (self._seconds < high))
        if not len(inside) or inside[-1] - inside[0] + 1 != len(inside):
            return None
        return Span(int(inside[0]) * 1_000, int(inside[-1] + 1) * 1_000)

    def filmed(self, start: datetime, end: datetime) -> bool:
        """Whether anything was filmed from start until before end."""
        low, high = ((time - self.origin).total_seconds() for time in (start, end))
        return bool(np.any((self._seconds >= low) & (self._seconds < high)))


def hms(ms: int) -> str:
    """Return h:mm:ss."""
    return f"{ms // 3_600_000}:{ms // 60_000 % 60:02}:{ms // 1_000 % 60:02}"


def length(minutes: int) -> str:
    """Return a length such as "ten minutes", "45 minutes" or "two hours"."""
    if minutes % 60 == 0:
        hours = minutes // 60
        return "hour" if hours == 1 else f"{NUMBERS[hours]} hours"
    return f"{NUMBERS[minutes] if minutes <= 12 else minutes} minutes"


def video_times(start_ms: int, end_ms: int = 0) -> Mapping[str, str]:
    """Return the slots of a time of the video, and of a second one."""
    hours, minutes = start_ms // 3_600_000, start_ms // 60_000 % 60
    said = f"{hours} hour{'s' * (hours > 1)} and {minutes} minutes" if hours else f"{minutes} minutes"
    return {
        "hms": hms(start_ms),
        "hms2": hms(end_ms),
        "minute": str(start_ms // 60_000),
        "minute2": str(end_ms // 60_000),
        "said": said,
    }


def clock_times(start: datetime, end: datetime) -> Mapping[str, str]:
    """Return the slots of a wall-clock time and of a second one, both local."""
    return {
        "hm": f"{start.hour}:{start.minute:02}",
        "hm2": f"{end.hour}:{end.minute:02}",
        "hm12": _half(start),
        "hm12_2": _half(end),
        "said": spoken(start),
        "said2": spoken(end),
        "weekday": f"{start:%A}",
        "date": f"{start.day} {start:%B}",
        "daypart": daypart(start),
    }


def spoken(time: datetime) -> str:
    """Return a quarter of an hour in words, such as "half past two"; "" for other minutes."""
    form = _QUARTERS.get(time.minute, "")
    return form.format(hour=NUMBERS[(time.hour - 1) % 12 + 1], next=NUMBERS[time.hour % 12 + 1])


def daypart(time: datetime) -> str:
    bounds = ((0, "at night"), (5, "in the morning"), (12, "in the afternoon"), (18, "in the evening"), (24, ""))
    return next(words for (low, words), (high, _) in pairwise(bounds) if low <= time.hour < high)


def names_number(text: str, number: int) -> bool:
    """Whether a text contains the number, in digits or in words."""
    words = "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
    written = NUMBERS[number] if number < len(NUMBERS) else str(number)
    times = {1: "once", 2: "twice"}.get(number, written)
    return bool({str(number), written, times} & set(words))


def _half(time: datetime) -> str:
    return f"{(time.hour - 1) % 12 + 1}:{time.minute:02} {'am' if time.hour < 12 else 'pm'}"

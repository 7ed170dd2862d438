"""Kinds of arguments: the schema of each, and how its value is read from what a model wrote."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.served.structured import list_of, object_of, storable


class BadArguments(ValueError):
    """An argument cannot be used. The message says what it must be, in words that follow "must be"; from a tool or from
    read_arguments() it is a full sentence."""


class Kind(Protocol):
    """A kind of argument. videos: number of videos in scope."""

    def schema(self, *, videos: int = 1) -> dict[str, Any]: ...

    def read(self, value: Any, *, videos: int = 1) -> Any:
        """Return the value. Raises BadArguments."""
        ...

    def wording(self, *, videos: int = 1) -> str:
        """Return what the argument is, for the prompt."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """Words, at most `most` characters. An empty text is refused unless empty says that it may be."""

    most: int = 300
    empty: bool = False

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return {"type": "string"}

    def read(self, value: Any, *, videos: int = 1) -> str:
        if not isinstance(value, str) or len(value) > self.most:
            raise BadArguments(f"a text of at most {self.most} characters")
        text = storable(value).strip()
        if not text and not self.empty:
            raise BadArguments("a text that is not empty")
        return text

    def wording(self, *, videos: int = 1) -> str:
        return "text"


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from least to most. default: what a call means that leaves it out."""

    least: int
    most: int
    default: int | None = None

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return {"type": "integer"}

    def read(self, value: Any, *, videos: int = 1) -> int:
        number = whole(value)
        if number is None or not self.least <= number <= self.most:
            raise BadArguments(f"a whole number from {self.least} to {self.most}")
        return number

    def wording(self, *, videos: int = 1) -> str:
        return f"{self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class Millis:
    """A time from the start of the video in whole milliseconds. A negative time is the start."""

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return {"type": "integer"}

    def read(self, value: Any, *, videos: int = 1) -> int:
        number = whole(value)
        if number is None:
            raise BadArguments("a time in whole milliseconds, such as 65000 for 0:01:05")
        return max(0, number)

    def wording(self, *, videos: int = 1) -> str:
        return "milliseconds"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of a few words, whatever its case. default: what a call means that leaves it out."""

    words: tuple[str, ...]
    default: str | None = None

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.words)}

    def read(self, value: Any, *, videos: int = 1) -> str:
        said = str(value).strip().casefold() if isinstance(value, (str, int, float)) else ""
        for word in self.words:
            if word.casefold() == said:
                return word
        raise BadArguments(f"one of {', '.join(self.words)}")

    def wording(self, *, videos: int = 1) -> str:
        return " or ".join(self.words)


@dataclass(frozen=True, slots=True)
class VideoNumber:
    """The number of a video. It is left out of schema and arguments if the scope has one video."""

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return {"type": "integer"}

    def read(self, value: Any, *, videos: int = 1) -> int:
        number = 1 if videos == 1 else whole(value)
        if number is None or not 1 <= number <= videos:
            raise BadArguments(f"the number of a video, from 1 to {videos}")
        return number

    def wording(self, *, videos: int = 1) -> str:
        return f"1 to {videos}"


@dataclass(frozen=True, slots=True)
class Spans:
    """One to `most` spans of time, each with its video if there are several. Read as (video number, Span)."""

    most: int

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        fields: dict[str, Any] = {"start_ms": {"type": "integer"}, "end_ms": {"type": "integer"}}
        if videos > 1:
            fields["video"] = {"type": "integer"}
        return list_of(object_of(fields), self.most)

    def read(self, value: Any, *, videos: int = 1) -> tuple[tuple[int, Span], ...]:
        items = [value] if isinstance(value, Mapping) else value
        if not isinstance(items, (list, tuple)) or not 1 <= len(items) <= self.most:
            raise BadArguments(f"a list of 1 to {self.most} spans with start_ms and end_ms")
        return tuple(self._span(item, videos) for item in items)

    def _span(self, item: Any, videos: int) -> tuple[int, Span]:
        start = whole(item.get("start_ms")) if isinstance(item, Mapping) else None
        end = whole(item.get("end_ms")) if isinstance(item, Mapping) else None
        if start is None or end is None:
            raise BadArguments("spans with start_ms and end_ms in whole milliseconds")
        if end <= max(0, start):
            raise BadArguments("spans whose end_ms is greater than their start_ms")
        return VideoNumber().read(item.get("video"), videos=videos), Span(max(0, start), end)

    def wording(self, *, videos: int = 1) -> str:
        return f"list of at most {self.most} of {{start_ms, end_ms{', video' if videos > 1 else ''}}}"


@dataclass(frozen=True, slots=True)
class YesNo:
    """True or false."""

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return {"type": "boolean"}

    def read(self, value: Any, *, videos: int = 1) -> bool:
        if isinstance(value, str) and value.strip().casefold() in ("true", "yes", "false", "no"):
            return value.strip().casefold() in ("true", "yes")
        if not isinstance(value, bool):
            raise BadArguments("true or false")
        return value

    def wording(self, *, videos: int = 1) -> str:
        return "true or false"


@dataclass(frozen=True, slots=True)
class Numbers:
    """At most `most` whole numbers; what is none is left out, so that reading never fails. "E3" is 3."""

    most: int

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return list_of({"type": "integer"}, self.most)

    def read(self, value: Any, *, videos: int = 1) -> tuple[int, ...]:
        items = value if isinstance(value, (list, tuple)) else [value]
        numbers = [whole(item.strip().lstrip("Ee") if isinstance(item, str) else item) for item in items[: self.most]]
        return tuple(dict.fromkeys(number for number in numbers if number is not None))

    def wording(self, *, videos: int = 1) -> str:
        return "list of numbers"


def whole(value: Any) -> int | None:
    """Return a whole number as an int: 3, 3.0 and "3"; None for true, NaN, 3.5, "0:42" and anything else."""
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.lstrip("-").isdecimal() and len(text) < 20 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else None

"""What a tool is: its arguments as a schema and as values, its bounds, and what it returns.

A schema uses type, enum, items, maxItems, anyOf, required and additionalProperties only, since servers agree on these.
Every other bound is checked here, when a call is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.contract import Artifact
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.served.structured import list_of, object_of, storable


class BadArguments(ValueError):
    """An argument cannot be used. The message says what it must be, in words that follow "must be"; from a tool or from
    read_arguments() it is a full sentence."""


class Kind:
    """A kind of argument. form: its schema. words: what it is, for the prompt. default: what a call means that leaves
    it out, None if a call must name it. videos, everywhere: number of videos in scope."""

    form: Mapping[str, Any]
    words: str
    default: Any = None

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return dict(self.form)

    def wording(self, *, videos: int = 1) -> str:
        return self.words

    def read(self, value: Any, *, videos: int = 1) -> Any:
        """Return the value. Raises BadArguments."""
        return value


@dataclass(frozen=True)
class Text(Kind):
    """Words, at most `most` characters. An empty text is refused unless empty says that it may be."""

    most: int = 300
    empty: bool = False
    form = {"type": "string"}
    words = "text"

    def read(self, value: Any, *, videos: int = 1) -> str:
        if not isinstance(value, str) or len(value) > self.most:
            raise BadArguments(f"a text of at most {self.most} characters")
        text = storable(value).strip()
        if not text and not self.empty:
            raise BadArguments("a text that is not empty")
        return text


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number from least to most."""

    least: int
    most: int
    default: int | None = None
    form = {"type": "integer"}

    def wording(self, *, videos: int = 1) -> str:
        return f"{self.least} to {self.most}"

    def read(self, value: Any, *, videos: int = 1) -> int:
        number = whole(value)
        if number is None or not self.least <= number <= self.most:
            raise BadArguments(f"a whole number from {self.wording()}")
        return number


@dataclass(frozen=True)
class Millis(Kind):
    """A time from the start of the video in whole milliseconds. A negative time is the start."""

    form = {"type": "integer"}
    words = "milliseconds"

    def read(self, value: Any, *, videos: int = 1) -> int:
        number = whole(value)
        if number is None:
            raise BadArguments("a time in whole milliseconds, such as 65000 for 0:01:05")
        return max(0, number)


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a few words, whatever its case."""

    options: tuple[str, ...]
    default: str | None = None

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.options)}

    def wording(self, *, videos: int = 1) -> str:
        return " or ".join(self.options)

    def read(self, value: Any, *, videos: int = 1) -> str:
        for option in self.options:
            if option.casefold() == str(value).strip().casefold():
                return option
        raise BadArguments(f"one of {', '.join(self.options)}")


@dataclass(frozen=True)
class VideoNumber(Kind):
    """The number of a video. It is left out of schema and arguments if the scope has one video."""

    form = {"type": "integer"}

    def wording(self, *, videos: int = 1) -> str:
        return f"1 to {videos}"

    def read(self, value: Any, *, videos: int = 1) -> int:
        number = 1 if videos == 1 else whole(value)
        if number is None or not 1 <= number <= videos:
            raise BadArguments(f"the number of a video, from 1 to {videos}")
        return number


@dataclass(frozen=True)
class Spans(Kind):
    """One to `most` spans of time, each with its video if there are several. Read as (video number, Span)."""

    most: int

    def schema(self, *, videos: int = 1) -> dict[str, Any]:
        names = ("start_ms", "end_ms", "video") if videos > 1 else ("start_ms", "end_ms")
        return list_of(object_of({name: {"type": "integer"} for name in names}), self.most)

    def wording(self, *, videos: int = 1) -> str:
        return f"list of at most {self.most} of {{start_ms, end_ms{', video' if videos > 1 else ''}}}"

    def read(self, value: Any, *, videos: int = 1) -> tuple[tuple[int, Span], ...]:
        items = [value] if isinstance(value, Mapping) else value
        if not isinstance(items, list) or not 1 <= len(items) <= self.most:
            raise BadArguments(f"a list of 1 to {self.most} spans with start_ms and end_ms")
        return tuple(self._span(item, videos) for item in items)

    def _span(self, item: Any, videos: int) -> tuple[int, Span]:
        start, end = (whole(item.get(name)) if isinstance(item, Mapping) else None for name in ("start_ms", "end_ms"))
        if start is None or end is None:
            raise BadArguments("spans with start_ms and end_ms in whole milliseconds")
        if end <= max(0, start):
            raise BadArguments("spans whose end_ms is greater than their start_ms")
        return VideoNumber().read(item.get("video"), videos=videos), Span(max(0, start), end)


def whole(value: Any) -> int | None:
    """Return a whole number as an int: 3, 3.0 and "3"; None for true, NaN, 3.5, "0:42" and anything else."""
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.lstrip("-").isdecimal() and len(text) < 20 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else None


BAD_ARGUMENTS = "bad_arguments"
OUT_OF_RANGE = "out_of_range"
NOTHING_FOUND = "nothing_found"
NOT_AVAILABLE = "not_available"
REPEATED = "repeated"
TOO_MANY = "too_many"
FAILED = "failed: "
"""Codes of Observation.error. FAILED is followed by the code of a model's failure."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a call returns. text: for the reasoner, every text of a video in it through as_data. cut: whether there is
    more than text holds. events, frames, objects, lines: ids of what text shows, which then can be cited. error: "" or
    one of the codes above; text then says what to do instead."""

    text: str
    error: str = ""
    cut: bool = False
    events: tuple[UUID, ...] = ()
    frames: tuple[UUID, ...] = ()
    objects: tuple[UUID, ...] = ()
    lines: tuple[UUID, ...] = ()

    @property
    def seen(self) -> tuple[UUID, ...]:
        return (*self.events, *self.frames, *self.objects, *self.lines)


@dataclass(frozen=True)
class Tool:
    """A call that a reasoner may make.

    name: of a-z and _, 3 to 32 characters. description: one sentence for the prompt. arguments: all required, in this
    order; none is named "tool". needs: what the scope and the models must have. most: maximum number of uses per
    question. use: gets the arguments as read. It may raise BadArguments and ModelError, which the loop turns into
    observations, and Halt, which ends the loop.
    """

    name: str
    description: str
    arguments: Mapping[str, Kind]
    needs: frozenset[Artifact]
    most: int
    use: Callable[[Toolbox, Mapping[str, Any]], Observation]

    def in_words(self, *, videos: int) -> str:
        """Return the tool as a line of a prompt."""
        arguments = ", ".join(f"{name}: {kind.wording(videos=videos)}" for name, kind in self.arguments.items())
        return f"{self.name}({arguments}): {self.description}"


def failed(code: str) -> Observation:
    """Return the observation of a call that a model failed. code: of the ModelError, or of look_at_frames()."""
    return Observation(f"The call failed ({code}). Try another tool.", FAILED + code)


def call_schema(tool: Tool, *, videos: int) -> dict[str, Any]:
    """Return the JSON schema of a call of tool in a scope of that many videos."""
    shown = {name: kind.schema(videos=videos) for name, kind in tool.arguments.items() if not _left_out(kind, videos)}
    return object_of({"tool": {"type": "string", "enum": [tool.name]}, **shown})


def read_arguments(tool: Tool, given: Mapping[str, Any], *, videos: int) -> dict[str, Any]:
    """Return the arguments of a call as values, in the tool's order. Other names in given are ignored.

    Raises BadArguments with a sentence that names the argument and what it must be.
    """
    values: dict[str, Any] = {}
    for name, kind in tool.arguments.items():
        if name not in given and kind.default is not None:
            values[name] = kind.default
        elif name not in given and not _left_out(kind, videos):
            raise BadArguments(f"{tool.name} needs {', '.join(tool.arguments)}; {name} is missing.")
        else:
            try:
                values[name] = kind.read(given.get(name), videos=videos)
            except BadArguments as error:
                raise BadArguments(f"{name} must be {error}.") from None
    return values


def _left_out(kind: Kind, videos: int) -> bool:
    return isinstance(kind, VideoNumber) and videos == 1

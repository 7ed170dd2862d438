"""What a tool is: its arguments as a schema and as values, its bounds, and what it returns.

A schema uses type, enum, items, maxItems, anyOf, required and additionalProperties only, since servers agree on these.
Every other bound is checked here, when a call is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.kinds import BadArguments as BadArguments
from gpu_workers.engine.answering.agent.tools.kinds import Kind as Kind
from gpu_workers.engine.answering.agent.tools.kinds import Millis as Millis
from gpu_workers.engine.answering.agent.tools.kinds import Numbers as Numbers
from gpu_workers.engine.answering.agent.tools.kinds import OneOf as OneOf
from gpu_workers.engine.answering.agent.tools.kinds import Spans as Spans
from gpu_workers.engine.answering.agent.tools.kinds import Text as Text
from gpu_workers.engine.answering.agent.tools.kinds import VideoNumber as VideoNumber
from gpu_workers.engine.answering.agent.tools.kinds import Whole as Whole
from gpu_workers.engine.answering.agent.tools.kinds import YesNo as YesNo
from gpu_workers.engine.models.served.structured import object_of

if TYPE_CHECKING:
    from gpu_workers.engine.answering.agent.tools.desk import Desk

Artifact = Literal["events", "frames", "transcript", "topics", "objects", "checker"]

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
    use: Callable[[Desk, Mapping[str, Any]], Observation]


def failed(code: str) -> Observation:
    """Return the observation of a call that a model failed. code: of the ModelError, or of Desk.look()."""
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
        if _left_out(kind, videos):
            values[name] = kind.read(1, videos=videos)
        elif name not in given and (default := getattr(kind, "default", None)) is not None:
            values[name] = default
        elif name not in given:
            raise BadArguments(f"{tool.name} needs {', '.join(tool.arguments)}; {name} is missing.")
        else:
            try:
                values[name] = kind.read(given[name], videos=videos)
            except BadArguments as error:
                raise BadArguments(f"{name} must be {error}.") from None
    return values


def _left_out(kind: Kind, videos: int) -> bool:
    return isinstance(kind, VideoNumber) and videos == 1

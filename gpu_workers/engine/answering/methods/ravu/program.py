"""The form of a program: steps with names, each a call of one function of a fixed table, with typed arguments.

A program is data. Nothing in it is ever executed by Python: programs.running looks every function up in its own table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gpu_workers.engine.models.served.structured import list_of, object_of

Type = Literal["things", "moments", "frames", "number", "text"]
"""Type of a step's value. things: entities or tracked objects; moments: events."""

RESULTS: tuple[Type, ...] = ("frames", "moments", "number", "text")
"""Types that the value of the last step may have."""

MOST_STEPS = 12
MOST_SEARCHES = 4
"""Maximum number of `localize` steps: each may ask the reasoner once."""
MOST_FILTERS = 1
PHRASE_CHARACTERS = 200
MOST_FRAMES = 10
"""Maximum number of frames that a program may choose (RAVU, arXiv 2505.03173: 5 to 10)."""
MOST_AFTER = 10
"""Maximum number of events that `after` or `before` may return."""

NAME = re.compile(r"[a-z][a-z0-9_]{0,15}\Z")
"""Form of the name of a step's value."""

SPATIAL = ("left_of", "right_of", "above", "below", "near")
"""Relations that are measured from boxes, not read from the graph."""


class BadProgram(ValueError):
    """A program cannot be run. faults: sentences that say what to change, for the model that wrote it."""

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of an earlier step."""

    name: str


Given = str | int | Ref


@dataclass(frozen=True, slots=True)
class Step:
    """One call. out: name of its value. arguments: as written, by the name of the parameter."""

    op: str
    out: str
    arguments: Mapping[str, Given]


@dataclass(frozen=True, slots=True)
class Program:
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A parameter that takes words in quotes."""

    @property
    def form(self) -> str:
        return "words"


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter that takes a whole number from least to most."""

    least: int
    most: int

    @property
    def form(self) -> str:
        return f"{self.least}-{self.most}"


@dataclass(frozen=True, slots=True)
class Word:
    """A parameter that takes one of words."""

    words: tuple[str, ...]

    @property
    def form(self) -> str:
        return "|".join(self.words)


@dataclass(frozen=True, slots=True)
class Earlier:
    """A parameter that takes the value of an earlier step, if it has one of types."""

    types: tuple[Type, ...]

    @property
    def form(self) -> str:
        return "|".join(self.types)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function. default: the argument if none is given; None if the function then does without.

    required: whether an argument must be given.
    """

    name: str
    kind: Phrase | Number | Word | Earlier
    required: bool = True
    default: str | int | None = None

    @property
    def form(self) -> str:
        return f"{self.name}{'' if self.required else '?'}: {self.kind.form}"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the table. gives: type of its value; "same" is the type of its first argument, "what" is moments
    or things by its argument `what`. meaning: what it returns, for the prompt."""

    name: str
    parameters: tuple[Parameter, ...]
    gives: Type | Literal["same", "what"]
    meaning: str

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    def line(self) -> str:
        """Return the function as one line of a prompt."""
        gives = {"same": "the same", "what": "moments or things"}.get(self.gives, self.gives)
        return f"{self.name}({', '.join(parameter.form for parameter in self.parameters)}) -> {gives}: {self.meaning}"


_MOMENTS = Earlier(("moments",))
_THINGS = Earlier(("things",))
_ANY = Earlier(("moments", "things"))
_PAIR = (Parameter("a", _ANY), Parameter("b", _ANY))
_NEXT = (
    Parameter("of", _MOMENTS),
    Parameter("with", _THINGS, required=False),
    Parameter("most", Number(1, MOST_AFTER), required=False, default=3),
)

TARGETS = ("event", "frame", "entity", "object")
"""What `localize` can find: moments (events, pictures) or things (entities by words, tracked objects by category)."""

FUNCTIONS: Mapping[str, Function] = {
    function.name: function
    for function in (
        Function(
            "localize",
            (
                Parameter("phrase", Phrase()),
                Parameter("what", Word(TARGETS), required=False, default="event"),
                Parameter("within", _MOMENTS, required=False),
            ),
            "what",
            "what fits the phrase best",
        ),
        Function(
            "after", _NEXT, "moments", "the next events after the earliest of these; with: only with these things"
        ),
        Function("before", _NEXT, "moments", "the last events before the latest of these"),
        Function("between", (Parameter("a", _MOMENTS), Parameter("b", _MOMENTS)), "moments", "after a and before b"),
        Function("during", (Parameter("of", _ANY),), "moments", "all events at the same time"),
        Function("first", (Parameter("of", _MOMENTS),), "moments", "the earliest one"),
        Function("last", (Parameter("of", _MOMENTS),), "moments", "the latest one"),
        Function("events_of", (Parameter("of", _THINGS),), "moments", "events in which these take part"),
        Function("track", (Parameter("of", _THINGS),), "moments", "where these are to be seen, over time"),
        Function(
            "neighbors",
            (
                Parameter("of", _THINGS),
                Parameter("relation", Phrase(), required=False),
                Parameter("within", _MOMENTS, required=False),
            ),
            "things",
            f"what is related to these; relation: a verb, or {', '.join(SPATIAL)}",
        ),
        Function(
            "filter",
            (Parameter("of", _MOMENTS), Parameter("predicate", Phrase())),
            "moments",
            "those of which the statement is true",
        ),
        Function("union", _PAIR, "same", "a or b"),
        Function("intersect", _PAIR, "same", "both a and b"),
        Function("minus", _PAIR, "same", "a but not b"),
        Function("count", (Parameter("of", _ANY),), "number", "how many"),
        Function("describe", (Parameter("of", _ANY),), "text", "these in words"),
        Function(
            "frames",
            (Parameter("of", _MOMENTS), Parameter("most", Number(1, MOST_FRAMES), required=False, default=8)),
            "frames",
            "pictures of these",
        ),
    )
}
"""Every function that a program may call. The paper names only `localize_node`; the others are ours."""


def table() -> str:
    """Return the functions as lines of a prompt."""
    return "\n".join(function.line() for function in FUNCTIONS.values())


def program_schema(*, steps: int = MOST_STEPS, targets: Sequence[str] = TARGETS) -> dict[str, Any]:
    """Return the JSON schema of a program of at most `steps` steps. targets: what `localize` may be asked for.

    Everything is required, as strict servers want it; an optional argument that is left out is "".
    """
    return object_of({"steps": list_of({"anyOf": [_step_schema(f, targets) for f in FUNCTIONS.values()]}, steps)})


def _step_schema(function: Function, targets: Sequence[str]) -> dict[str, Any]:
    properties: dict[str, Any] = {"op": {"type": "string", "enum": [function.name]}}
    for parameter in function.parameters:
        match parameter.kind:
            case Number():
                properties[parameter.name] = {"type": "integer"}
            case Word():
                properties[parameter.name] = {"type": "string", "enum": list(targets)}
            case _:
                properties[parameter.name] = {"type": "string"}
    return object_of({**properties, "out": {"type": "string"}})

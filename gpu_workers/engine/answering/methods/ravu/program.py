"""The form of a program: steps with names, each a call of one function of a fixed table, with typed arguments.

A program is data. Nothing in it is ever executed by Python: ravu.running looks every function up in its own table.
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
class ProgramStep:
    """One call. out: name of its value. arguments: as written, by the name of the parameter."""

    op: str
    out: str
    arguments: Mapping[str, Given]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function. kind: phrase takes words in quotes; number, a whole number from least to most; target,
    one of TARGETS; value, the value of an earlier step if it has one of types. default: the argument if none is given;
    None if the function then does without."""

    name: str
    kind: Literal["phrase", "number", "target", "value"]
    required: bool = True
    types: tuple[Type, ...] = ()
    least: int = 0
    most: int = 0
    default: str | int | None = None

    @property
    def form(self) -> str:
        """Return the parameter as a prompt writes it."""
        forms = {"phrase": "words", "number": f"{self.least}-{self.most}", "target": "|".join(TARGETS)}
        return f"{self.name}{'' if self.required else '?'}: {forms.get(self.kind, '|'.join(self.types))}"


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


TARGETS = ("event", "frame", "entity", "object")
"""What `localize` can find: moments (events, pictures) or things (entities by words, tracked objects by category)."""


def _moments(name: str, *, required: bool = True) -> Parameter:
    return Parameter(name, "value", required, ("moments",))


def _things(name: str, *, required: bool = True) -> Parameter:
    return Parameter(name, "value", required, ("things",))


def _any(name: str) -> Parameter:
    return Parameter(name, "value", types=("moments", "things"))


def _most(most: int, default: int) -> Parameter:
    return Parameter("most", "number", required=False, least=1, most=most, default=default)


_NEXT = (_moments("of"), _things("with", required=False), _most(MOST_AFTER, 3))
_PAIR = (_any("a"), _any("b"))
_WITHIN = _moments("within", required=False)
_WHAT = Parameter("what", "target", required=False, default="event")
_RELATION = Parameter("relation", "phrase", required=False)
_AFTER = "the next events after the earliest of these; with: only with these things"
_NEIGHBORS = f"what is related to these; relation: a verb, or {', '.join(SPATIAL)}"

FUNCTIONS: Mapping[str, Function] = {
    function.name: function
    for function in (
        Function("localize", (Parameter("phrase", "phrase"), _WHAT, _WITHIN), "what", "what fits the phrase best"),
        Function("after", _NEXT, "moments", _AFTER),
        Function("before", _NEXT, "moments", "the last events before the latest of these"),
        Function("between", (_moments("a"), _moments("b")), "moments", "after a and before b"),
        Function("during", (_any("of"),), "moments", "all events at the same time"),
        Function("first", (_moments("of"),), "moments", "the earliest one"),
        Function("last", (_moments("of"),), "moments", "the latest one"),
        Function("events_of", (_things("of"),), "moments", "events in which these take part"),
        Function("track", (_things("of"),), "moments", "where these are to be seen, over time"),
        Function("neighbors", (_things("of"), _RELATION, _WITHIN), "things", _NEIGHBORS),
        Function(
            "filter",
            (_moments("of"), Parameter("predicate", "phrase")),
            "moments",
            "those of which the statement is true",
        ),
        Function("union", _PAIR, "same", "a or b"),
        Function("intersect", _PAIR, "same", "both a and b"),
        Function("minus", _PAIR, "same", "a but not b"),
        Function("count", (_any("of"),), "number", "how many"),
        Function("describe", (_any("of"),), "text", "these in words"),
        Function("frames", (_moments("of"), _most(MOST_FRAMES, 8)), "frames", "pictures of these"),
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
    schemas: dict[str, dict[str, Any]] = {
        "number": {"type": "integer"},
        "target": {"type": "string", "enum": list(targets)},
    }
    of_parameters = {given.name: schemas.get(given.kind, {"type": "string"}) for given in function.parameters}
    op = {"type": "string", "enum": [function.name]}
    return object_of({"op": op, **of_parameters, "out": {"type": "string"}})

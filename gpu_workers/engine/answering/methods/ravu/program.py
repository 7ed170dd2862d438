"""A program that a model writes: its form, the check before anything of it runs, and its run.

A program is data: steps with names, each a call of one function of a fixed table. Nothing of it is ever executed by
Python. Whatever is written, the outcome is a program that can run, or BadProgram.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_workers.engine.answering.agent.step_records import StepRecorder
from gpu_workers.engine.answering.methods.ravu.functions import FUNCTIONS, TARGETS, Function, Parameter, Type
from gpu_workers.engine.answering.methods.ravu.values import Moments, NumberValue, Run, TextValue, Value, is_empty
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object

RESULTS: tuple[Type, ...] = ("frames", "moments", "number", "text")
"""Types that the value of the last step may have."""

MOST_STEPS = 12
MOST_CALLED: Mapping[str, int] = {"localize": 4, "filter": 1}
"""Maximum number of steps that call a function which asks the reasoner."""

PHRASE_CHARACTERS = 200
PROGRAM_CHARACTERS = 20_000
"""Maximum length of a program in JSON: three times the longest one that can be checked."""

MOST_FAULTS = 5
"""Maximum number of faults that are reported at once."""

MOST_RECORDED = 16
"""Maximum number of events in the record of a step."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,15}\Z")


class BadProgram(ValueError):
    """A program cannot be run. faults: sentences that say what to change, for the model that wrote it."""

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """A step whose arguments fit its function. out: name of its value. arguments: every parameter of the function, in
    order; the name of an earlier step where it takes a value, None where it does without."""

    function: Function
    out: str
    arguments: Mapping[str, str | int | None]
    gives: Type


Program = tuple[ProgramStep, ...]
"""A program that can run: each step names values that exist by then and have the right type."""


def program_schema(*, steps: int = MOST_STEPS, targets: Sequence[str] = TARGETS) -> dict[str, Any]:
    """Return the JSON schema of a program of at most `steps` steps. targets: what `localize` may be asked for.

    Everything is required, as strict servers want it; an optional argument that is left out is "" or 0.
    """
    forms: dict[str, dict[str, Any]] = {
        "number": {"type": "integer"},
        "target": {"type": "string", "enum": list(targets)},
    }
    calls = [
        object_of(
            {
                "op": {"type": "string", "enum": [function.name]},
                **{given.name: forms.get(given.kind, {"type": "string"}) for given in function.parameters},
                "out": {"type": "string"},
            }
        )
        for function in FUNCTIONS.values()
    ]
    return object_of({"steps": list_of({"anyOf": calls}, steps)})


# --- checking --------------------------------------------------------------------------------------------------------


def read_program(text: str, *, steps: int = MOST_STEPS, targets: Collection[str] = TARGETS) -> Program:
    """Return the program in a reply. Raises BadProgram, which names up to MOST_FAULTS faults.

    steps: maximum number of steps. targets: what `localize` can find in this scope.
    """
    listed = (read_object(text) or {}).get("steps") if len(text) <= PROGRAM_CHARACTERS else None
    if not isinstance(listed, list) or not listed:
        raise BadProgram(f'a program is {{"steps": [...]}} with at least one step and {PROGRAM_CHARACTERS} characters')
    if len(listed) > steps:
        raise BadProgram(f"the program has more than {steps} steps")
    items = [item if isinstance(item, dict) else {} for item in listed]
    for name, most in MOST_CALLED.items():
        if sum(item.get("op") == name for item in items) > most:
            raise BadProgram(f"{name} is called more than {most} times")
    types: dict[str, Type | None] = {}
    program: list[ProgramStep] = []
    faults: list[str] = []
    for number, item in enumerate(items, start=1):
        try:
            step = _step(item, types, targets)
        except BadProgram as error:
            faults += [f"step {number}: {fault}" for fault in error.faults]
            # Its fault is reported once, and not again for each step that uses it.
            types[str(item.get("out"))] = None
        else:
            types[step.out] = step.gives
            program.append(step)
    if not faults and program[-1].gives not in RESULTS:
        faults.append(f"the last step gives {program[-1].gives}, but must give {', '.join(RESULTS)}")
    if faults:
        raise BadProgram(*faults[:MOST_FAULTS])
    return tuple(program)


def _step(item: Mapping[str, Any], types: Mapping[str, Type | None], targets: Collection[str]) -> ProgramStep:
    """Return a step that can run. types: of the values of earlier steps, None of a step with a fault."""
    op, out = item.get("op"), item.get("out")
    function = FUNCTIONS.get(op) if isinstance(op, str) else None
    if function is None:
        raise BadProgram(f"there is no function {_short(op)}")
    names = {"op", "out", *(parameter.name for parameter in function.parameters)}
    faults = [f"{function.name} has no argument {_short(name)}" for name in item if name not in names]
    if not isinstance(out, str) or not _NAME.match(out):
        faults.append("a name is up to 16 of a-z, 0-9 and _, and begins with a letter")
    elif out in types:
        faults.append(f"{out} is used twice")
    arguments: dict[str, str | int | None] = {}
    for parameter in function.parameters:
        try:
            arguments[parameter.name] = _argument(function, parameter, item.get(parameter.name), types, targets)
        except BadProgram as error:
            faults += error.faults
    given = [types.get(str(value)) for value in arguments.values()]
    if function.gives == "same" and len(given) == 2 and None not in given and given[0] != given[1]:
        faults.append(f"{function.name} needs two values of one type, not {given[0]} and {given[1]}")
    if faults:
        raise BadProgram(*faults)
    if function.gives == "same":
        gives: Type = given[0] or "moments"
    elif function.gives == "what":
        gives = "moments" if arguments["what"] in ("event", "frame") else "things"
    else:
        gives = function.gives
    return ProgramStep(function, str(out), arguments, gives)


def _argument(
    function: Function, parameter: Parameter, given: Any, types: Mapping[str, Type | None], targets: Collection[str]
) -> str | int | None:
    where = f"{parameter.name} of {function.name}"
    if not given or (isinstance(given, str) and not given.strip()):
        if parameter.required:
            raise BadProgram(f"{where} is missing")
        return parameter.default
    if parameter.kind == "number":
        if type(given) is not int or not 1 <= given <= parameter.most:
            raise BadProgram(f"{where} must be a whole number from 1 to {parameter.most}")
        return given
    if not isinstance(given, str) or len(given) > PHRASE_CHARACTERS:
        raise BadProgram(f"{where} must be text of at most {PHRASE_CHARACTERS} characters")
    if parameter.kind == "target" and given not in targets:
        raise BadProgram(f"{where} must be one of {', '.join(sorted(targets))}")
    if parameter.kind == "value":
        if given not in types:
            raise BadProgram(f"{where}: no earlier step is named {_short(given)}")
        # A step with a fault of its own has no type.
        if (kind := types[given]) is not None and kind not in parameter.types:
            raise BadProgram(f"{where} needs {' or '.join(parameter.types)}, but {given} is {kind}")
    return " ".join(given.split())


def _short(name: object) -> str:
    """Return what a model wrote as a fault repeats it: on one line and short."""
    return " ".join(repr(name).split())[:40]


# --- running ---------------------------------------------------------------------------------------------------------


def run_program(program: Program, run: Run, recorder: StepRecorder) -> tuple[Value | None, str]:
    """Run and record the steps in order. Return the value of the last one and ""; or None and why there is none: a
    step that found nothing, or whose model failed, ends the program.

    A step asks the reasoner at most once, and its reads of the graph are bounded. Raises nothing that a program could
    cause.
    """
    values: dict[str, Value] = {}
    for step in program:
        given = {name: value for name, value in step.arguments.items() if value is not None}
        run.notes.clear()
        try:
            with recorder.step(step.function.name, **given) as record:
                value = step.function.call(run, *_read(step, values))
                record.error = "nothing_found" if is_empty(value) else ""
                notes = [f"({note})" for note in run.notes]
                record.observation = " ".join([f"{step.out} = {value.in_words()}", *notes])
                record.events = run.toolbox.load(behind(value).event_ids[:MOST_RECORDED])
        except ModelError as error:
            return None, f"{error.code}: {step.out}"
        if record.error:
            return None, f"{record.error}: {step.out}"
        values[step.out] = value
    return value, ""


def _read(step: ProgramStep, values: Mapping[str, Value]) -> list[Value | str | int | None]:
    """Return the arguments of a step, with the values that they name."""
    return [
        values[str(given)] if parameter.kind == "value" and given is not None else given
        for parameter, given in zip(step.function.parameters, step.arguments.values(), strict=True)
    ]


def behind(value: Value) -> Moments:
    """Return the moments that a value holds, counts or describes; none of things and frames."""
    of = value.of if isinstance(value, NumberValue | TextValue) else value
    return of if isinstance(of, Moments) else Moments()

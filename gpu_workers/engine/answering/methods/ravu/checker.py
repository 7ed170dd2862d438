"""Reading and checking a program that a model wrote, before anything of it runs: its form, names, arguments, types and
limits. Whatever is written, the outcome is a program that can run, or BadProgram."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

from gpu_workers.engine.answering.methods.ravu.program import (
    FUNCTIONS,
    MOST_FILTERS,
    MOST_SEARCHES,
    MOST_STEPS,
    NAME,
    PHRASE_CHARACTERS,
    RESULTS,
    TARGETS,
    BadProgram,
    Function,
    Given,
    Parameter,
    ProgramStep,
    Ref,
    Type,
)  # fmt: skip
from gpu_workers.engine.models.served.json_text import read_object

MOST_FAULTS = 5
"""Maximum number of faults that are reported at once."""


JSON_CHARACTERS = 20_000
"""Maximum length of a program in JSON: three times the longest one that can be checked."""
TEXT_CHARACTERS = 2_000
TEXT_LINES = 20

_FENCE = re.compile(r"```[a-z]*\n?|```", re.IGNORECASE)
_QUOTED_OR_WITH = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|([(,]\s*)with(\s*=)""")
"""Quoted words, or `with` as a keyword argument, which Python does not allow."""
_WITH = "with_"

Arguments = dict[str, Given]


@dataclass(frozen=True, slots=True)
class CheckedStep:
    """A step whose arguments fit its function. arguments: every parameter of the function; None where it does
    without."""

    op: str
    out: str
    arguments: Mapping[str, Given | None]
    gives: Type


CheckedProgram = tuple[CheckedStep, ...]
"""A program that can run: each step names values that exist by then and have the right type."""


# --- reading ----------------------------------------------------------------------------------------------------------


def read_program(text: str) -> tuple[ProgramStep, ...]:
    """Return the program in text: JSON by schema, or text that looks like Python, which is parsed and never executed.
    Both give the same steps. Raises BadProgram if it has neither form, or a form that is not allowed."""
    if len(text) > JSON_CHARACTERS:
        raise BadProgram(f"a program has at most {JSON_CHARACTERS} characters")
    fields = read_object(text)
    if fields is not None:
        return _from_json(fields)
    return _from_text(text)


def _from_json(fields: Mapping[str, Any]) -> tuple[ProgramStep, ...]:
    steps = fields.get("steps")
    if not isinstance(steps, list):
        raise BadProgram('a program is {"steps": [...]}')
    if len(steps) > MOST_STEPS:
        raise BadProgram(f"a program has at most {MOST_STEPS} steps")
    return tuple(_step(item) for item in steps)


def _step(item: object) -> ProgramStep:
    if not isinstance(item, dict) or not isinstance(item.get("op"), str) or not isinstance(item.get("out"), str):
        raise BadProgram('each step is {"op": ..., "out": ...} and its arguments')
    arguments: Arguments = {}
    for name, value in item.items():
        if name in ("op", "out"):
            continue
        if isinstance(value, bool) or not isinstance(value, (str, int, NoneType)):
            raise BadProgram(f"{_short(name)} of {_short(item['out'])} must be words, a name or a whole number")
        # A strict schema has no optional fields: what is left out is written as nothing.
        if value:
            arguments[name] = _as_given(item["op"], name, value)
    return ProgramStep(item["op"], item["out"], arguments)


def _from_text(text: str) -> tuple[ProgramStep, ...]:
    text = _FENCE.sub("", text).strip()
    if len(text) > TEXT_CHARACTERS or text.count("\n") >= TEXT_LINES:
        raise BadProgram(f"a program has at most {TEXT_CHARACTERS} characters and {TEXT_LINES} lines")
    text = _QUOTED_OR_WITH.sub(lambda match: match[1] or f"{match[2]}{_WITH}{match[3]}", text)
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadProgram('the program is neither {"steps": [...]} nor lines of the form name = function(...)') from None
    if not module.body:
        raise BadProgram("the program has no steps")
    if len(module.body) > MOST_STEPS:
        raise BadProgram(f"a program has at most {MOST_STEPS} steps")
    return tuple(_assignment(statement) for statement in module.body)


def _assignment(statement: ast.stmt) -> ProgramStep:
    match statement:
        case ast.Assign(targets=[ast.Name(id=out)], value=ast.Call(func=ast.Name(id=op)) as call):
            return ProgramStep(op, out, _arguments(op, call))
    raise BadProgram("each line is name = function(...)")


def _arguments(op: str, call: ast.Call) -> Arguments:
    function = FUNCTIONS.get(op)
    if function is None:
        raise BadProgram(f"there is no function {_short(op)}")
    if len(call.args) > len(function.parameters):
        raise BadProgram(f"{op} takes {len(function.parameters)} arguments")
    given = [(parameter.name, node) for parameter, node in zip(function.parameters, call.args, strict=False)]
    for keyword in call.keywords:
        if keyword.arg is None:
            raise BadProgram(f"name every argument of {op}")
        given.append(("with" if keyword.arg == _WITH else keyword.arg, keyword.value))
    arguments: Arguments = {}
    for name, node in given:
        if name in arguments:
            raise BadProgram(f"{op} is given {_short(name)} twice")
        arguments[name] = _value(op, name, node)
    return arguments


def _value(op: str, name: str, node: ast.expr) -> Given:
    match node:
        case ast.Name(id=earlier):
            return Ref(earlier)
        case ast.Constant(value=str(words)):
            return _as_given(op, name, words)
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
    raise BadProgram(f"{_short(name)} of {op} must be words in quotes, a whole number or an earlier name")


def _as_given(op: str, name: str, value: str | int) -> Given:
    """Return a literal as the parameter reads it: the name of an earlier step where it takes one."""
    function = FUNCTIONS.get(op)
    parameter = function.parameter(name) if function else None
    if isinstance(value, str) and parameter is not None and parameter.kind == "value":
        return Ref(value)
    return value


def _short(name: str) -> str:
    """Return a name that a model wrote as a fault repeats it: on one line and short."""
    return " ".join(repr(name).split())[:40]


# --- checking ---------------------------------------------------------------------------------------------------------


def check(
    program: Sequence[ProgramStep], *, steps: int = MOST_STEPS, targets: Collection[str] = TARGETS
) -> CheckedProgram:
    """Return the steps with their types. Raises BadProgram, which names up to MOST_FAULTS faults.

    steps: maximum number of steps. targets: what `localize` can find in this scope.
    """
    faults: list[str] = []
    if not program:
        faults.append("the program has no steps")
    if len(program) > min(steps, MOST_STEPS):
        faults.append(f"the program has more than {min(steps, MOST_STEPS)} steps")
    calls = Counter(step.op for step in program)
    for op, most in (("localize", MOST_SEARCHES), ("filter", MOST_FILTERS)):
        if calls[op] > most:
            faults.append(f"{op} is called more than {most} times")
    if faults:
        raise BadProgram(*faults)
    types: dict[str, Type | None] = {}
    checked: list[CheckedStep] = []
    for number, step in enumerate(program, start=1):
        try:
            found = _checked(step, types, targets)
            checked.append(found)
            gives: Type | None = found.gives
        except BadProgram as error:
            faults += [f"step {number}: {fault}" for fault in error.faults]
            gives = None
        if not NAME.match(step.out):
            faults.append(f"step {number}: a name is up to 16 of a-z, 0-9 and _, and begins with a letter")
        elif step.out in types:
            faults.append(f"step {number}: {step.out} is used twice")
        else:
            types[step.out] = gives
    if not faults and checked[-1].gives not in RESULTS:
        faults.append(f"the last step gives {checked[-1].gives}, but must give {', '.join(RESULTS)}")
    if faults:
        raise BadProgram(*faults[:MOST_FAULTS])
    return tuple(checked)


def _checked(step: ProgramStep, types: Mapping[str, Type | None], targets: Collection[str]) -> CheckedStep:
    function = FUNCTIONS.get(step.op)
    if function is None:
        raise BadProgram(f"there is no function {step.op[:20]!r}")
    faults = [
        f"{function.name} has no argument {name[:20]!r}" for name in step.arguments if not function.parameter(name)
    ]
    arguments: dict[str, Given | None] = {}
    for parameter in function.parameters:
        given = step.arguments.get(parameter.name)
        try:
            arguments[parameter.name] = _argument(function, parameter, given, types, targets)
        except BadProgram as error:
            faults += error.faults
    if not faults and function.gives == "same":
        first, second = (_type_of(arguments[parameter.name], types) for parameter in function.parameters)
        if first != second and first is not None and second is not None:
            faults.append(f"{function.name} needs two values of one type, not {first} and {second}")
    if faults:
        raise BadProgram(*faults)
    return CheckedStep(step.op, step.out, arguments, _gives(function, arguments, types))


def _argument(
    function: Function,
    parameter: Parameter,
    given: Given | None,
    types: Mapping[str, Type | None],
    targets: Collection[str],
) -> Given | None:
    where = f"{parameter.name} of {function.name}"
    if given is None:
        if parameter.required:
            raise BadProgram(f"{where} is missing")
        return parameter.default
    match parameter.kind:
        case "phrase":
            if not isinstance(given, str) or not given.strip():
                raise BadProgram(f"{where} must be words in quotes")
            if len(given) > PHRASE_CHARACTERS:
                raise BadProgram(f"{where} has more than {PHRASE_CHARACTERS} characters")
            return " ".join(given.split())
        case "number":
            if not isinstance(given, int) or not parameter.least <= given <= parameter.most:
                raise BadProgram(f"{where} must be a whole number from {parameter.least} to {parameter.most}")
            return given
        case "target":
            if not isinstance(given, str) or given not in TARGETS:
                raise BadProgram(f"{where} must be one of {', '.join(TARGETS)}")
            if given not in targets:
                raise BadProgram(f"this video has no {given}s: {where} can be {', '.join(sorted(targets))}")
            return given
        case "value":
            return _earlier(where, parameter.types, given, types)


def _earlier(where: str, accepted: tuple[Type, ...], given: Given, types: Mapping[str, Type | None]) -> Ref:
    if not isinstance(given, Ref):
        raise BadProgram(f"{where} must be the name of an earlier step")
    if given.name not in types:
        raise BadProgram(f"{where}: no earlier step is named {given.name[:20]!r}")
    kind = types[given.name]
    # A step with a fault of its own has no type; its fault is reported once.
    if kind is not None and kind not in accepted:
        raise BadProgram(f"{where} needs {' or '.join(accepted)}, but {given.name} is {kind}")
    return given


def _gives(function: Function, arguments: Mapping[str, Given | None], types: Mapping[str, Type | None]) -> Type:
    if function.gives == "same":
        return _type_of(arguments[function.parameters[0].name], types) or "moments"
    if function.gives == "what":
        return "moments" if arguments["what"] in ("event", "frame") else "things"
    return function.gives


def _type_of(given: Given | None, types: Mapping[str, Type | None]) -> Type | None:
    return types.get(given.name) if isinstance(given, Ref) else None

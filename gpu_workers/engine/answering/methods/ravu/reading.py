"""Reading a program that a model wrote: JSON by schema, or text that looks like Python. Both give the same Program.

The text is parsed and never executed. Whatever is written, the outcome is a Program or BadProgram.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from types import NoneType
from typing import Any

from gpu_workers.engine.answering.methods.ravu.program import (
    FUNCTIONS,
    MOST_STEPS,
    BadProgram,
    Earlier,
    Given,
    Program,
    Ref,
    Step,
)
from gpu_workers.engine.models.served.json_text import read_object

JSON_CHARACTERS = 20_000
"""Maximum length of a program in JSON: three times the longest one that can be checked."""
TEXT_CHARACTERS = 2_000
TEXT_LINES = 20

_FENCE = re.compile(r"```[a-z]*\n?|```", re.IGNORECASE)
_QUOTED_OR_WITH = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|([(,]\s*)with(\s*=)""")
"""Quoted words, or `with` as a keyword argument, which Python does not allow."""
_WITH = "with_"

Arguments = dict[str, Given]


def read_program(text: str) -> Program:
    """Return the program in text. Raises BadProgram if it has neither form, or a form that is not allowed."""
    if len(text) > JSON_CHARACTERS:
        raise BadProgram(f"a program has at most {JSON_CHARACTERS} characters")
    try:
        fields = read_object(text)
    except RecursionError:
        raise BadProgram("the JSON is nested too deep") from None
    if fields is not None:
        return _from_json(fields)
    return _from_text(text)


def _from_json(fields: Mapping[str, Any]) -> Program:
    steps = fields.get("steps")
    if not isinstance(steps, list):
        raise BadProgram('a program is {"steps": [...]}')
    if len(steps) > MOST_STEPS:
        raise BadProgram(f"a program has at most {MOST_STEPS} steps")
    return Program(tuple(_step(item) for item in steps))


def _step(item: object) -> Step:
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
    return Step(item["op"], item["out"], arguments)


def _from_text(text: str) -> Program:
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
    return Program(tuple(_assignment(statement) for statement in module.body))


def _assignment(statement: ast.stmt) -> Step:
    match statement:
        case ast.Assign(targets=[ast.Name(id=out)], value=ast.Call(func=ast.Name(id=op)) as call):
            return Step(op, out, _arguments(op, call))
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
    if isinstance(value, str) and parameter is not None and isinstance(parameter.kind, Earlier):
        return Ref(value)
    return value


def _short(name: str) -> str:
    """Return a name that a model wrote as a fault repeats it: on one line and short."""
    return " ".join(repr(name).split())[:40]

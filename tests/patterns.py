"""Every regular expression of the product, and strings that are bad for it."""

from __future__ import annotations

import ast
import re
import re._constants as sre
import re._parser as parser
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PRODUCT = ("backend", "workers", "gpu_workers")
CALLS = frozenset({"compile", "match", "search", "sub", "subn", "fullmatch", "split", "findall", "finditer"})
FIELDS = frozenset({"RegexField", "RegexValidator"})
"""Callables of frameworks whose first argument is a pattern that they search for."""
PIECE = "[a-z]{1,9}"
"""Stands for a piece of a pattern that is known only while the product runs."""


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern of the product. ways: methods by which it is used."""

    place: str
    pattern: re.Pattern[str]
    ways: frozenset[str]


def patterns_of_sources() -> list[Found]:
    """Return the patterns that the sources write down, each with the ways in which its name is used."""
    trees = {path: ast.parse(path.read_text()) for name in PRODUCT for path in sorted((ROOT / name).rglob("*.py"))}
    used = _ways_by_name(trees.values())
    return [found for path, tree in trees.items() for found in _written_in(path, tree, used)]


def _ways_by_name(trees: Iterable[ast.Module]) -> Mapping[str, set[str]]:
    ways: defaultdict[str, set[str]] = defaultdict(set)
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in CALLS - {"compile"}:
                name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
                ways[name].add(node.attr)
    return ways


def _written_in(path: Path, tree: ast.Module, used: Mapping[str, set[str]]) -> Iterator[Found]:
    names = {
        id(statement.value): getattr(target, "id", "")
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    }
    known: Mapping[str, Any] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = node.func
        of_re = isinstance(called, ast.Attribute) and getattr(called.value, "id", "") == "re" and called.attr in CALLS
        field = getattr(called, "attr", getattr(called, "id", "")) in FIELDS
        if not of_re and not field:
            continue
        if not known and not isinstance(node.args[0], ast.Constant):
            known = vars(
                import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
            )
        way = called.attr if isinstance(called, ast.Attribute) and of_re else "search"
        ways = {way} if way != "compile" else used.get(names.get(id(node), ""), set()) or {"search"}
        pattern = _value(node.args[0], known)
        if isinstance(pattern, str):
            flags = [*node.args[1:], *(word.value for word in node.keywords)]
            place = f"{path.relative_to(ROOT)}:{node.lineno}"
            yield Found(place, re.compile(pattern, _flags(flags)), frozenset(ways))


def _flags(arguments: Iterable[ast.expr]) -> int:
    names = [node.attr for argument in arguments for node in ast.walk(argument) if isinstance(node, ast.Attribute)]
    return sum({getattr(re, name) for name in names if isinstance(getattr(re, name, None), re.RegexFlag)})


def _value(written: ast.expr, known: Mapping[str, Any]) -> Any:
    """Return the value of an expression as its module knows it; what only a call knows is replaced by PIECE."""
    try:
        return eval(compile(ast.Expression(written), "pattern", "eval"), dict(known))
    except Exception:
        if isinstance(written, ast.JoinedStr):
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else _piece(part, known) for part in written.values
            )
        if isinstance(written, ast.BinOp):
            return f"{_value(written.left, known)}{_value(written.right, known)}"
        return PIECE


def _piece(part: ast.expr, known: Mapping[str, Any]) -> str:
    value = _value(part.value, known) if isinstance(part, ast.FormattedValue) else PIECE
    return str(value)


# --- strings ----------------------------------------------------------------------------------------------------------

HAND_MADE = (
    "a ", " ", "!", "how many x ", "1", "a", '"', "'", '\\"', "<", "(", "[", "-", "\n", "„", "«", "「", "，", "ä",
    "E1 ", "a.", ". ", "0-", "2020-01-01", "X-Amz-", "https://", "a'", '{"', ", ", "; ", "at 3 and ", "between 1 and ",
    "the last ", "没有",
)  # fmt: skip


MOST_UNITS = 16
"""Maximum number of strings that are taken from the parts of one pattern."""


def worst_strings(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    """Yield strings of one length that repeat what parts of a pattern match, and do not match at their end."""
    parsed = parser.parse(pattern.pattern, pattern.flags)
    units = dict.fromkeys([*HAND_MADE, *islice(_units(parsed), MOST_UNITS)])
    for unit in filter(None, units):
        for head in dict.fromkeys(["", _sample(parsed)[:20]]):
            for tail in ("", "\x00"):
                body = unit * (length // len(unit) + 1)
                yield head + body[: length - len(head) - len(tail)] + tail


def _units(parsed: Any) -> Iterator[str]:
    """Yield what each part of a pattern matches, alone and with the parts after it."""
    parts = list(parsed)
    for index in range(len(parts)):
        for end in range(index + 1, min(len(parts), index + 4) + 1):
            yield _sample(parts[index:end])
    for operator, value in parts:
        for inner in _inner(operator, value):
            yield from _units(inner)


def _inner(operator: Any, value: Any) -> list[Any]:
    if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return [value[2]]
    if operator is sre.SUBPATTERN:
        return [value[3]]
    if operator is sre.BRANCH:
        return list(value[1])[:12]
    if operator in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    return [value] if operator is sre.ATOMIC_GROUP else []


def _sample(parts: Iterable[Any]) -> str:
    """Return a short string that these parts of a pattern match, as far as that is simple."""
    return "".join(_sample_of(operator, value) for operator, value in parts)


def _sample_of(operator: Any, value: Any) -> str:
    if operator is sre.LITERAL:
        return chr(value)
    if operator is sre.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if operator is sre.ANY:
        return "a"
    if operator is sre.IN:
        return _member(value)
    if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return _sample(value[2]) * max(1, min(value[0], 3))
    if operator in (sre.ASSERT, sre.ASSERT_NOT, sre.AT, sre.GROUPREF):
        return ""
    inner = _inner(operator, value)
    return _sample(inner[0]) if inner else ""


_CATEGORIES = {sre.CATEGORY_DIGIT: "1", sre.CATEGORY_SPACE: " ", sre.CATEGORY_WORD: "a"}


def _member(members: Any) -> str:
    if members[0][0] is sre.NEGATE:
        matching = re.compile("[^" + "".join(map(_class, members[1:])) + "]")
        return next((one for one in 'a 1.!\n,-"xé' if matching.match(one)), "\x01")
    operator, value = members[0]
    if operator is sre.LITERAL:
        return chr(value)
    return chr(value[0]) if operator is sre.RANGE else _CATEGORIES.get(value, "!")


def _class(member: Any) -> str:
    operator, value = member
    if operator is sre.LITERAL:
        return re.escape(chr(value))
    if operator is sre.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    names = {"DIGIT": r"\d", "NOT_DIGIT": r"\D", "SPACE": r"\s", "NOT_SPACE": r"\S", "WORD": r"\w", "NOT_WORD": r"\W"}
    return names[str(value).removeprefix("CATEGORY_")]

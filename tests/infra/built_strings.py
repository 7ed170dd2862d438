"""Finds where code builds a URL, a path, a header, a command or SQL out of values, by a walk over its syntax trees.

A string is built by an f-string, +, %, format(), join() or urljoin(). It counts if it is an argument of a call that
sends, opens, runs or executes it, or a local name of such a string. A value is harmless if it is a constant or the
result of a builder that quotes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("backend", "workers", "gpu_workers", "infra")

BUILDERS = frozenset(
    {"encode", "quote", "urlencode", "reverse", "path_of", "getpid", "getuid", "Identifier", "Literal"}
)
"""Functions whose results are quoted for where they go, or are numbers of ours."""
_SENDS = frozenset(
    {"urlopen", "Request", "HttpResponseRedirect", "redirect", "redirect_to_login", "urljoin", "check_url"}
)
_METHODS = frozenset({"get", "post", "put", "patch", "delete", "head", "request", "send", "stream", "build_request"})
_CLIENTS = frozenset({"httpx", "requests", "client", "_client", "session", "_session", "transport", "_http", "http"})
_RUNS = frozenset({"run", "Popen", "check_output", "check_call", "call"})
_EXECUTES = frozenset(
    {"execv", "execve", "execvp", "system", "create_subprocess_exec", "create_subprocess_shell", "Command"}
)
_SQL = frozenset({"execute", "executemany", "RawSQL", "raw", "extra", "SQL", "cypher", "copy", "RunSQL"})
_OPENS = frozenset({"open", "Path", "PurePath"})


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a string is built. kind: url, path, header, command or sql. function: dotted, "" for a module."""

    kind: str
    file: str
    function: str


def places() -> set[Place]:
    """Return the places of the whole product."""
    found: set[Place] = set()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            found |= places_in(path.read_text(), str(path.relative_to(ROOT)))
    return found


def places_in(text: str, file: str) -> set[Place]:
    """Return the places of one module."""
    return set(_visited(ast.parse(text), file, "", frozenset()))


def _visited(node: ast.AST, file: str, function: str, names: frozenset[str]) -> Iterator[Place]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own = frozenset() if isinstance(child, ast.ClassDef) else _built_names(child)
            yield from _visited(child, file, f"{function}.{child.name}".lstrip("."), names | own)
            continue
        for kind, value in _sinks(child):
            if _holds_built(value, names):
                yield Place(kind, file, function)
        yield from _visited(child, file, function, names)


def _built_names(function: ast.AST) -> frozenset[str]:
    """Return the local names that are given a built string."""
    assigned = [one for one in ast.walk(function) if isinstance(one, ast.Assign) and is_built(one.value)]
    return frozenset(target.id for one in assigned for target in one.targets if isinstance(target, ast.Name))


def _sinks(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield what a node hands to the outside, with its kind."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield "path", node.right
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and _name(target.value) in {"headers", "response", "reply"}:
                yield "header", node.value
    if not isinstance(node, ast.Call):
        return
    name, owner = _name(node.func), _owner(node.func)
    if name in _SENDS or (name in _METHODS and owner in _CLIENTS):
        yield from (("url", one) for one in node.args[:3])
        yield from (("url", one.value) for one in node.keywords if one.arg in {"url", "base_url"})
    if name in _EXECUTES or (name in _RUNS and owner == "subprocess"):
        yield from (("command", one) for one in node.args[:2])
    if name in _SQL and owner not in {"pool", "executor"}:
        yield from (("sql", one) for one in node.args[:1])
    if name in _OPENS:
        yield from (("path", one) for one in node.args[:1])
    if name != "mail":  # the builder of mails (webhooks.recipients) makes one line of a subject
        yield from (("header", one.value) for one in node.keywords if one.arg in {"headers", "subject"})


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _owner(node: ast.expr) -> str:
    value = node.value if isinstance(node, ast.Attribute) else None
    if isinstance(value, ast.Call):
        return _name(value.func)
    return "" if value is None else _name(value)


def _holds_built(value: ast.expr, names: frozenset[str]) -> bool:
    return any(is_built(one) or (isinstance(one, ast.Name) and one.id in names) for one in ast.walk(value))


def is_built(node: ast.AST) -> bool:
    """Whether an expression builds a text out of a value that no builder has quoted."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(one, ast.FormattedValue) and not _is_harmless(one.value) for one in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        parts = (node.left, node.right)
        return any(map(_is_text, parts)) and not all(map(_is_harmless, parts))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "format":
            # psycopg composes SQL out of identifiers and literals by the same name.
            return not (isinstance(node.func.value, ast.Call) and _name(node.func.value.func) == "SQL")
        return node.func.attr == "join" and isinstance(node.func.value, ast.Constant)
    return isinstance(node, ast.Call) and _name(node.func) == "urljoin"


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _is_harmless(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return _name(node.func) in BUILDERS
    return isinstance(node, ast.Constant) or _name(node).isupper()

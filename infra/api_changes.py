"""``python -m infra.api_changes REVISION`` names what in openapi.yaml breaks clients of an earlier revision.

REVISION: the commit or tag of the last release. Exits with status 1 if a change breaks clients. What docs/api.md calls
no breaking change is none here: new operations, optional parameters and fields, and new values in replies.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

Schema = dict[str, Any]
Document = dict[str, Any]
_PROJECT = Path(__file__).resolve().parents[1]
DOCUMENT = "frontend_api_schema/openapi.yaml"
_METHODS = ("get", "put", "post", "delete", "patch")


def breaking(old: Document, new: Document, *, today: date) -> list[str]:
    """Return the changes between two OpenAPI documents that break clients of the old one, one sentence each.

    An operation may go on the day that its `x-sunset` names in the old document.
    """
    found: list[str] = []
    kept = {(path, method): each for path, method, each in _operations(new)}
    for path, method, operation in _operations(old):
        name = operation["operationId"]
        now = kept.get((path, method))
        if now is None:
            if str(operation.get("x-sunset", "9999")) > today.isoformat():
                found.append(f"{name}: the operation is gone")
            continue
        found += [f"{name}: {change}" for change in _of_operation(old, new, operation, now)]
    return found


def _operations(document: Document) -> Iterator[tuple[str, str, Any]]:
    for path, operations in document["paths"].items():
        for method in _METHODS:
            if method in operations:
                yield path, method, operations[method]


def _of_operation(old: Document, new: Document, before: Any, now: Any) -> Iterator[str]:
    if before["operationId"] != now["operationId"]:
        yield f"it is called {now['operationId']} now"
    parameters = {(each["in"], each["name"]): each for each in now.get("parameters", [])}
    known = {(each["in"], each["name"]): each for each in before.get("parameters", [])}
    for key, each in known.items():
        if key not in parameters:
            yield f"the parameter {key[1]} is gone"
            continue
        if parameters[key].get("required") and not each.get("required"):
            yield f"the parameter {key[1]} is required now"
        yield from _Comparison(old, new, sent=True).of(each["schema"], parameters[key]["schema"], key[1])
    for key, each in parameters.items():
        if each.get("required") and key not in known:
            yield f"the parameter {key[1]} is new and required"
    if "requestBody" in now:
        if now["requestBody"].get("required") and not before.get("requestBody", {}).get("required"):
            yield "a body is required now"
        yield from _of_contents(
            _Comparison(old, new, sent=True), before.get("requestBody", {}), now["requestBody"], "body"
        )
    elif "requestBody" in before:
        yield "it takes no body any more"
    for status, reply in before["responses"].items():
        if not status.startswith("2"):
            continue
        if status not in now["responses"]:
            yield f"the reply {status} is gone"
            continue
        yield from _of_contents(_Comparison(old, new, sent=False), reply, now["responses"][status], f"reply {status}")


def _of_contents(comparison: _Comparison, before: Any, now: Any, where: str) -> Iterator[str]:
    for kind, content in before.get("content", {}).items():
        if kind not in now.get("content", {}):
            yield f"{where}: {kind} is gone"
        elif "schema" in content:
            yield from comparison.of(content["schema"], now["content"][kind]["schema"], where)


class _Comparison:
    """Compares schemas. sent: whether the client sends what they describe, and not the service."""

    def __init__(self, old: Document, new: Document, *, sent: bool) -> None:
        self._old, self._new, self._sent = old, new, sent
        self._seen: set[tuple[str, str]] = set()

    def of(self, before: Schema, now: Schema, where: str) -> Iterator[str]:
        names = before.get("$ref", ""), now.get("$ref", "")
        if all(names):
            if names in self._seen:
                return
            self._seen.add(names)
        before, now = _resolved(self._old, before), _resolved(self._new, now)
        yield from self._of_types(before, now, where)
        yield from self._of_values(before, now, where)
        yield from self._of_fields(before, now, where)
        if "items" in before and "items" in now:
            yield from self.of(before["items"], now["items"], f"{where}[]")

    def _of_types(self, before: Schema, now: Schema, where: str) -> Iterator[str]:
        had, has = _types(before), _types(now)
        lost, added = had - has, has - had
        # An integer is a number, for whoever sends it and not for whoever reads it.
        if self._sent and lost and not (lost == {"integer"} and "number" in has):
            yield f"{where}: {', '.join(sorted(lost))} is not taken any more"
        if not self._sent and added and had:
            yield f"{where}: may be {', '.join(sorted(added))} now"
        for word in ("oneOf", "anyOf"):
            for n, each in enumerate(before.get(word, [])):
                others = now.get(word, [now])
                if not any(
                    not list(_Comparison(self._old, self._new, sent=self._sent).of(each, other, where))
                    for other in others
                ):
                    yield f"{where}: form {n + 1} of {len(before[word])} has changed"

    def _of_values(self, before: Schema, now: Schema, where: str) -> Iterator[str]:
        if self._sent and "enum" in now:
            gone = [value for value in before.get("enum", []) if value not in now["enum"]]
            if gone:
                yield f"{where}: the values {gone} are not taken any more"
            elif "enum" not in before and before.get("const") not in now["enum"]:
                yield f"{where}: only some values are taken now"
        for bound, stricter in (("maxLength", -1), ("maximum", -1), ("maxItems", -1), ("minLength", 1), ("minimum", 1)):
            if (
                self._sent
                and bound in now
                and (bound not in before or stricter * now[bound] > stricter * before[bound])
            ):
                yield f"{where}: {bound} is {now[bound]} now"

    def _of_fields(self, before: Schema, now: Schema, where: str) -> Iterator[str]:
        had, has = before.get("properties", {}), now.get("properties", {})
        for name, schema in had.items():
            if name not in has:
                yield f"{where}.{name} is gone"
                continue
            yield from self.of(schema, has[name], f"{where}.{name}")
        needed, needs = set(before.get("required", [])), set(now.get("required", []))
        if self._sent:
            yield from (f"{where}.{name} is required now" for name in sorted(needs - needed))
        else:
            yield from (f"{where}.{name} may be missing now" for name in sorted((needed - needs) & has.keys()))


def _types(schema: Schema) -> set[str]:
    kind = schema.get("type", [])
    return {kind} if isinstance(kind, str) else set(kind)


def _resolved(document: Document, schema: Schema) -> Schema:
    """Return a schema without a reference at its top; parts of allOf are put together."""
    while "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        schema = document["components"]["schemas"][name]
    if "allOf" not in schema:
        return schema
    whole: Schema = {"properties": {}, "required": []}
    for part in (*schema["allOf"], {key: value for key, value in schema.items() if key != "allOf"}):
        each = _resolved(document, part)
        whole |= {key: value for key, value in each.items() if key not in ("properties", "required")}
        whole["properties"] |= each.get("properties", {})
        whole["required"] = [*whole["required"], *each.get("required", [])]
    return whole


def main(arguments: Sequence[str]) -> int:
    """Compare with the revision that is named. Returns the exit status."""
    if len(arguments) != 1:
        print("api-changes: name the commit or the tag of the last release", file=sys.stderr)
        return 2
    shown = subprocess.run(
        ["git", "show", f"{arguments[0]}:{DOCUMENT}"], cwd=_PROJECT, capture_output=True, text=True, check=False
    )
    if shown.returncode:
        print(f"api-changes: {shown.stderr.strip()}", file=sys.stderr)
        return 2
    old, new = (yaml.load(text, yaml.CSafeLoader) for text in (shown.stdout, (_PROJECT / DOCUMENT).read_text()))
    found = breaking(old, new, today=datetime.now(UTC).date())
    for change in found:
        print(change)
    print(f"api-changes: {len(found)} changes break clients of {arguments[0]}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

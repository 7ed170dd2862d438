"""What keeps generated clients working: values that may come later, and fields that may be left out.

Generators make a closed type of an `enum`, which fails on a value that is added later. So only requests have enums. A
response has text, with the values that are known today in its description and in `x-extensible-enum`.

openapi-typescript makes a field with a `default` required. So the defaults of bodies are words of their description.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

KNOWN = "x-extensible-enum"
"""Keyword with the values that are known today, as in Zalando's rules for REST."""
_COMPONENTS = "#/components/schemas/"


def open_values(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: no enums in what we send, no defaults in bodies that we receive."""
    schemas = result["components"]["schemas"]
    operations = [each for every in result["paths"].values() for each in every.values()]
    sent = [reply.get("content", {}) for each in operations for reply in each["responses"].values()]
    sent += [each["post"]["requestBody"] for each in result["webhooks"].values()]
    received = [each["requestBody"] for each in operations if "requestBody" in each]
    for node in _reached(sent, schemas):
        _open(node, schemas)
    for node in _reached(received, schemas):
        for field in node.get("properties", {}).values():
            _say_default(field)
    _drop_unused(result)
    return result


def _reached(roots: Any, schemas: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every object that lies in the roots or in a schema that they refer to, each before its parts."""
    seen, left = set(), [roots]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
            name = str(node.get("$ref", "")).removeprefix(_COMPONENTS)
            if name in schemas and name not in seen:
                seen.add(name)
                left.append(schemas[name])
            left += node.values()
        elif isinstance(node, list):
            left += node


def _open(node: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Replace an enum, or a reference to one, by text with its known values."""
    values = _values(node, schemas)
    if values is None:
        return
    known = [value for value in values if value is not None]
    if not known:
        return
    listed = ", ".join(f"`{value}`" for value in known if value)
    said = f"{node['description']} " if node.get("description") else ""
    node.clear()
    node |= {
        "type": ["string", "null"] if None in values else "string",
        "description": f"{said}Known values: {listed}. Others may follow.",
        KNOWN: known,
    }


def _values(node: dict[str, Any], schemas: dict[str, Any]) -> list[Any] | None:
    """Return the values of an enum, None in it for null; None for any other schema."""
    if isinstance(node.get("enum"), list):
        return list(node["enum"])
    if node.get("type") == "null":
        return [None]
    if "$ref" in node:
        return _values(schemas.get(node["$ref"].removeprefix(_COMPONENTS), {}), schemas)
    for word in ("oneOf", "anyOf", "allOf"):
        parts = [_values(part, schemas) for part in node.get(word, [])]
        if parts and None not in parts and any(parts):
            return [value for part in parts for value in part or []]
    return None


def _say_default(field: dict[str, Any]) -> None:
    """Move the default of a field into its description."""
    default = field.pop("default", None)
    if default in (None, ""):
        return
    said = f"{field['description']} " if field.get("description") else ""
    field["description"] = f"{said}By default `{default if isinstance(default, str) else json.dumps(default)}`."


def _drop_unused(result: dict[str, Any]) -> None:
    """Delete the schemas that nothing refers to any more, and name a null in a choice by its type."""
    schemas = result["components"]["schemas"]
    for node in _reached([result["paths"], result["webhooks"]], schemas):
        for part in node.get("oneOf", []):
            if part == {"$ref": f"{_COMPONENTS}NullEnum"}:
                part.clear()
                part["type"] = "null"
    used = {str(node.get("$ref")) for node in _reached([result["paths"], result["webhooks"]], schemas)}
    problems = {str(node.get("$ref")) for node in _reached(result["components"]["responses"], schemas)}
    for name in [name for name in schemas if f"{_COMPONENTS}{name}" not in used | problems]:
        del schemas[name]

"""The collection of requests for Postman, Bruno and Insomnia (format 2.1), made of openapi.yaml.

The usual converter (openapi-to-postmanv2) invents other ids and bodies at each run and leaves the document's examples
out, so the collection is put together here. It holds no key: whoever opens it sets `baseUrl` and `apiKey`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]
DOCUMENT = PROJECT / "frontend_api_schema" / "openapi.yaml"
COLLECTION = PROJECT / "frontend_api_schema" / "ava-cloud.postman_collection.json"
_FORMAT = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_EMPTY: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}


def generate() -> None:
    """Write the collection."""
    COLLECTION.write_text(collection_of(yaml.load(DOCUMENT.read_text(), Loader=yaml.CSafeLoader)))


def collection_of(document: dict[str, Any]) -> str:
    """Return the collection of an OpenAPI document: a folder for each tag, a request for each operation."""
    folders: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            request = _request(document, method, path, operation)
            folders[operation["tags"][0]].append({"name": operation["summary"], "request": request})
    collection = {
        "info": {"name": document["info"]["title"], "description": document["info"]["description"], "schema": _FORMAT},
        "variable": [{"key": "baseUrl", "value": "https://YOUR-HOST"}, {"key": "apiKey", "value": ""}],
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{apiKey}}", "type": "string"}]},
        "item": [{"name": name, "item": requests} for name, requests in folders.items()],
    }
    return json.dumps(collection, indent=1, ensure_ascii=False) + "\n"


def _request(document: dict[str, Any], method: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    """Return a request that can be sent once its ids are filled in: what is optional is switched off."""
    parameters = [_resolved(document, one) for one in operation.get("parameters", ())]
    # Only a whole part of a path can be a variable of the request; elsewhere it is one of the collection.
    named = re.sub(r"\{(\w+)\}", r"{{\1}}", re.sub(r"/\{(\w+)\}(?=/|$)", r"/:\1", path))

    def of(place: str) -> list[dict[str, Any]]:
        return [
            {"key": one["name"], "value": "", "description": one.get("description", "")}
            | ({} if place == "path" else {"disabled": not one.get("required", False)})
            for one in parameters
            if one["in"] == place and (place != "path" or f":{one['name']}" in named)
        ]

    url = {"raw": f"{{{{baseUrl}}}}{named}", "host": ["{{baseUrl}}"], "path": named.strip("/").split("/")}
    made = {
        "method": method.upper(),
        "header": of("header"),
        "url": url | {"query": of("query"), "variable": of("path")},
        "description": operation["description"],
    }
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return made
    body = content.get("example", _skeleton(document, content["schema"]))
    raw = json.dumps(body, indent=2, ensure_ascii=False)
    return made | {"body": {"mode": "raw", "raw": raw, "options": {"raw": {"language": "json"}}}}


def _skeleton(document: dict[str, Any], schema: dict[str, Any]) -> Any:
    """Return the smallest value of a schema's shape: the properties that it requires, each with its first value."""
    schema = _resolved(document, schema)
    for choice in ("allOf", "oneOf", "anyOf"):
        if choice in schema:
            return _skeleton(document, schema[choice][0])
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "properties" in schema:
        required = schema.get("required", ())
        return {name: _skeleton(document, one) for name, one in schema["properties"].items() if name in required}
    kind = schema.get("type", "object")
    return _EMPTY[kind if isinstance(kind, str) else kind[0]]


def _resolved(document: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        found: Any = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        part = found
    return part

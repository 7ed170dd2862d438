"""A client of the API that compares each JSON reply under /v1 with openapi.yaml, so that no test passes on a reply that
the document does not describe."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from rest_framework.test import APIClient

from backend.api.contract.generated_clients import KNOWN

# Customers get text whose values may grow in number; our own replies hold no value that is not written down.
_IS_ONE_OF = Draft202012Validator.VALIDATORS["enum"]
_Strict = extend(
    Draft202012Validator,
    {KNOWN: lambda checker, known, value, schema: _IS_ONE_OF(checker, [*known, None], value, schema)},
)
PATH = Path(__file__).parents[1] / "frontend_api_schema" / "openapi.yaml"


class ContractClient(APIClient):
    """Raises AssertionError for a reply that the document does not describe."""

    def request(self, **request: Any) -> Any:
        response = super().request(**request)
        require_described(request["REQUEST_METHOD"].lower(), request["PATH_INFO"], response)
        return response


def require_described(method: str, path: str, response: Any) -> None:
    """Compare status, media type and body of a reply with the document. Paths and methods that it does not have, and
    replies that stream, are left alone."""
    operation = _operation(method, path)
    if operation is None or response.streaming:
        return
    where, described = operation
    status = str(response.status_code)
    name = status if status in described else "default"
    assert name in described, f"{method} {path}: no response {status}"
    pointer, described = f"{where}/responses/{name}", described[name]
    if "$ref" in described:
        pointer = described["$ref"].removeprefix("#")
        described = _resolved(pointer)
    if not response.content:
        return
    media = response.headers["Content-Type"].split(";")[0]
    assert media in described.get("content", {}), f"{method} {path} {status}: {media} is not described"
    if media.endswith("json") and "schema" in described["content"][media]:
        validator = _validator(f"{pointer}/content/{_escaped(media)}/schema")
        packed = response.headers.get("Content-Encoding") == "gzip"
        body = json.loads(gzip.decompress(response.content) if packed else response.content)
        errors = sorted(validator.iter_errors(body), key=lambda error: list(error.path))
        assert not errors, f"{method} {path} {status}: {errors[0].json_path}: {errors[0].message[:500]}"


@cache
def _document() -> Any:
    return yaml.load(PATH.read_text(), Loader=yaml.CSafeLoader)


@cache
def _routes() -> list[tuple[re.Pattern[str], str]]:
    """Return the paths as patterns, those without parameters first."""
    paths = sorted(_document()["paths"], key=lambda path: path.count("{"))
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + r"\Z"), path) for path in paths]


def _operation(method: str, path: str) -> tuple[str, Any] | None:
    """Return where the document describes the operation, and its responses by status."""
    template = next((template for pattern, template in _routes() if pattern.match(path)), None)
    operation = _document()["paths"][template].get(method) if template else None
    return (f"/paths/{_escaped(template)}/{method}", operation["responses"]) if template and operation else None


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _resolved(pointer: str) -> Any:
    place = _document()
    for name in pointer.strip("/").split("/"):
        place = place[name.replace("~1", "/").replace("~0", "~")]
    return place


@cache
def _validator(pointer: str) -> Any:
    return _Strict({**_document(), "$ref": f"#{pointer}"})

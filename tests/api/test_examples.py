"""The examples of the OpenAPI document are valid, and the service answers them as they say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from backend.api.contract.examples import EXAMPLES
from backend.api.public_ids import encode
from tests.conftest import Cast
from tests.ekg.recorded import record

DOCUMENT: dict[str, Any] = yaml.load(Path("frontend_api_schema/openapi.yaml").read_text(), Loader=yaml.CSafeLoader)
OPERATIONS = {each["operationId"]: (path, each) for path, every in DOCUMENT["paths"].items() for each in every.values()}


def errors(content: dict[str, Any]) -> Iterator[Any]:
    schema = {**content["schema"], "components": DOCUMENT["components"]}
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    return validator.iter_errors(content["example"])


@pytest.mark.parametrize("operation_id", EXAMPLES)
def test_an_example_is_valid(operation_id: str) -> None:
    _, operation = OPERATIONS[operation_id]
    reply = operation["responses"][str(EXAMPLES[operation_id]["status"])]
    assert list(errors(operation["requestBody"]["content"]["application/json"])) == []
    assert list(errors(reply["content"]["application/json"])) == []


@pytest.mark.parametrize("operation_id", EXAMPLES)
def test_an_example_is_answered_as_it_says(operation_id: str, acme: Cast) -> None:
    path, _ = OPERATIONS[operation_id]
    example = EXAMPLES[operation_id]
    body = example["request"]
    if "video_ids" in body:
        body = {**body, "video_ids": [encode("vid", record(acme).video_id)]}

    # Nobody works on a search here, so none waits for its results.
    reply = acme.client.post(path, body, headers={"Prefer": "respond-async"})

    assert reply.status_code == example["status"], reply.content
    assert shape(reply.json()) == shape(example["reply"])


def shape(value: Any) -> Any:
    """Return the names of a reply's fields, without what their values say."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    return None

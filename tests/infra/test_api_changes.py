"""`make api-changes` names what breaks clients, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.api_changes import DOCUMENT, breaking

TODAY = date(2027, 7, 1)
OLD: dict[str, Any] = {
    "paths": {
        "/v1/things": {
            "get": {
                "operationId": "listThings",
                "parameters": [{"in": "query", "name": "limit", "schema": {"type": "integer", "maximum": 100}}],
                "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/x/Thing"}}}}},
            },
            "post": {
                "operationId": "createThing",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/x/ThingRequest"}}}},
                "responses": {"201": {}},
            },
        }
    },
    "components": {
        "schemas": {
            "Thing": {
                "type": "object",
                "required": ["id", "state"],
                "properties": {
                    "id": {"type": "string"},
                    "state": {"type": "string", "enum": ["open", "ended"]},
                    "parts": {"type": "array", "items": {"$ref": "#/x/Thing"}},
                },
            },
            "ThingRequest": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": ["string", "null"]},
                    "kind": {"type": "string", "enum": ["a", "b"]},
                },
            },
        }
    },
}


def after(change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> list[str]:
    """Return what breaks after a change of the paths and the schemas."""
    new = deepcopy(OLD)
    change(new["paths"]["/v1/things"], new["components"]["schemas"])
    return breaking(OLD, new, today=TODAY)


BREAKS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Any]] = {
    "createThing: the operation is gone": lambda paths, _: paths.pop("post"),
    "listThings: it is called getThings now": lambda paths, _: paths["get"].update(operationId="getThings"),
    "listThings: the parameter limit is gone": lambda paths, _: paths["get"].update(parameters=[]),
    "listThings: limit: maximum is 50 now": lambda paths, _: paths["get"]["parameters"][0]["schema"].update(maximum=50),
    "listThings: the parameter limit is required now": lambda paths, _: paths["get"]["parameters"][0].update(
        required=True
    ),
    "listThings: the reply 200 is gone": lambda paths, _: paths["get"].update(responses={"206": {}}),
    "listThings: reply 200.state is gone": lambda _, schemas: schemas["Thing"]["properties"].pop("state"),
    "listThings: reply 200.id may be missing now": lambda _, schemas: schemas["Thing"].update(required=["state"]),
    "listThings: reply 200.id: may be null now": lambda _, schemas: schemas["Thing"]["properties"]["id"].update(
        type=["string", "null"]
    ),
    "createThing: body.kind is required now": lambda _, schemas: schemas["ThingRequest"].update(
        required=["name", "kind"]
    ),
    "createThing: body.name: null is not taken any more": lambda _, schemas: schemas["ThingRequest"]["properties"][
        "name"
    ].update(type="string"),
    "createThing: body.kind: the values ['b'] are not taken any more": lambda _, schemas: schemas["ThingRequest"][
        "properties"
    ]["kind"].update(enum=["a", "c"]),
    "createThing: body.kind is gone": lambda _, schemas: schemas["ThingRequest"]["properties"].pop("kind"),
}


@pytest.mark.parametrize("sentence", BREAKS)
def test_a_change_that_breaks_clients_is_named(sentence: str) -> None:
    assert after(BREAKS[sentence]) == [sentence]


@pytest.mark.parametrize(
    "change",
    [
        lambda paths, _: paths["get"]["parameters"].append({"in": "query", "name": "more", "schema": {}}),
        lambda paths, _: paths["get"]["responses"].update({"304": {}}),
        lambda _, schemas: schemas["Thing"]["properties"].update(new={"type": "string"}),
        lambda _, schemas: schemas["Thing"]["properties"]["state"]["enum"].append("paused"),
        lambda _, schemas: schemas["ThingRequest"]["properties"].update(new={"type": "string"}),
        lambda _, schemas: schemas["ThingRequest"]["properties"]["kind"]["enum"].append("c"),
        lambda _, schemas: schemas["ThingRequest"].update(required=[]),
    ],
)
def test_what_clients_must_expect_is_not_named(change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> None:
    assert after(change) == []


@pytest.mark.parametrize(
    ("sunset", "gone"), [("2027-07-01", []), ("2027-07-02", ["listThings: the operation is gone"])]
)
def test_an_operation_may_go_on_the_day_that_it_named(sunset: str, gone: list[str]) -> None:
    old, new = deepcopy(OLD), deepcopy(OLD)
    old["paths"]["/v1/things"]["get"]["x-sunset"] = sunset
    del new["paths"]["/v1/things"]["get"]
    assert breaking(old, new, today=TODAY) == gone


def test_the_document_breaks_no_client_of_itself() -> None:
    document = yaml.load(Path(DOCUMENT).read_text(), Loader=yaml.CSafeLoader)
    assert breaking(document, document, today=TODAY) == []

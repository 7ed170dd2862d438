"""The generated parts of the clients belong to openapi.yaml. `make clients` writes them again."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
import yaml

from infra.clients import postman_collection, python_client, typescript_client
from tests.api.servers import ServerProcess
from tests.conftest import Cast

_TYPESCRIPT_OPERATION = re.compile(r"^    (\w+): \{$", re.MULTILINE)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    read: dict[str, Any] = yaml.load(python_client.DOCUMENT.read_text(), Loader=yaml.CSafeLoader)
    return read


def test_the_python_client_belongs_to_the_document() -> None:
    package = python_client.PACKAGE
    assert (package / "_generated" / python_client.MADE_FROM).read_text() == python_client.state(package)


def test_the_typescript_client_belongs_to_the_document() -> None:
    package = typescript_client.PACKAGE
    assert (package / typescript_client.MADE_FROM).read_text() == typescript_client.state(package)


def test_the_collection_belongs_to_the_document_and_names_every_operation(document: dict[str, Any]) -> None:
    text = postman_collection.COLLECTION.read_text()
    requests = [one["request"] for group in json.loads(text)["item"] for one in group["item"]]
    named = {
        (one["method"], re.sub(r"[{}]", "", one["url"]["raw"].removeprefix("{{baseUrl}}").replace("/:", "/")))
        for one in requests
    }  # fmt: skip

    assert text == postman_collection.collection_of(document)
    assert named == {
        (method.upper(), re.sub(r"[{}]", "", path)) for path, every in document["paths"].items() for method in every
    }
    assert len(named) == len(requests)


def test_requests_of_the_collection_are_answered(acme: Cast, server: ServerProcess) -> None:
    collection = json.loads(postman_collection.COLLECTION.read_text())
    requests = {one["name"]: one["request"] for group in collection["item"] for one in group["item"]}
    assert collection["auth"]["bearer"][0]["value"] == "{{apiKey}}"

    def sent(name: str) -> int:
        one = requests[name]
        url = one["url"]["raw"].replace("{{baseUrl}}", f"http://127.0.0.1:{server.port}")
        headers = {each["key"]: each["value"] for each in one["header"] if not each["disabled"]}
        headers |= {"Authorization": f"Bearer {acme.key}", "Content-Type": "application/json"}
        body = one["body"]["raw"] if "body" in one else None
        return httpx.request(one["method"], url, headers=headers, content=body, timeout=60, trust_env=False).status_code

    assert sent("List videos, newest first") == 200
    assert sent("Create a webhook endpoint") == 201, "its body is the example of the document"
    assert "vk_live_" not in json.dumps(requests["List videos, newest first"])


def test_both_clients_have_every_operation(document: dict[str, Any]) -> None:
    operations = {each["operationId"] for every in document["paths"].values() for each in every.values()}
    received = {each["post"]["operationId"] for each in document["webhooks"].values()}
    modules = {file.stem for file in (python_client.PACKAGE / "_generated" / "api").glob("*/*.py")} - {"__init__"}
    types = (typescript_client.PACKAGE / "src" / "schema.ts").read_text()
    _, _, declared = types.partition("export interface operations {\n")

    assert modules == {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in operations}
    assert set(_TYPESCRIPT_OPERATION.findall(declared)) == operations | received

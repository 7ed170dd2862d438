"""The generated parts of the clients belong to openapi.yaml. `make clients` writes them again."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from infra.clients import python_client, typescript_client

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


def test_both_clients_have_every_operation(document: dict[str, Any]) -> None:
    operations = {each["operationId"] for every in document["paths"].values() for each in every.values()}
    received = {each["post"]["operationId"] for each in document["webhooks"].values()}
    modules = {file.stem for file in (python_client.PACKAGE / "_generated" / "api").glob("*/*.py")} - {"__init__"}
    types = (typescript_client.PACKAGE / "src" / "schema.ts").read_text()
    _, _, declared = types.partition("export interface operations {\n")

    assert modules == {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in operations}
    assert set(_TYPESCRIPT_OPERATION.findall(declared)) == operations | received

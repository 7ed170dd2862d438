"""The generated parts of the clients belong to openapi.yaml. `make clients` writes them again."""

from __future__ import annotations

from infra.clients import python_client, typescript_client


def test_the_python_client_belongs_to_the_document() -> None:
    package = python_client.PACKAGE
    assert (package / "_generated" / python_client.MADE_FROM).read_text() == python_client.state(package)


def test_the_typescript_client_belongs_to_the_document() -> None:
    package = typescript_client.PACKAGE
    assert (package / typescript_client.MADE_FROM).read_text() == typescript_client.state(package)

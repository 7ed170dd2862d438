"""`make lint-api` compares the operations that generators made with those of the document."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.api_lint.__main__ import LintFailed, operation_ids, python_operations, typescript_operations


def test_operations_are_read_from_the_document() -> None:
    paths = {"/a": {"parameters": [], "get": {"operationId": "listA"}, "post": {"operationId": "createA"}}}

    assert operation_ids({"paths": paths}) == {"listA", "createA"}
    with pytest.raises(LintFailed, match="the same operationId"):
        operation_ids({"paths": {**paths, "/b": {"get": {"operationId": "listA"}}}})


def test_operations_are_read_from_types() -> None:
    types = (
        "export interface paths {\n    other: {\n    };\n}\nexport interface operations {\n    listA: {\n        a: {\n"
    )

    assert typescript_operations(types) == {"listA"}


def test_operations_are_read_from_a_python_client(tmp_path: Path) -> None:
    for name in ("api/__init__.py", "api/videos/__init__.py", "api/videos/list_a.py", "models/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    assert python_operations(tmp_path) == {"list_a"}

"""What documents name is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_tests_and_files_that_a_document_names_exist(document: Path) -> None:
    text = document.read_text()
    for file, name in NAMED_TEST.findall(text):
        functions = {
            node.name for node in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(node, ast.FunctionDef)
        }
        assert name in functions, f"{document.name} names {file}::{name}"
    for target in LINK.findall(text):
        assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_make_targets_that_documents_name_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for path in DOCUMENTS for name in re.findall(r"`(?:[A-Z]+=\S+ )?make ([a-z-]+)", path.read_text())}
    assert named
    assert named <= targets

"""How a test in a browser is written: it waits for something, it asserts always, and it looks at a phone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FILES = [path for path in sorted(TESTS.rglob("test_*browser*.py")) if path != Path(__file__)]
OF_THE_APP = [path for path in FILES if path.parent.name == "web" and path.name != "test_fixture_in_a_browser.py"]
PHONE_SIZES = ("app.check(", "PHONE", "390")


def idle_waits(tree: ast.AST, *, looping: bool = False) -> Iterator[int]:
    """Yield the line of each wait for a time that is no step of a loop which looks for something."""
    for node in ast.iter_child_nodes(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr == "wait_for_timeout" and not looping:
            yield called.lineno
        yield from idle_waits(node, looping=looping or isinstance(node, ast.For | ast.While | ast.GeneratorExp))


def conditional_assertions(tree: ast.AST, *, inside: bool = False) -> Iterator[int]:
    """Yield the line of each assertion that only some runs of a test reach."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Assert) and inside:
            yield node.lineno
        yield from conditional_assertions(node, inside=inside or isinstance(node, ast.If))


def test_the_rules_find_what_they_refuse() -> None:
    source = "page.wait_for_timeout(5)\nfor _ in range(3):\n    page.wait_for_timeout(5)\nif a:\n    assert b\n"
    tree = ast.parse(source)
    assert list(idle_waits(tree)) == [1]
    assert list(conditional_assertions(tree)) == [5]


@pytest.mark.parametrize("path", [*FILES, TESTS / "web" / "app.py"], ids=lambda path: str(path.relative_to(TESTS)))
def test_a_test_waits_for_something_and_not_for_a_time(path: Path) -> None:
    assert list(idle_waits(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize("path", OF_THE_APP, ids=lambda path: path.name)
def test_a_test_of_the_app_asserts_in_each_run_and_looks_at_a_phone(path: Path) -> None:
    text = path.read_text()
    assert list(conditional_assertions(ast.parse(text))) == []
    assert any(each in text for each in PHONE_SIZES)

"""Docstrings and comments of the code keep to the style guide."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.prose import PRIVATE_WORDS

ROOT = Path(__file__).parents[1]
PACKAGES = ("backend", "workers", "gpu_workers", "infra", "bench", "tests")
NO_SUBJECT = re.compile(r"(?:^|[.:;] )(Of|As) ", re.MULTILINE)
"""A sentence that opens with "Of …" or "As …": its subject is missing or comes late."""

SOURCES = [
    path.relative_to(ROOT).as_posix()
    for path in sorted([ROOT / "manage.py", *(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))])
]


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each docstring, including the strings that stand below a constant or a field."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in node.body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                text = statement.value.value
                if isinstance(text, str):
                    yield statement.lineno, text


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each comment, without its marker."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def faults(source: str) -> list[tuple[int, str]]:
    """Return the line and the word of each fault in the prose of a source file."""
    if not PRIVATE_WORDS.search(source) and not re.search(r"\b(?:Of|As) ", source):
        return []
    texts = [*docstrings(source), *comments(source)]
    words = [(line, match[0].lower()) for line, text in texts for match in PRIVATE_WORDS.finditer(text)]
    return sorted(words + [(line, match[1]) for line, text in texts for match in NO_SUBJECT.finditer(text)])


@pytest.mark.parametrize("name", SOURCES)
def test_prose_in_code_keeps_to_the_style_guide(name: str) -> None:
    assert faults((ROOT / name).read_text()) == [], "line and word"


def test_prose_in_the_makefile_keeps_to_the_style_guide() -> None:
    assert PRIVATE_WORDS.findall((ROOT / "Makefile").read_text()) == []


def test_a_fault_is_found_in_docstrings_of_all_kinds_and_in_comments() -> None:
    source = '''"""Told of."""
LIMIT = 1
"""Of a year."""
PAUSE = 2  # anew
class Thing:
    """Fine."""
    size: int
    """As the maker says."""
    def run(self) -> str:
        """Cancelled. Of such."""
        return "told"
'''

    assert faults(source) == [
        (1, "told"), (3, "Of"), (4, "anew"), (8, "As"), (10, "Of"), (10, "cancelled"),
    ]  # fmt: skip

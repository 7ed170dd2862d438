"""Documents name only existing things, ADRs keep their form, and prose keeps to the style guide."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand, CommandError

from tests.prose import COLUMNS, PRIVATE_WORDS

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "terraform/README.md", "backend/tenancy/README.md")
DOCUMENTS = sorted([*ROOT.glob("docs/**/*.md"), *(ROOT / name for name in READMES)])
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
COMMAND = re.compile(r"manage\.py ([a-z_]+[^`;|\n]*)")
WRAPPED_IN = re.compile(r"^.*\S #{2,} .*$|^[^|\n].* \|.*$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
ADRS = sorted((ROOT / "docs" / "adr").glob("*.md"))


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


def test_commands_of_the_runbooks_are_accepted_as_they_are_written() -> None:
    homes, refused = get_commands(), []
    written = [
        words
        for runbook in sorted((ROOT / "docs" / "runbooks").glob("*.md"))
        for words in COMMAND.findall(runbook.read_text().replace("\\\n", " "))
    ]
    assert written
    for words in written:
        name, *arguments = shlex.split(words.translate({ord("["): None, ord("]"): None}), comments=True)
        home = homes.get(name)
        if home is None:
            refused.append(words)
        elif arguments:
            command = home if isinstance(home, BaseCommand) else load_command_class(home, name)
            try:
                command.create_parser("manage.py", name).parse_args(arguments)
            except (CommandError, SystemExit):
                refused.append(words)
    assert refused == []


@pytest.mark.parametrize("adr", ADRS, ids=lambda path: path.stem)
def test_every_adr_has_a_status_and_the_three_parts(adr: Path) -> None:
    lines = adr.read_text().splitlines()
    number = int(adr.stem[:4])
    assert lines[0].startswith(f"# {number}. ")
    assert re.match(r"Status: (accepted|proposed|superseded by ADR \d+)\b", lines[2]), lines[2]
    parts = [line for line in lines if line in ("## Context", "## Decision", "## Consequences")]
    assert parts == ["## Context", "## Decision", "## Consequences"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_prose_keeps_to_the_style_guide(document: Path) -> None:
    fenced = False
    faults = []
    for number, line in enumerate(document.read_text().splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            faults += [f"line {number}: {word}" for word in PRIVATE_WORDS.findall(line)]
            if len(line) > COLUMNS and not line.startswith("|"):
                faults.append(f"line {number}: {len(line)} columns")
    assert faults == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_headings_and_rows_of_tables_begin_a_line(document: Path) -> None:
    prose = re.sub(r"^\s*```.*?^\s*```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert WRAPPED_IN.findall(re.sub(r"`[^`\n]*`", "", prose)) == []

"""`python -m infra.prose_lint` checks what people read: docstrings, comments and documents. `make lint` runs it.

It prints one line for each fault, as `file:line: reason`, and exits with status 1 if there is a fault. The rules:
- Words that this project uses in a private sense are avoided everywhere.
- No sentence in code opens with "Of …" or "As …", because its subject then comes late or never.
- Lines of documents fit in 120 columns, except in tables and in code.
- What a document or the code points at exists: links and their anchors, `docs/….md` in code, tests, `make` targets.
- ADRs have a number, a status and three parts.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("backend", "workers", "gpu_workers", "infra", "bench", "tests")
READMES = ("README.md", "terraform/README.md", "backend/tenancy/README.md")
OTHER_SOURCES = ("Makefile", "terraform/**/*.tf", "infra/**/*.y*ml", "infra/images/*")
COLUMNS = 120
PRIVATE_WORDS = re.compile(r"\b(anew|beside|likeness|told|tells?|for want of|cancelled)\b", re.IGNORECASE)
"""Words used in a private sense; the usual words are report, show, again, next to, similarity, canceled."""
NO_SUBJECT = re.compile(r"(?:^|[.:;] )(Of|As) ", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
MAKE = re.compile(r"`(?:[A-Z]+=\S+ )?make ([a-z-]+)")
TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)
DOCUMENT_NAME = re.compile(r"(?<![\w/.])docs/([\w/.-]+\.md)(?:#([\w-]+))?")
HEADING = re.compile(r"#{1,6} (.+)")

Fault = tuple[int, str]
"""The number of a line, and what is wrong with it."""


def faults_of_code(source: str) -> list[Fault]:
    """Return the faults in the docstrings and comments of a Python file."""
    faults = []
    if PRIVATE_WORDS.search(source) or re.search(r"\b(?:Of|As) ", source):
        for line, text in [*_docstrings(source), *_comments(source)]:
            faults += [(line, f'avoid the word "{match[0].lower()}"') for match in PRIVATE_WORDS.finditer(text)]
            faults += [(line, f'a sentence opens with "{match[1]}"') for match in NO_SUBJECT.finditer(text)]
    return sorted(faults + faults_of_pointers(source))


def faults_of_pointers(source: str) -> list[Fault]:
    """Return the documents that a source file names and that do not exist, or have no such heading."""
    faults = []
    for match in DOCUMENT_NAME.finditer(source):
        document = ROOT / "docs" / match[1]
        if not document.exists():
            faults.append((_line_of(source, match), f"{match[0]} does not exist"))
        elif match[2] and match[2] not in anchors(document.read_text()):
            faults.append((_line_of(source, match), f"{match[0]} names no heading"))
    return faults


def faults_of_document(text: str, path: Path) -> list[Fault]:
    """Return the faults of a document in Markdown that is stored at `path`."""
    faults = []
    for number, line in _prose_lines(text):
        faults += [(number, f'avoid the word "{word}"') for word in PRIVATE_WORDS.findall(line)]
        if len(line) > COLUMNS and not line.startswith("|"):
            faults.append((number, f"{len(line)} columns, more than {COLUMNS}"))
        faults += [(number, f"there is no make target {name}") for name in MAKE.findall(line) if name not in _targets()]
        for file, name in NAMED_TEST.findall(line):
            if name not in _functions(file):
                faults.append((number, f"there is no test {file}::{name}"))
        for target, anchor in LINK.findall(line):
            aim = path.parent / target if target else path
            if not aim.exists():
                faults.append((number, f"the link {target} leads nowhere"))
            elif anchor and aim.suffix == ".md" and anchor not in anchors(text if aim == path else aim.read_text()):
                faults.append((number, f"the link {target}#{anchor} names no heading"))
    if path.parent.name == "adr":
        faults += _faults_of_adr(text, path.stem)
    return sorted(faults)


def anchors(text: str) -> set[str]:
    """Return the anchors that GitHub makes out of the headings of a document."""
    found: list[str] = []
    for _, line in _prose_lines(text):
        heading = HEADING.fullmatch(line)
        if heading:
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return set(found)


def faults() -> Iterator[str]:
    """Yield each fault of the repository as `file:line: reason`."""
    for path in sorted([ROOT / "manage.py", *(file for name in PACKAGES for file in (ROOT / name).rglob("*.py"))]):
        yield from _lines(path, faults_of_code(path.read_text()))
    for path in sorted({file for pattern in OTHER_SOURCES for file in ROOT.glob(pattern) if file.is_file()}):
        yield from _lines(path, faults_of_pointers(path.read_text()))
    makefile = ROOT / "Makefile"
    for match in PRIVATE_WORDS.finditer(makefile.read_text()):
        yield from _lines(makefile, [(_line_of(match.string, match), f'avoid the word "{match[0]}"')])
    for path in sorted([*ROOT.glob("docs/**/*.md"), *(ROOT / name for name in READMES)]):
        yield from _lines(path, faults_of_document(path.read_text(), path))


def main() -> int:
    """Print the faults of the repository, and return the status to exit with."""
    found = list(faults())
    for line in found:
        print(line)
    print(f"prose: {len(found)} faults" if found else "prose: no faults")
    return 1 if found else 0


def _lines(path: Path, found: list[Fault]) -> Iterator[str]:
    return (f"{path.relative_to(ROOT)}:{number}: {reason}" for number, reason in found)


def _line_of(source: str, match: re.Match[str]) -> int:
    return source.count("\n", 0, match.start()) + 1


def _docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each docstring, including the strings that stand below a constant or a field."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                value = statement.value if isinstance(statement, ast.Expr) else None
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield statement.lineno, value.value


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each comment, without its marker."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def _prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line of a document that stands outside blocks of code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def _faults_of_adr(text: str, name: str) -> list[Fault]:
    lines = [*text.splitlines(), "", "", ""]
    found = []
    if not lines[0].startswith(f"# {int(name[:4])}. "):
        found.append((1, f"the title of an ADR opens with its number, {int(name[:4])}"))
    if not re.match(r"Status: (accepted|proposed|superseded by ADR \d+)\b", lines[2]):
        found.append((3, "an ADR has a status: accepted, proposed, or superseded by ADR n"))
    parts = ["## Context", "## Decision", "## Consequences"]
    if [line for line in lines if line in parts] != parts:
        found.append((1, "an ADR has three parts: Context, Decision, Consequences"))
    return found


@cache
def _targets() -> set[str]:
    return set(TARGET.findall((ROOT / "Makefile").read_text()))


@cache
def _functions(file: str) -> set[str]:
    path = ROOT / file
    tree = ast.parse(path.read_text()) if path.exists() else ast.Module([], [])
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


if __name__ == "__main__":
    sys.exit(main())

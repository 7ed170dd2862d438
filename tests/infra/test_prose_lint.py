"""The prose lint finds each kind of fault, in code and in documents, and names its line."""

from __future__ import annotations

from pathlib import Path

from infra.prose_lint import ROOT, anchors, faults_of_code, faults_of_document, faults_of_pointers

PAGE = ROOT / "docs" / "api.md"


def test_faults_are_found_in_docstrings_of_all_kinds_and_in_comments() -> None:
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

    assert sorted((line, reason.split('"')[1]) for line, reason in faults_of_code(source)) == [
        (1, "told"), (3, "Of"), (4, "anew"), (8, "As"), (10, "Of"), (10, "cancelled"),
    ]  # fmt: skip


def test_a_source_names_documents_and_headings_that_exist() -> None:
    names = ["docs/api.md", "docs/" + "gone.md", "docs/runbooks/alerts.md#relaydown", "docs/api.md#" + "nothing-here"]

    assert faults_of_pointers("\n".join(names)) == [
        (2, f"{names[1]} does not exist"), (4, f"{names[3]} names no heading"),
    ]  # fmt: skip


def test_a_document_points_at_files_headings_targets_and_tests_that_exist() -> None:
    text = """# One page
[here](#one-page) [there](errors.md) [nowhere](gone.md)
[not here](#two-pages) [not there](errors.md#no-such-heading)
`make lint` and `make tea`
`tests/infra/test_prose_lint.py::test_nothing`
```
[in code](gone.md)
```
"""

    assert faults_of_document(text, PAGE) == [
        (2, "the link gone.md leads nowhere"),
        (3, "the link #two-pages names no heading"),
        (3, "the link errors.md#no-such-heading names no heading"),
        (4, "there is no make target tea"),
        (5, "there is no test tests/infra/test_prose_lint.py::test_nothing"),
    ]


def test_long_lines_are_allowed_in_tables_and_code_only() -> None:
    long = "word " * 25
    text = f"{long}\n| {long}|\n```\n{long}\n```\n"

    assert faults_of_document(text, PAGE) == [(1, "125 columns, more than 120")]


def test_anchors_are_made_as_github_makes_them() -> None:
    text = "# Ask a question (`POST /v1/questions`)\n## [Limits](x.md)\n## Limits\n```\n# no heading\n```\n"

    assert anchors(text) == {"ask-a-question-post-v1questions", "limits", "limits-1"}


def test_an_adr_keeps_its_form() -> None:
    text = "# 8. Words\n\nStatus: wanted\n\n## Context\n## Decision\n"

    assert faults_of_document(text, Path("adr/0007-words.md")) == [
        (1, "an ADR has three parts: Context, Decision, Consequences"),
        (1, "the title of an ADR opens with its number, 7"),
        (3, "an ADR has a status: accepted, proposed, or superseded by ADR n"),
    ]

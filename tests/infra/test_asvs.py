"""The checklist of ASVS names tests that exist, each requirement once, and a reason wherever nothing holds."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "asvs.md"
REQUIREMENTS = {
    "V1": 27, "V2": 11, "V3": 19, "V4": 10, "V5": 9, "V6": 35, "V7": 18, "V8": 7, "V9": 7, "V10": 29, "V11": 14,
    "V12": 9, "V13": 13, "V14": 9, "V15": 13, "V16": 16, "V17": 7,
}  # fmt: skip
"""Number of requirements of level 1 and 2 by chapter, in ASVS 5.0.0."""
ROW = re.compile(r"^\| (\d+\.\d+\.\d+) \| ([12]) \| ([^|]+) \| (yes|no|n/a) \| ([^|]+) \|$", re.MULTILINE)
CHECKS = {"`make lint` (ruff S324)"}
"""Checks that are no tests."""


def rows() -> list[tuple[str, ...]]:
    return ROW.findall(PAGE.read_text())


def test_every_requirement_of_level_two_is_listed_once() -> None:
    names = [name for name, *_ in rows()]
    assert len(names) == len(set(names)) == sum(REQUIREMENTS.values()) == 253
    assert Counter(f"V{name.split('.')[0]}" for name in names) == REQUIREMENTS
    assert PAGE.read_text().count("\n| ") == len(names) + 2 * len(REQUIREMENTS), "every row has the form of a row"


@pytest.mark.parametrize("row", [row for row in rows() if row[3] == "yes"], ids=lambda row: row[0])
def test_what_holds_is_shown_by_tests_that_exist(row: tuple[str, ...]) -> None:
    for shown in row[4].split(", "):
        if shown in CHECKS:
            continue
        path, _, name = shown.strip("`").partition("::")
        assert path.startswith("tests/"), row
        assert (ROOT / path).exists(), row
        assert not name or f"def {name}(" in (ROOT / path).read_text(), row


def test_what_does_not_hold_has_a_reason() -> None:
    for name, _, _, holds, why in rows():
        assert holds == "yes" or ("tests/" not in why and len(why) >= len("no XML")), name


def test_the_page_counts_itself() -> None:
    counted = Counter(row[3] for row in rows())
    said = dict(re.findall(r"^- \*\*(yes|no|n/a)\*\* \((\d+)\)", PAGE.read_text(), re.MULTILINE))
    assert {holds: int(number) for holds, number in said.items()} == counted

"""A machine can read the runner's output, and the runner fails only if a measurement fails."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import answer, billing, cells, gpu, index, jobs, rls
from bench.abusers import ABUSES
from bench.figures import Figure, at_least, at_most, ratio, side_by_side
from gpu_workers.engine.answering.method_settings import METHOD_SETTINGS

ROOT = Path(__file__).parents[2]
FAMILIES = ("answer_p50_s_", "embedded_real_time_")
"""Names of figures with one line for each effort, or for each stage."""


def run(*arguments: str, runner: str = "index") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"bench.{runner}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_a_figure_is_one_line_of_json_and_the_scores_are_those_of_bert_score() -> None:
    done = run("--only", "similarity_scores")
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    figure = json.loads(line)
    assert list(figure) == ["name", "value", "target", "holds", "reference"]
    assert figure["name"] == "similarity_scores"
    assert 0.0 <= figure["value"] <= 1e-4
    assert (figure["target"], figure["holds"]) == ("<= 0.0001", True)
    assert "bert_score" in figure["reference"]


@pytest.mark.parametrize(("runner", "known"), [("index", "decode_sample_hd"), ("answer", "tri_view_vs_numpy")])
def test_a_name_that_no_figure_has_is_an_error_without_lines(runner: str, known: str) -> None:
    done = run("--only", "no such figure", runner=runner)
    assert (done.returncode, done.stdout) == (2, "")
    assert known in done.stderr, "it says which there are"


def test_a_missed_target_is_said_before_the_value_is_rounded() -> None:
    assert at_least("a", 0.89999, 0.9, "x") == Figure("a", 0.9, ">= 0.9", False, "x")
    assert at_most("b", 1.2, 1.2, "x").holds
    assert not at_most("b", 1.20001, 1.2, "x").holds


def test_the_sides_of_a_comparison_take_turns() -> None:
    turns: list[str] = []
    first, second = side_by_side(3, lambda: turns.append("a"), lambda: turns.append("b"))
    assert turns == ["a", "b", "b", "a", "a", "b"]
    assert len(first.seconds) == len(second.seconds) == 3
    assert ratio(first, first) == 1.0


def test_every_figure_of_the_documentation_is_measured() -> None:
    documented = (ROOT / "docs" / "benchmarks.md").read_text()
    # A row of `<method>_calls` stands for the row of each method.
    of_methods = {f"{name}_{kind}": f"<method>_{kind}" for name in METHOD_SETTINGS for kind in answer.METHOD_KINDS}
    names = [of_methods.get(name, name) for name in (*index.FIGURES, *answer.FIGURES)]
    assert [name for name in names if f"`{name}`" not in documented] == []


def test_every_documented_figure_can_be_measured_alone() -> None:
    rows = [line for line in (ROOT / "docs" / "benchmarks.md").read_text().splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`([a-z]\w+)`", row.split("|")[1])}
    known = {name for runner in (answer, billing, cells, gpu, index, jobs, rls) for name in runner.FIGURES}
    begins = {name.split("_")[0] for name in known}
    missing = {name for name in documented - known if name.split("_")[0] in begins and not name.startswith(FAMILIES)}
    assert missing - METHOD_SETTINGS.keys() - {abuse.__name__ for abuse in ABUSES} == set()

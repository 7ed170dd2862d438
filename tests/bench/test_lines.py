"""A machine can read the runner's output, and its exit status says whether every figure holds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType

import pytest

from bench import abuse, answer, billing, gpu, index, jobs, rls
from bench.abusers import ABUSES
from bench.figures import Figure, at_least, at_most, ratio, side_by_side
from bench.runner import print_figures
from gpu_workers.engine.answering.catalogue import METHOD_SETTINGS

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "docs" / "lab" / "benchmarks.md"
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


@pytest.mark.parametrize(
    ("only", "names", "status"), [("", ["a_held", "a_missed", "b_held"], 1), ("held", ["a_held", "b_held"], 0)]
)
def test_the_exit_status_says_whether_the_printed_figures_hold(
    only: str, names: list[str], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted = ModuleType("bench.scripted")
    scripted.first = lambda: iter([at_most("a_held", 1, 2, "x"), at_most("a_missed", 3, 2, "x")])  # type: ignore[attr-defined]
    scripted.second = lambda: iter([at_least("b_held", 1, 1, "x")])  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, scripted.__name__, scripted)
    figures = {"a_held": ("scripted", "first"), "a_missed": ("scripted", "first"), "b_held": ("scripted", "second")}
    assert print_figures(figures, None, ["--only", only]) == status
    assert [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()] == names


@pytest.mark.parametrize(("share", "status"), [(0.5, 0), (1.5, 1)])
def test_the_measurement_of_abuses_reports_a_missed_target(
    share: float, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def scripted_service() -> Iterator[ScriptedService]:
        yield ScriptedService(share * abuse.HEALTHZ_S)

    def calm(_: ScriptedService) -> nullcontext[None]:
        return nullcontext()

    monkeypatch.setattr(abuse, "abused_service", scripted_service)
    monkeypatch.setattr(abuse, "ABUSES", [calm])
    assert abuse.main([]) == status


class ScriptedService:
    """A service under abuse whose customers never wait longer, and whose /healthz takes `healthz_s`."""

    def __init__(self, healthz_s: float) -> None:
        self._healthz_s = healthz_s

    def customers_p95(self) -> dict[str, float]:
        return {"list": 0.01, "search": 0.02, "question": 0.03}

    def healthz_p95(self) -> float:
        return self._healthz_s


def test_the_sides_of_a_comparison_take_turns() -> None:
    turns: list[str] = []
    first, second = side_by_side(3, lambda: turns.append("a"), lambda: turns.append("b"))
    assert turns == ["a", "b", "b", "a", "a", "b"]
    assert len(first.seconds) == len(second.seconds) == 3
    assert ratio(first, first) == 1.0


def test_every_figure_of_the_documentation_is_measured() -> None:
    documented = BENCHMARKS.read_text()
    # A row of `<method>_calls` stands for the row of each method.
    of_methods = {f"{name}_{kind}": f"<method>_{kind}" for name in METHOD_SETTINGS for kind in answer.METHOD_KINDS}
    names = [of_methods.get(name, name) for name in (*index.FIGURES, *answer.FIGURES)]
    assert [name for name in names if f"`{name}`" not in documented] == []


def test_every_documented_figure_can_be_measured_alone() -> None:
    rows = [line for line in BENCHMARKS.read_text().splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`([a-z]\w+)`", row.split("|")[1])}
    known = {name for runner in (answer, billing, gpu, index, jobs, rls) for name in runner.FIGURES}
    begins = {name.split("_")[0] for name in known}
    missing = {name for name in documented - known if name.split("_")[0] in begins and not name.startswith(FAMILIES)}
    assert missing - METHOD_SETTINGS.keys() - {abuse.__name__ for abuse in ABUSES} == set()

"""Fitting confidence to a report's signals."""

from __future__ import annotations

import json
import math
import random
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bench.evaluation.calibrate import crossed, fit, fit_and_report, main
from bench.evaluation.halves import half_of, in_half
from bench.evaluation.report import ItemResult


def drawn(n: int = 2_000) -> list[ItemResult]:
    """Draw items that are right with the probability of a curve of -1 + 3 support; noise has no influence."""
    chance = random.Random(0)
    items = []
    for k in range(n):
        support = chance.random()
        right = chance.random() < 1 / (1 + math.exp(1 - 3 * support))
        signals = {"support": support, "noise": chance.random()}
        items.append(ItemResult(str(k), "", {1: right}, given=0, truth=0 if right else 1, signals=signals))
    return items


def test_the_curve_that_items_were_drawn_from_is_found() -> None:
    found = fit(drawn(), ["support", "noise"])

    assert found["n"] == 2_000
    assert found["bias"] == pytest.approx(-1, abs=0.3)
    assert found["support"] == pytest.approx(3, abs=0.4)
    assert abs(found["noise"]) < 0.4
    assert found["auroc"] > 0.65
    assert found["calibration_error"] < 0.05
    assert fit(drawn(), ["noise"])["auroc"] < 0.55


def test_who_abstained_or_lacks_a_signal_is_left_out() -> None:
    items = drawn(100)
    silent = ItemResult("x", "", {1: False}, given=None, signals={"support": 0.5})
    other = ItemResult("y", "", {1: False}, given=0, signals={"score": 0.5})

    assert fit([*items, silent, other], ["support"])["n"] == 100
    with pytest.raises(ValueError, match="10 right and 10 wrong"):
        fit(items[:5], ["support"])


def test_each_signal_alone_and_all_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"items": [asdict(item) for item in drawn(200)]}))

    assert main([str(path)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [{"noise", "support"} & set(row) for row in rows] == [{"noise"}, {"support"}, {"noise", "support"}]
    path.write_text("{}")
    with pytest.raises(SystemExit):
        main([str(path)])
    assert "items" in capsys.readouterr().err


def test_a_curve_is_tried_on_the_half_that_it_was_not_fitted_on() -> None:
    items = drawn()
    first, second = (in_half(items, half, lambda item: item.id) for half in ("first", "second"))

    found = fit_and_report(first, second, ["support"])

    assert {item.id for item in first}.isdisjoint(item.id for item in second)
    assert (found["n"], found["reported"]) == (len(first), len(second))
    assert found["n"] + found["reported"] == 2_000
    assert found["support"] == fit(first, ["support"])["support"], "the other half has no influence"
    assert found["calibration_error"] < 0.06
    # A reported half whose answers are all turned round is badly calibrated: the figures are of that half.
    turned = [replace(item, right={1: not item.right[1]}) for item in second]
    assert fit_and_report(first, turned, ["support"])["calibration_error"] > 0.15


def test_an_item_keeps_its_half_whatever_else_is_in_the_set() -> None:
    halves = {item.id: half_of(item.id) for item in drawn(400)}

    assert {half_of("00b9a0de-c59e-49cb-a127-6081e2fb8c8e"), *halves.values()} == {"first", "second"}
    assert halves == {item.id: half_of(item.id) for item in reversed(drawn(400))}
    assert 160 < sum(half == "first" for half in halves.values()) < 240


@pytest.mark.parametrize(
    "halves", [["--fit", "first"], ["--report", "second"], ["--fit", "first", "--report", "first"]]
)
def test_the_two_halves_are_named_together(tmp_path: Path, halves: list[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path / "report.json"), *halves])


def test_both_halves_together_are_each_tried_with_the_curve_of_the_other() -> None:
    items = drawn(600)
    # With every answer of the first half turned round, either half's curve is wrong for the other.
    turned = [replace(item, right={1: not item.right[1]}) if half_of(item.id) == "first" else item for item in items]

    found, wrong = crossed(items, ["support"]), crossed(turned, ["support"])

    assert found["reported"] == 600
    assert found["auroc_ci95"][0] < found["auroc"] < found["auroc_ci95"][1]
    assert found["auroc"] > 0.65
    assert found["calibration_error"] < found["error_of_a_perfect_curve"][2] + 0.05
    assert wrong["auroc"] < 0.5
    assert wrong["calibration_error"] > 0.15

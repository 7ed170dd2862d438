"""Fitting confidence to a report's signals."""

from __future__ import annotations

import json
import math
import random
from dataclasses import asdict
from pathlib import Path

import pytest

from bench.evaluation.calibrate import fit, main
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

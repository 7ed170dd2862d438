"""The figures of `make compare` equal those of a comparison of the API over the same items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from backend.api.public_ids import encode
from backend.questions.bodies.comparison_figures import ComparisonReportSerializer
from backend.questions.figures.report import Report
from backend.questions.models import Question
from bench.evaluation import compare
from bench.evaluation.compare import compare_reports
from bench.evaluation.datasets import read_choices
from bench.evaluation.report import ItemResult
from tests.bench.test_evaluation_runs import cache, ego, reasoner
from tests.conftest import Cast
from tests.questions.graded import answer, make, settle

# The text models are loaded.
pytestmark = pytest.mark.slow

__all__ = ["cache", "ego", "reasoner"]
ARMS = ("question_only", "tfidf")
ALIKE = ("items", "counted", "left_out", "open", "labeled", "ungraded", "pairs", "best", "frontier", "oracle", "rule")
ARM_ALIKE = (
    "label", "n", "answered", "abstained", "refused", "failed", "labeled", "right", "accuracy", "accuracy_of_answered",
    "by_kind", "charge", "confidence", "heads", "graded_by",
)  # fmt: skip


def test_the_same_items_have_the_same_figures(
    acme: Cast, reasoner: Any, ego: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: dict[str, Sequence[ItemResult]] = {}

    def spied(reports: Mapping[str, Sequence[ItemResult]]) -> Report:
        results.update(reports)
        return compare_reports(reports)

    monkeypatch.setattr(compare, "compare_reports", spied)
    out = tmp_path / "compared.json"
    assert compare.main(["--set=egoschema", f"--data={ego}", f"--arms={','.join(ARMS)}", f"--out={out}"]) == 0
    written = json.loads(out.read_text())
    # Nothing is calibrated for a single sample of this model.
    assert {item.confidence for item in results[ARMS[0]]} == {None}
    results[ARMS[0]] = [replace(item, confidence=0.5 + n / 10) for n, item in enumerate(results[ARMS[0]])]
    offline = json.loads(json.dumps(ComparisonReportSerializer(compare_reports(results)).data))

    questions = {question.id: question for question in read_choices("egoschema", ego).questions}
    asked = [questions[item.id] for item in results[ARMS[0]]]
    comparison, _ = make(
        acme,
        [
            {"text": question.text, "choices": list(question.choices), "correct_choice": question.truth,
             "kind": question.kind, "external_id": question.id}
            for question in asked
        ],
        arms=[{"method": "caption_rag", "effort": effort, "check": "auto", "label": label}
              for effort, label in zip(("low", "medium"), ARMS, strict=True)],
    )  # fmt: skip
    for arm, label in enumerate(ARMS):
        for position, item in enumerate(results[label]):
            words = "" if item.given is None else asked[position].choices[item.given]
            stored = settle(
                acme, comparison, position, arm,
                answer(item.given, words, confidence=item.confidence, signals={**item.signals, "head": item.head},
                       finish_reason=item.finish_reason),
            )  # fmt: skip
            with acme.scope():
                # Offline, money is the seconds of the models.
                Question.objects.filter(id=stored.id).update(charge_amount=Decimal(str(round(item.seconds, 6))))
    online = acme.client.get(f"/v1/comparisons/{encode('cmp', comparison.id)}").json()["report"]

    assert offline["labeled"] == len(asked) == 3
    assert [arm["heads"] for arm in offline["arms"]] == [["sample"], []]
    assert [arm["confidence"] is None for arm in offline["arms"]] == [False, True]
    assert (offline["pairs"][0]["gained"], offline["pairs"][0]["lost"]) != (0, 0)
    assert {name: offline[name] for name in ALIKE} == {name: online[name] for name in ALIKE}
    for one, other in zip(offline["arms"], online["arms"], strict=True):
        assert {name: one[name] for name in ARM_ALIKE} == {name: other[name] for name in ARM_ALIKE}
    assert written["amounts"] == "seconds of models"
    assert [arm["right"] for arm in written["arms"]] == [arm["right"] for arm in online["arms"]]
    assert written["pairs"][0]["p_value"] == online["pairs"][0]["p_value"]

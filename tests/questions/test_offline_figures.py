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
from bench.evaluation import __main__ as evaluation
from bench.evaluation import arms, compare
from bench.evaluation.compare import compare_reports
from bench.evaluation.datasets import read_choices
from bench.evaluation.report import ItemResult
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.ekg import Span
from tests.bench.test_evaluation_runs import cache, ego, reasoner
from tests.conftest import Cast
from tests.questions.graded import make, settle

# The text models are loaded.
pytestmark = pytest.mark.slow

__all__ = ["cache", "ego", "reasoner"]
METHODS = ("question_only", "caption_rag")


def test_the_same_answers_have_every_figure_alike(
    acme: Cast, reasoner: Any, ego: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers of the engine that `make compare` counts are stored by the service, with citations where a person
    marked spans."""
    given: list[Answer] = []
    results: dict[str, Sequence[ItemResult]] = {}
    marked = Span(0, 60_000)

    def answered(*arguments: Any, **more: Any) -> Answer:
        given.append(answer_question(*arguments, **more))
        return given[-1]

    def spied(reports: Mapping[str, Sequence[ItemResult]]) -> Report:
        results.update(reports)
        return compare_reports(reports)

    def read(*arguments: Any) -> Any:
        questions = read_choices(*arguments)
        return replace(questions, questions=tuple(replace(one, spans=(marked,)) for one in questions.questions))

    monkeypatch.setattr(arms, "answer_question", answered)
    monkeypatch.setattr(evaluation, "read_choices", read)
    monkeypatch.setattr(compare, "compare_reports", spied)
    out = tmp_path / "compared.json"
    assert compare.main(["--set=egoschema", f"--data={ego}", f"--arms={','.join(METHODS)}", f"--out={out}"]) == 0
    written = json.loads(out.read_text())
    seen = {label: [given.pop(0) for _ in results[label]] for label in METHODS}
    # Nothing is calibrated for a single sample of this model.
    assert {item.confidence for item in results[METHODS[0]]} == {None}
    sure = [0.5 + n / 10 for n in range(3)]
    results[METHODS[0]] = [replace(item, confidence=one) for item, one in zip(results[METHODS[0]], sure, strict=True)]
    seen[METHODS[0]] = [replace(made, confidence=one) for made, one in zip(seen[METHODS[0]], sure, strict=True)]
    offline = json.loads(json.dumps(ComparisonReportSerializer(compare_reports(results)).data))

    questions = {question.id: question for question in read_choices("egoschema", ego).questions}
    asked = [questions[item.id] for item in results[METHODS[0]]]
    comparison, video_id = make(
        acme,
        [
            {"text": question.text, "choices": list(question.choices), "correct_choice": question.truth,
             "kind": question.kind, "external_id": question.id,
             "evidence": [{"start_ms": marked.start_ms, "end_ms": marked.end_ms}]}
            for question in asked
        ],
        arms=[{"method": "caption_rag", "effort": effort, "check": "auto", "label": label}
              for effort, label in zip(("low", "medium"), METHODS, strict=True)],
    )  # fmt: skip
    for arm, label in enumerate(METHODS):
        for position, (item, made) in enumerate(zip(results[label], seen[label], strict=True)):
            here = tuple(replace(citation, video_id=video_id) for citation in made.citations)
            stored = settle(acme, comparison, position, arm, replace(made, citations=here))
            with acme.scope():
                # Offline, money is the seconds of the models.
                Question.objects.filter(id=stored.id).update(charge_amount=Decimal(str(round(item.seconds, 6))))
    online = acme.client.get(f"/v1/comparisons/{encode('cmp', comparison.id)}").json()["report"]

    by_words, by_events = offline["arms"]
    assert by_words["confidence"] is not None
    assert by_events["citations"] > 0
    assert by_events["evidence_hit"]["n"] == 3
    assert by_events["engine_ms"]["p50"] is not None
    assert offline == online
    assert written["amounts"] == "seconds of models"
    assert [arm["right"] for arm in written["arms"]] == [arm["right"] for arm in online["arms"]]
    assert written["pairs"][0]["p_value"] == online["pairs"][0]["p_value"]

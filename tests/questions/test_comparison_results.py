"""Grades and figures of a comparison from its rows: what each answer counts as, and what the report and lines say."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from backend.api.public_ids import encode
from backend.questions.bodies.comparison_figures import ComparisonReportSerializer, ComparisonResultSerializer
from backend.questions.figures.report import GROUPS
from backend.questions.models import Comparison, ComparisonItem, Question
from backend.questions.queries.comparison_results import compare_results, cost_of, report_of, results_of
from backend.questions.services import feedback
from backend.questions.services import questions as services
from tests.conftest import Cast
from tests.questions.graded import CHOICES, answer, call, cites, make, question_at, settle

CHOICE = {"choices": CHOICES, "correct_choice": 1}


def outcomes(cast: Cast, comparison: Comparison) -> list[tuple[str, ...]]:
    with cast.scope():
        items = list(ComparisonItem.objects.filter(comparison_id=comparison.id).order_by("position"))
        return [results.outcomes for results in results_of(comparison, items)]


def grade(cast: Cast, comparison: Comparison, item: int, arm: int) -> tuple[str, str]:
    with cast.scope():
        question = question_at(comparison, item, arm)
        return question.grade, question.graded_by


def test_a_choice_is_graded_by_its_index_whatever_the_words(acme: Cast) -> None:
    comparison, _ = make(acme, [CHOICE, CHOICE], grading="exact")
    settle(acme, comparison, 0, 0, answer(1))
    settle(acme, comparison, 0, 1, answer(0, "red car"))
    settle(acme, comparison, 1, 0, answer())
    settle(acme, comparison, 1, 1, "model_unavailable")

    assert [grade(acme, comparison, *at) for at in ((0, 0), (0, 1), (1, 0), (1, 1))] == [
        ("right", "choice"), ("wrong", "choice"), ("abstained", "choice"), ("", ""),
    ]  # fmt: skip
    assert outcomes(acme, comparison) == [("right", "wrong"), ("abstained", "failed")]


@pytest.mark.parametrize(
    ("grading", "graded"),
    [
        ("exact", [("right", "exact"), ("wrong", "exact")]),
        # The judge reads what is not the same in words; it has not run here.
        ("judge", [("right", "exact"), ("", "")]),
        ("choice", [("", ""), ("", "")]),
    ],
)
def test_an_open_answer_is_graded_by_its_folded_words(acme: Cast, grading: str, graded: list[Any]) -> None:
    comparison, _ = make(acme, [{"correct_answer": "The red car."}], grading=grading)
    settle(acme, comparison, 0, 0, answer(text="“A red car”"))
    settle(acme, comparison, 0, 1, answer(text="A car that is red"))

    assert [grade(acme, comparison, 0, arm) for arm in (0, 1)] == graded


def test_a_question_without_a_label_has_no_grade(acme: Cast) -> None:
    comparison, _ = make(acme, [{}])
    settle(acme, comparison, 0, 0, answer(text="A red car."))
    settle(acme, comparison, 0, 1, answer())

    assert [grade(acme, comparison, 0, arm) for arm in (0, 1)] == [("", ""), ("", "")]
    assert outcomes(acme, comparison) == [("ungraded", "abstained")]
    with acme.scope():
        assert (report_of(comparison).labeled, report_of(comparison).ungraded) == (0, 1)


def test_feedback_overrides_a_grade_until_it_is_withdrawn(acme: Cast) -> None:
    comparison, _ = make(acme, [CHOICE, {}])
    wrong = settle(acme, comparison, 0, 0, answer(0))
    abstained = settle(acme, comparison, 0, 1, answer())
    unlabeled = settle(acme, comparison, 1, 0, answer(text="A car."))
    settle(acme, comparison, 1, 1, answer(text="A dog."))
    with acme.scope():
        for question, verdict in ((wrong, "right"), (abstained, "right"), (unlabeled, "wrong")):
            feedback.give_feedback(question=question, verdict=verdict)

    # There is no answer to override where the method abstained.
    assert outcomes(acme, comparison) == [("right", "abstained"), ("wrong", "ungraded")]
    assert grade(acme, comparison, 0, 0) == ("wrong", "choice")
    with acme.scope():
        arm = report_of(comparison).arms[0]
        assert (arm.right, arm.labeled, arm.graded_by) == (1, 1, {"feedback": 2})
        feedback.withdraw_feedback(question_id=wrong.id)
    assert outcomes(acme, comparison)[0] == ("wrong", "abstained")


def test_an_open_and_a_canceled_question_leave_their_item_out(acme: Cast) -> None:
    comparison, _ = make(acme, [CHOICE] * 3)
    for item in range(3):
        settle(acme, comparison, item, 0, answer(1))
    settle(acme, comparison, 0, 1, answer(1))
    with acme.scope():
        services.cancel_question(question_id=question_at(comparison, 1, 1).id)

    assert outcomes(acme, comparison) == [("right", "right"), ("right", "not_asked"), ("right", "open")]
    with acme.scope():
        report = report_of(comparison)
    assert (report.items, report.counted, report.left_out, report.open) == (3, 1, 1, 1)
    assert [arm.n for arm in report.arms] == [1, 1]


def test_refused_is_distinguished_from_abstained(acme: Cast) -> None:
    comparison, _ = make(acme, [CHOICE])
    settle(acme, comparison, 0, 0, answer(finish_reason="refused"))
    settle(acme, comparison, 0, 1, answer(finish_reason="budget", detail="max_calls"))

    assert outcomes(acme, comparison) == [("refused", "abstained")]


def test_the_report_adds_up_rows_of_both_arms(acme: Cast) -> None:
    span = {"start_ms": 6_000, "end_ms": 9_000}
    comparison, video_id = make(acme, [{**CHOICE, "evidence": [span], "kind": "colour"}, CHOICE])
    settle(acme, comparison, 0, 0, answer(0, citations=(cites(video_id, 9_000, 12_000), cites(video_id, 0, 6_000))))
    settle(
        acme, comparison, 0, 1,
        answer(1, calls=(call(2_000, 1_800, 1_700), call(1_000, 900, 850)),
               citations=(cites(video_id, 8_999, 12_000, "unverified"),),
               degraded=("no_speech",), method_version="4", prompts="0123456789abcdef",
               # One of the stages, and not the longest part.
               timings={"search": 40, "support": 2_000, "total": 2_500}),
    )  # fmt: skip
    settle(acme, comparison, 1, 0, answer(1))
    settle(acme, comparison, 1, 1, answer(1, timings={"search": 40, "total": 2_500}))
    with acme.scope():
        report = report_of(comparison)
        charges = [question_at(comparison, 0, arm).charge_amount for arm in (0, 1)]

    first, second = report.arms
    assert (first.accuracy.value, second.accuracy.value) == (0.5, 1.0)
    # Half-open spans: a citation that begins where the label ends does not hit.
    assert (first.evidence_hit.successes, second.evidence_hit.successes, second.evidence_hit.n) == (0, 1, 1)
    assert [(arm.citations, arm.citations_supported) for arm in report.arms] == [(2, 2), (1, 0)]
    assert [arm.calls for arm in report.arms] == [2, 3]
    assert (second.prompt_tokens, second.cached_tokens, second.completion_tokens) == (2_800, 2_000, 30)
    assert (second.cached_share, second.frames) == (2_000 / 2_800, 6)
    assert (second.degraded, second.versions, second.prompts) == (
        {"no_speech": 1}, ("4",), ("0123456789abcdef",),
    )  # fmt: skip
    assert charges == [Decimal("0.02"), Decimal("0.02")]
    assert [arm.amounts.total for arm in report.arms] == [charges[0] * 2, charges[1] * 2]
    assert {kind: share.value for kind, share in second.by_kind.items()} == {"colour": 1.0}
    (pair,) = report.pairs
    assert (pair.gained, pair.lost, pair.both) == (1, 0, 1)
    assert pair.groups == {**dict.fromkeys(GROUPS, 0), "both_cheaper": 1, "gained_cheaper": 1}
    assert (first.engine_ms, second.engine_ms) == ((None, None), (2_500, 2_500))


def test_a_repeated_item_counts_once(acme: Cast) -> None:
    comparison, _ = make(acme, [CHOICE], repeats=3)
    for repeat, (one, other) in enumerate([(1, 0), (1, 1), (0, 0)]):
        settle(acme, comparison, 0, 0, answer(one), repeat)
        settle(acme, comparison, 0, 1, answer(other), repeat)

    assert outcomes(acme, comparison) == [("right", "wrong")]
    with acme.scope():
        report = report_of(comparison)
    assert [(arm.n, arm.right, arm.calls) for arm in report.arms] == [(1, 1, 3), (1, 0, 3)]
    assert report.arms[0].amounts.mean == report.arms[0].amounts.total / 3


def test_two_arms_of_equal_answers_differ_in_nothing_but_cost_for_staff(acme: Cast) -> None:
    comparison, _ = make(acme, [CHOICE, CHOICE])
    for item in (0, 1):
        settle(acme, comparison, item, 0, answer(item, calls=(call(2_000),)))
        settle(acme, comparison, item, 1, answer(item, calls=(call(1_000),)))
    with acme.scope():
        (charged,) = report_of(comparison).pairs
        items = list(ComparisonItem.objects.order_by("position"))
        (pair,) = compare_results(comparison, results_of(comparison, items, amount_of=cost_of)).pairs

    assert (pair.difference, pair.p_value) == (0.0, 1.0)
    assert pair.groups == {**dict.fromkeys(GROUPS, 0), "both_cheaper": 1}
    assert charged.amount_ratio == 1
    assert pair.amount_ratio is not None
    assert pair.amount_ratio < 1


def test_the_bodies_say_what_the_report_says(acme: Cast) -> None:
    span = {"start_ms": 0, "end_ms": 3_000}
    comparison, video_id = make(acme, [{**CHOICE, "evidence": [span]}, {"correct_answer": "red"}])
    settle(acme, comparison, 0, 0, answer(1, citations=(cites(video_id, 0, 3_000),)))
    settle(acme, comparison, 0, 1, answer())
    with acme.scope():
        report = report_of(comparison)
        body = ComparisonReportSerializer(report).data
        items = list(ComparisonItem.objects.order_by("position"))
        lines = [ComparisonResultSerializer(one).data for one in results_of(comparison, items)]
        first = question_at(comparison, 0, 0)

    # An arm that abstains is charged nothing, so that nothing dearer is better in both.
    assert (body["items"], body["counted"], body["open"], body["best"], body["frontier"]) == (2, 1, 1, 0, [0, 1])
    assert body["arms"][0]["accuracy"] == pytest.approx(
        {"successes": 1, "n": 1, "value": 1.0, "low": 0.2065, "high": 1.0}, abs=1e-4
    )
    assert body["arms"][0]["charge"]["mean"] == str(first.charge_amount.normalize())
    assert set(body["arms"][0]["engine_ms"]) == {"p50", "p95"}
    assert body["pairs"][0]["groups"]["lost_cheaper"] + body["pairs"][0]["groups"]["lost_dearer"] == 1
    assert body["pairs"][0]["can_show"] == "1 question can show a difference of 100.0 points or more."
    line = lines[0]
    assert (line["position"], line["correct_choice"], line["outcomes"]) == (0, 1, ["right", "abstained"])
    assert line["labeled_evidence"] == [{"video_id": encode("vid", video_id), **span}]
    answers = line["answers"]
    assert [(one["arm"], one["repeat"], one["outcome"], one["choice"]) for one in answers] == [
        (0, 0, "right", 1), (1, 0, "abstained", None),
    ]  # fmt: skip
    assert answers[0]["question_id"] == encode("qst", first.id)
    assert answers[0]["evidence"] == [
        {"video_id": encode("vid", video_id), "start_ms": 0, "end_ms": 3_000, "status": "supported"}
    ]
    assert (answers[0]["evidence_hit"], answers[1]["evidence_hit"]) == (True, False)
    assert Decimal(answers[0]["charge"]) == first.charge_amount
    assert lines[1]["outcomes"] == ["open", "open"]


def test_another_tenant_reads_nothing_of_a_comparison(acme: Cast, globex: Cast) -> None:
    comparison, _ = make(acme, [CHOICE])
    settle(acme, comparison, 0, 0, answer(1))
    with globex.scope():
        report = report_of(comparison)

    assert (report.items, report.arms[0].n, report.arms[0].calls) == (0, 0, 0)


def test_the_report_reads_a_fixed_number_of_statements(acme: Cast) -> None:
    counts = []
    for n in (1, 4):
        comparison, video_id = make(acme, [CHOICE] * n)
        for item in range(n):
            for arm in (0, 1):
                settle(acme, comparison, item, arm, answer(1, citations=(cites(video_id, 0, 3_000),)))
        with acme.scope(), CaptureQueriesContext(connection) as captured:
            report_of(comparison)
        counts.append(len(captured))

    assert counts == [5, 5]
    assert Question.unscoped.using("console").filter(comparison__isnull=False).count() == 10

"""What came of questions about video files: grades, verdicts, figures and the table."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any

import pytest

from bench.evaluation.deciding import JUDGED_SUPPORT, NOTHING, SINGLE_CALL, SUPPORT_AND_VOTES, TREE_VOTE, VOTE, named
from bench.evaluation.report import Run
from bench.evaluation.statistics import macro_f1
from bench.evaluation.videos.manifest import VideoQuestion
from bench.evaluation.videos.results import (
    CitedSpan,
    VideoAnswer,
    VideoResult,
    again,
    arm_report,
    graded,
    table,
    unjudged,
)
from bench.evaluation.videos.verdicts import plain, supports, verdict
from gpu_workers.engine.ekg import Span

JUDGED = {
    "answers": {"intel_car": {"Is anybody walking?": {"nobody walks": "right", "a man walks": "wrong"}}},
    "citations": {"intel_car": {"Is anybody walking?": {"nobody walks": {"0-4.5": True, "6-9": False}}}},
}
OPEN = VideoQuestion("car-1", "intel_car", "Is anybody walking?", kind="first")
CHOICE = VideoQuestion(
    "car-2", "intel_car", "Which colour?", ("red", "blue"), 0, "colour", (Span(1_000, 5_000), Span(9_000, 10_000))
)
RED = VideoAnswer(
    "red", 0, "answered", TREE_VOTE, calls=3, prompt_tokens=900, completion_tokens=100, cost=Decimal("0.25"),
    latency_ms=2_000, citations=(CitedSpan(0.0, 4.5, "supported"), CitedSpan(6.0, 9.0, "unverified")),
)  # fmt: skip
ABSTAINED = VideoAnswer("", None, "insufficient_evidence", NOTHING, latency_ms=1_000)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (replace(RED, text="Nobody  walks.", choice=None), "right"),
        (replace(RED, text="A man walks", choice=None), "wrong"),
        (replace(RED, text="A dog walks", choice=None), "unjudged"),
        (replace(RED, text="Nobody walks.", choice=None, finish_reason="budget"), "right"),
        (ABSTAINED, "abstained"),
        (replace(ABSTAINED, finish_reason="error"), "failed"),
    ],
)
def test_an_open_answer_is_what_was_said_of_its_words(answer: VideoAnswer, expected: str) -> None:
    assert graded(OPEN, answer, JUDGED).grade == expected


@pytest.mark.parametrize(
    ("answer", "expected"), [(RED, "right"), (replace(RED, choice=1, text="blue"), "wrong"), (ABSTAINED, "abstained")]
)
def test_a_choice_is_right_by_its_index(answer: VideoAnswer, expected: str) -> None:
    row = graded(CHOICE, answer, {})

    assert (row.grade, row.item.right) == (expected, {1: expected == "right"})


def test_known_words_decide_an_open_answer() -> None:
    question = replace(OPEN, truth="Two cars")

    assert graded(question, replace(RED, text="two cars.", choice=None), {}).grade == "right"
    assert graded(question, replace(RED, text="a pair of cars", choice=None), {}).grade == "unjudged"


def test_another_question_of_the_same_answer_is_not_judged() -> None:
    assert verdict("intel_car", "Does the camera move?", "Nobody walks", JUDGED) == "unjudged"


@pytest.mark.parametrize(
    ("answer", "span", "expected"),
    [
        ("Nobody walks.", "0-4.5", True),
        ("nobody walks", "6-9", False),
        ("Nobody walks.", "9-12", None),
        ("-", "6-9", None),
    ],
)
def test_a_citation_is_judged_with_its_answer(answer: str, span: str, expected: bool | None) -> None:
    assert supports("intel_car", "Is anybody walking?", answer, span, JUDGED) is expected


def test_verdicts_are_kept_by_plain_answers() -> None:
    assert plain("  Nobody\n walks. ") == "nobody walks"


def test_citations_are_compared_with_marked_spans() -> None:
    row = graded(CHOICE, RED, {})
    assert row.item.measured is not None
    assert (row.item.measured.hit, row.item.measured.citations, row.item.measured.supported) == (True, 2, 1)
    assert row.located == pytest.approx(3.5 / 5), "0 to 4.5 s of 1 to 5 s"

    assert graded(CHOICE, ABSTAINED, {}).located == 0.0
    assert graded(replace(CHOICE, spans=()), RED, {}).located is None


def test_a_row_is_read_as_it_was_written() -> None:
    row = graded(CHOICE, RED, {})

    assert VideoResult.read(json.loads(json.dumps(asdict(row)))) == row


def test_a_verdict_that_was_given_later_counts() -> None:
    row = graded(OPEN, replace(RED, text="Nobody walks", choice=None), {})

    (now,) = again([row], JUDGED)

    assert (row.grade, now.grade, now.item.right) == ("unjudged", "right", {1: True})
    assert again([now], {}) == [now]


def rows(*answers: VideoAnswer) -> list[VideoResult]:
    return [
        graded(replace(CHOICE, id=f"q{n}", truth=n % 2, kind="odd" if n % 2 else "even"), answer, {})
        for n, answer in enumerate(answers)
    ]


def report_of(label: str, found: list[VideoResult]) -> dict[str, Any]:
    return arm_report(Run("own", label, 0, None, "", "", "accuracy"), found, {})


def test_a_report_has_every_figure_and_names_what_decided() -> None:
    slow = replace(RED, latency_ms=10_000, decided=SINGLE_CALL, cost=Decimal("0.5"))

    body = report_of("ava", rows(RED, RED, slow, ABSTAINED))

    assert (body["n"], body["accuracy"]) == (4, 0.5)
    assert body["macro_f1"] == pytest.approx(0.4), "0.8 of the first choice, and the second is never given"
    assert body["decided"] == {TREE_VOTE: 2, SINGLE_CALL: 1, NOTHING: 1}
    assert body["grades"] == {"right": 2, "wrong": 1, "abstained": 1, "failed": 0, "unjudged": 0}
    assert {kind: group["accuracy"] for kind, group in body["by_type"].items()} == {"even": 1.0, "odd": 0.0}
    assert body["citations"] == {"n": 6, "supported": 3, "share": 0.5}
    assert (body["span_hits"]["hits"], body["span_hits"]["n"]) == (3, 4)
    assert body["first_citation_iou_0.3"]["hits"] == 3
    assert body["cost"] == {"total": "1.00", "mean": "0.3333333333333333333333333333"}
    assert body["latency_s"] == {"p50": 2.0, "p95": pytest.approx(8.8)}


def test_an_unjudged_answer_counts_in_no_accuracy() -> None:
    known = graded(OPEN, replace(RED, text="Nobody walks", choice=None, cost=None), JUDGED)
    unknown = graded(replace(OPEN, id="car-9"), replace(RED, text="A dog walks", choice=None, cost=None), JUDGED)

    body = report_of("ava", [known, unknown])

    assert (body["n"], body["asked"], body["accuracy"], body["cost"]) == (1, 2, 1.0, None)
    assert unjudged([known, unknown], JUDGED) == {
        "answers": {"intel_car": {"Is anybody walking?": {"a dog walks": ""}}},
        "citations": {"intel_car": {"Is anybody walking?": {"a dog walks": {"0-4.5": None}}}},
    }


def test_the_table_has_a_line_per_arm_and_compares_with_the_first() -> None:
    worse = rows(RED, ABSTAINED, ABSTAINED, ABSTAINED)

    lines = table({"ava medium": report_of("ava", rows(RED, RED, RED, RED)), "uniform": report_of("u", worse)})

    head, ava, even, odd, other, *_, compared = lines.splitlines()
    assert head.split()[:2] == ["arm", "n"]
    assert head.endswith("decided by")
    assert ava.startswith("ava medium")
    assert ava.endswith("tree vote 4")
    assert " 50.0% (15.0% to 85.0%)" in ava
    assert (even.split()[:3], odd.split()[:3]) == (["even", "2", "100.0%"], ["odd", "2", "0.0%"])
    assert other.endswith("nothing 3, tree vote 1")
    assert compared.startswith("uniform against ava medium: -25.0%")
    assert compared.endswith("gained 0, lost 1, McNemar p 1.0000")


def test_an_arm_without_a_graded_answer_has_no_accuracy() -> None:
    body = report_of("ava", [graded(OPEN, replace(RED, text="A dog walks", choice=None), {})])

    assert table({"ava": body}).splitlines()[1].split()[1:4] == ["0", "-", "-"]


@pytest.mark.parametrize(
    ("head", "drawn", "skipped", "expected"),
    [
        ("support", [0], True, JUDGED_SUPPORT),
        ("support", [1], True, JUDGED_SUPPORT),
        ("support", [3, 3], False, SUPPORT_AND_VOTES),
        ("support", [0], False, JUDGED_SUPPORT),
        ("votes", [8, 8, 8], False, TREE_VOTE),
        ("votes", [0, 4], False, VOTE),
        ("votes", [1], False, SINGLE_CALL),
        ("sample", [1], False, SINGLE_CALL),
        ("objects", [], False, "objects"),
        ("", [], False, NOTHING),
    ],
)
def test_a_row_names_what_decided(head: str, drawn: list[int], skipped: bool, expected: str) -> None:
    assert named(head, drawn, search_skipped=skipped) == expected


def test_a_method_that_prefers_a_position_has_less_than_its_accuracy() -> None:
    assert macro_f1([0, 1, 2], [0, 1, 2]) == 1.0
    assert macro_f1([0, 0, 0, 0], [0, 0, 0, 1]) == pytest.approx(3 / 7)
    assert macro_f1([0, None], [0, 1]) == 0.5
    assert macro_f1([], []) == 0.0

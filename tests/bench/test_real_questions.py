"""What became of an answer about a real recording, by the verdicts that were given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.evaluation.real_questions import QUESTIONS, plain, read_verdicts, verdict
from bench.evaluation.real_videos import table

JUDGED = {"intel_car": {"Is anybody walking?": {"nobody walks": "right", "a man walks": "wrong"}}}


@pytest.mark.parametrize(
    ("answer", "finish", "expected"),
    [
        ("Nobody  walks.", "answered", "right"),
        ("A man walks", "answered", "wrong"),
        ("A dog walks", "answered", "unjudged"),
        ("", "insufficient_evidence", "abstained"),
        ("", "error", "failed"),
        ("Nobody walks.", "budget", "right"),
    ],
)
def test_an_answer_is_what_was_said_of_its_words(answer: str, finish: str, expected: str) -> None:
    assert verdict("intel_car", "Is anybody walking?", answer, finish, JUDGED) == expected


def test_another_question_of_the_same_answer_is_not_judged() -> None:
    assert verdict("intel_car", "Does the camera move?", "Nobody walks", "answered", JUDGED) == "unjudged"


def test_the_verdicts_are_about_the_thirty_questions() -> None:
    assert sum(len(texts) for _, texts in QUESTIONS.values()) == 30
    for video, questions in read_verdicts().items():
        assert isinstance(questions, dict)
        assert set(questions) <= set(QUESTIONS[video][1])
        for answers in questions.values():
            assert all(answer == plain(answer) for answer in answers)
            assert set(answers.values()) <= {"right", "wrong"}


def test_a_table_counts_each_method_and_lists_what_nobody_judged(tmp_path: Path) -> None:
    row = {"video": "intel_car", "question": "Is anybody walking?", "calls": 2, "tokens": 100, "seconds": 1.5}
    rows = [
        {**row, "answer": "", "finish_reason": "insufficient_evidence"},
        {**row, "answer": "Nobody knows.", "finish_reason": "answered"},
    ]
    (tmp_path / "ava.json").write_text(json.dumps(rows))

    lines = table(tmp_path, ["ava"]).splitlines()

    assert lines[0].split() == [
        "method", "right", "wrong", "abstained", "failed", "unjudged", "calls", "tokens", "seconds",
    ]  # fmt: skip
    assert lines[1].split() == ["ava", "0", "0", "1", "0", "1", "2.0", "100", "1.5"]
    assert json.loads((tmp_path / "unjudged.json").read_text()) == {
        "intel_car": {"Is anybody walking?": {"nobody knows": ""}}
    }

"""What became of an answer about a real recording, by the verdicts that were given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.evaluation.real_questions import PROFILES, QUESTIONS, plain, read_verdicts, supports, verdict
from bench.evaluation.real_videos import table

JUDGED = {
    "answers": {"intel_car": {"Is anybody walking?": {"nobody walks": "right", "a man walks": "wrong"}}},
    "citations": {"intel_car": {"Is anybody walking?": {"nobody walks": {"0-4.5": True, "6-9": False}}}},
}


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


def test_the_verdicts_are_about_the_questions() -> None:
    for questions in QUESTIONS.values():
        assert set(questions) <= set(PROFILES)
        assert sum(len(texts) for texts in questions.values()) == 30
    judged = read_verdicts()
    assert set(judged) == {"answers", "citations"}
    for verdicts in judged.values():
        for video, of_video in verdicts.items():
            assert set(of_video) <= {text for part in QUESTIONS.values() for text in part[video]}
            for answers in of_video.values():
                assert all(answer == plain(answer) for answer in answers)
    for of_video in judged["answers"].values():
        assert {said for answers in of_video.values() for said in answers.values()} <= {"right", "wrong"}


def test_a_table_counts_each_method_and_lists_what_nobody_judged(tmp_path: Path) -> None:
    row = {"video": "intel_car", "question": "Is anybody walking?", "calls": 2, "tokens": 100, "seconds": 1.5}
    cited = [{"seconds": [0.0, 4.5], "status": "supported"}, {"seconds": [6.0, 9.0], "status": "unverified"}]
    rows = [
        {**row, "answer": "", "finish_reason": "insufficient_evidence", "citations": []},
        {**row, "answer": "Nobody knows.", "finish_reason": "answered", "citations": cited},
        {**row, "question": "Is there a bus?", "answer": "A", "finish_reason": "answered", "citations": []},
    ]
    (tmp_path / "ava.json").write_text(json.dumps(rows))

    lines = table(tmp_path, ["ava"], ["first"]).splitlines()

    assert lines[0].split()[:10] == [
        "method", "part", "right", "wrong", "abstained", "failed", "unjudged", "calls", "tokens", "seconds",
    ]  # fmt: skip
    assert lines[1].split()[:10] == ["ava", "first", "0", "0", "1", "0", "1", "2.0", "100", "1.5"]
    assert lines[1].endswith("0 of 0, 1 unjudged")
    assert json.loads((tmp_path / "unjudged.json").read_text()) == {
        "answers": {"intel_car": {"Is anybody walking?": {"nobody knows": ""}}},
        "citations": {"intel_car": {"Is anybody walking?": {"nobody knows": {"0-4.5": None}}}},
    }

"""Lambda of equation 6 over exported trees, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.trade_off import chosen, main, read_report, read_trees


def outcome(question: str, choice: int, feedback: Any) -> dict[str, Any]:
    return {
        "object": "outcome", "question_id": question, "choices": ["a", "b"], "choice": choice, "feedback": feedback,
    }  # fmt: skip


def node(question: str, *votes: tuple[int | None, float, float], action: str = "SA") -> dict[str, Any]:
    candidates = [{"choice": choice, "agreement": a, "coherence": t} for choice, a, t in votes]
    return {"object": "node", "question_id": question, "action": action, "candidates": candidates}


LINES = [
    # Choice 1 is right. S of choice 0 is 1 at lambda 1 and 0 at lambda 0; of choice 1 it is 0.25 and 0.9.
    outcome("q1", 0, {"verdict": "wrong", "correct_choice": 1}),
    node("q1", (0, 1.0, 0.0)),
    node("q1", (1, 0.25, 0.9), (1, 0.25, 0.9), (None, 0.0, 0.0)),
    node("q1", (0, 1.0, 1.0), action="CA"),
    # The answer was right: its choice is the truth.
    outcome("q2", 0, {"verdict": "right", "correct_choice": None}),
    node("q2", (0, 0.5, 0.5)),
    # Neither is graded: nobody said which choice is right.
    outcome("q3", 0, {"verdict": "wrong", "correct_choice": None}),
    node("q3", (0, 1.0, 1.0)),
    outcome("q4", 0, None),
    node("q4", (0, 1.0, 1.0)),
]


def test_lambda_decides_between_agreement_and_thought() -> None:
    """0.25 l + 0.9 (1 - l) equals l at l = 0.9 / 1.65 = 0.545."""
    first, second = read_trees(map(json.dumps, LINES))

    assert [chosen(first, trade_off) for trade_off in (0.0, 0.3, 0.5, 0.6, 1.0)] == [1, 1, 1, 0, 0]
    assert (second.truth, chosen(second, 0.3)) == (0, 0)


def test_the_command_prints_a_line_for_each_lambda(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = tmp_path / "traces.ndjson"
    traces.write_text("\n".join(map(json.dumps, LINES)))

    assert main([str(traces)]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11
    assert lines[3].startswith("lambda 0.3: 2 of 2 right, 95 % ")
    assert lines[6].startswith("lambda 0.6: 1 of 2 right, 95 % ")


def test_a_report_gives_the_trees_of_its_questions() -> None:
    votes = [[[0, 1.0, 0.0]], [[1, 0.25, 0.9], [1, 0.25, 0.9]]]
    items = [{"truth": 1, "votes": votes}, {"truth": 0, "votes": []}]

    (tree,) = read_report(json.dumps({"items": items}))

    assert [chosen(tree, trade_off) for trade_off in (0.0, 0.5, 0.6, 1.0)] == [1, 1, 0, 0]

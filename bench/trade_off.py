"""Accuracy of AVA's answers for each lambda of equation 6, from exported search trees and without any model call.

A node's samples keep their agreement and their thought consistency, so that S can be formed again with another lambda.
The answer is that of the best SA node: looks at frames and the events' support are left out. The trees are those that
`manage.py export_traces` writes (docs/runbooks/export-traces.md) or those of a report of `make eval` (name.json).
Graded are questions with choices whose right choice is known: from the report, or from feedback (a corrected choice,
or the choice that was called right).

    python -m bench.trade_off TRACES.ndjson
    python -m bench.trade_off REPORT.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend.questions.paired import wilson

LAMBDAS = tuple(step / 10 for step in range(11))


@dataclass(frozen=True, slots=True)
class Vote:
    """An answer of one node. choice: its index. agreement, thought: S_a and S_r."""

    choice: int
    agreement: float
    thought: float


@dataclass(slots=True)
class GradedTree:
    """The votes of each SA node of a question, and the right choice."""

    truth: int
    nodes: list[list[Vote]] = field(default_factory=list)


def read_trees(lines: Iterable[str]) -> list[GradedTree]:
    """Return the trees of graded questions with choices, in the order of the lines."""
    trees: dict[str, GradedTree] = {}
    for line in lines:
        row = json.loads(line)
        if row["object"] == "outcome":
            if (truth := _truth(row)) is not None:
                trees[row["question_id"]] = GradedTree(truth)
        elif row["action"] == "SA" and (tree := trees.get(row["question_id"])) is not None:
            votes = {
                candidate["choice"]: Vote(candidate["choice"], candidate["agreement"], candidate["coherence"])
                for candidate in row["candidates"]
                if candidate["choice"] is not None and candidate["agreement"] is not None
            }
            if votes:
                tree.nodes.append(list(votes.values()))
    return [tree for tree in trees.values() if tree.nodes]


def read_report(text: str) -> list[GradedTree]:
    """Return the trees of a report's questions, in its order."""
    trees = (
        GradedTree(item["truth"], [[Vote(*vote) for vote in node] for node in item["votes"]])
        for item in json.loads(text)["items"]
    )
    return [tree for tree in trees if tree.nodes]


def _truth(row: dict[str, Any]) -> int | None:
    feedback = row["feedback"]
    if not row["choices"] or feedback is None:
        return None
    if feedback.get("correct_choice") is not None:
        return int(feedback["correct_choice"])
    return row["choice"] if feedback["verdict"] == "right" else None


def chosen(tree: GradedTree, trade_off: float) -> int:
    """Return the choice of the node whose best answer has the highest S; of equals the first."""
    best = max(
        (vote for node in tree.nodes for vote in node),
        key=lambda vote: trade_off * vote.agreement + (1 - trade_off) * vote.thought,
    )
    return best.choice


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.trade_off", description=__doc__.splitlines()[0])
    parser.add_argument("traces", type=Path, help="file that manage.py export_traces wrote, or a report of make eval")
    path: Path = parser.parse_args(arguments).traces
    trees = read_report(path.read_text()) if path.suffix == ".json" else read_trees(path.read_text().splitlines())
    for trade_off in LAMBDAS:
        right = sum(chosen(tree, trade_off) == tree.truth for tree in trees)
        low, high = wilson(right, len(trees))
        print(f"lambda {trade_off:.1f}: {right} of {len(trees)} right, 95 % {low:.1%} to {high:.1%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The search tree of one question for the console: nodes nested by their paths, with their share of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.questions.models import Candidate, Node

ACTIONS = {
    "F": "forward",
    "B": "backward",
    "RQ": "re-query",
    "SA": "summary answer",
    "CA": "check frames and answer",
    "IN": "inspection",
    "CS": "support of the choices",
}


@dataclass(slots=True)
class Branch:
    """A node, its candidates and its child nodes. left, width: its time in percent of the search."""

    node: Node
    candidates: Sequence[Candidate]
    action: str
    left: float
    width: float
    score_percent: float
    children: list[Branch] = field(default_factory=list)


def tree_of(nodes: Sequence[tuple[Node, Sequence[Candidate]]]) -> list[Branch]:
    """Return the roots of the tree. A node's parent is the node with the longest path that its own path continues."""
    ends = [node.started_ms + node.wall_ms for node, _ in nodes]
    whole = max([*ends, 1])
    branches: dict[str, Branch] = {}
    roots: list[Branch] = []
    for node, candidates in sorted(nodes, key=lambda pair: (pair[0].depth, pair[0].ordinal)):
        branch = Branch(
            node=node,
            candidates=candidates,
            action=ACTIONS.get(node.action, node.action),
            left=100 * node.started_ms / whole,
            width=max(100 * node.wall_ms / whole, 0.5),
            score_percent=100 * min(max(node.score or 0.0, 0.0), 1.0),
        )
        parent = _parent(node.path, branches)
        (roots if parent is None else parent.children).append(branch)
        branches.setdefault(node.path, branch)
    return roots


def _parent(path: str, branches: dict[str, Branch]) -> Branch | None:
    steps = path.split("/") if path else []
    while steps:
        steps.pop()
        parent = branches.get("/".join(steps))
        if parent is not None:
            return parent
    return None

"""The search tree of one question for the console: nodes nested by their paths, with their share of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.questions.models import Candidate, Node

_TREE = {
    "root": "root",
    "F": "forward",
    "B": "backward",
    "RQ": "re-query",
    "SA": "summary answer",
    "CA": "check frames and answer",
    "IN": "inspection",
    "CS": "support of the choices",
}
_TOOLS = {
    "overview": "overview of the video",
    "topic_search": "search of topics",
    "clip_search": "search of events",
    "global_browse": "overview and search",
    "segment_localization": "search of segments",
    "caption_retrieval": "captions of a span",
    "transcript_search": "search of speech",
    "term_frequency": "count of a word",
    "frame_inspect": "look at frames",
    "visual_question_answering": "question to frames",
    "action_before": "action before a moment",
    "action_after": "action after a moment",
    "object_lookup": "search of objects",
    "object_sql": "SQL over objects",
    "object_memory_querying": "question to the object memory",
    "relations": "search of relations",
    "scan": "scan of all events",
    "expand_query": "expansion of the question",
    "extract_temporal_anchors": "moments of an event",
    "multi_hop_query_generation": "simpler questions",
    "finish": "answer",
    "unreadable": "a step that could not be read",
    "unknown": "a tool that was not offered",
}
_STAGES = {
    "glance": "first frames",
    "predict": "prediction",
    "reflect": "reflection",
    "find": "what is missing",
    "retrieve": "retrieval",
    "think": "choice of functions",
    "answer": "answer",
    "rethink": "rethinking",
    "observe": "planned look",
    "look": "look at frames",
    "read": "reading of notes",
    "compose": "writing of the answer",
}
_PROGRAM = {
    "program": "program",
    "fallback": "search with the whole question",
    "localize": "what fits a phrase",
    "after": "what comes after",
    "before": "what comes before",
    "between": "what lies between",
    "during": "what happens meanwhile",
    "first": "the first",
    "last": "the last",
    "events_of": "events of things",
    "track": "moments of things",
    "neighbors": "what is related or near",
    "filter": "what fits a condition",
    "union": "either",
    "intersect": "both",
    "minus": "one without the other",
    "count": "count",
    "describe": "description",
    "frames": "frames",
}
ACTIONS = {**_TREE, **_TOOLS, **_STAGES, **_PROGRAM}
"""Every action of a stored node, in words."""


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

"""What decided an answer: a result measures the part of a method that is named here, and no other part."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.answering.contract import SEARCH_SKIPPED, Answer

NOTHING = "nothing"
SINGLE_CALL = "single call"
JUDGED_SUPPORT = "judged support"
SUPPORT_AND_VOTES = "judged support and votes"
VOTE = "vote of one node"
TREE_VOTE = "tree vote"


def decided_by(answer: Answer) -> str:
    """Return what made the choice or the text of an answer of the engine."""
    if answer.choice is None and not answer.text:
        return NOTHING
    drawn = [sum(candidate.answer is not None for candidate in node.candidates) for node in answer.nodes]
    skipped = any(node.note == SEARCH_SKIPPED for node in answer.nodes)
    return named(str(answer.signals.get("head", "")), drawn, search_skipped=skipped)


def named(head: str, drawn: Sequence[int], *, search_skipped: bool) -> str:
    """Return what decided. head: Answer.signals. drawn: answers that were drawn at each node. search_skipped: whether a
    node says that the support decided before the search. A route that needs no vote decides under its own name."""
    drawing = [count for count in drawn if count]
    if head == "support":
        return JUDGED_SUPPORT if search_skipped or not drawing else SUPPORT_AND_VOTES
    if head == "sample" or (head == "votes" and sum(drawing) <= 1):
        return SINGLE_CALL
    if head == "votes":
        return TREE_VOTE if len(drawing) > 1 else VOTE
    return head or NOTHING

"""The choice that counts most once the events' support is weighed against the votes (action CS)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.choices.support import Support
from gpu_workers.engine.answering.context import EventLabels, event_context
from gpu_workers.engine.answering.contract import CandidateRecord, NodeRecord
from gpu_workers.engine.answering.ending.vote import Verdict
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.consistency import AnswerVote
from gpu_workers.engine.answering.search.sampling import Draw
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_events
from gpu_workers.engine.retrieval.fusion import RankedEvent


def weigh_support(
    asked: Asked,
    calls: Calls,
    verdict: Verdict | None,
    nodes: Sequence[AnswerNode],
    support: Support,
    *,
    numbers: Mapping[UUID, int] | None = None,
) -> tuple[Verdict | None, NodeRecord]:
    """Return verdict, or the choice that the events support better, and a record of what was weighed (action CS).

    The total of a choice is (1 - w) S of its best node + w times its share, where w is support.weight(). An abstention
    stands, since some choice is always most similar to the events. But if nobody was asked for an answer, or the budget
    ended before there was an answer or an abstention, the best supported choice is the best answer there is. numbers:
    those that the events have been shown with; None numbers them by time.
    """
    weight = support.weight(asked)
    best_of = _best_of_choices(nodes)
    scores = {choice: node.score for choice, node in best_of.items()}
    standing = None if verdict is None or verdict.node.answer is None else verdict.node.answer.choice
    if verdict is not None and standing is not None:
        scores[standing] = verdict.score
    totals = [(1 - weight) * scores.get(choice, 0.0) + weight * share for choice, share in enumerate(support.shares)]
    first, second, *_ = sorted(range(len(totals)), key=lambda choice: (-totals[choice], choice))
    own_node = _own_node(asked, support, first, totals[first], numbers)
    record = _record(asked, support, totals, own_node)
    if verdict is None and nodes and (calls.halted is None or any(node.votes for node in nodes)):
        return None, record
    if verdict is not None and standing == first:
        node, source = verdict.node, verdict.source
    else:
        # The words and citations come from a node with this answer, else from outvoted samples, else from the events.
        node = source = best_of.get(first) or _outvoted(nodes, first) or own_node
    return Verdict(node, totals[first], totals[first] - totals[second], source, scores.get(first)), record


def _best_of_choices(nodes: Sequence[AnswerNode]) -> dict[int, AnswerNode]:
    """Return the node with the highest S of each choice that a node answered."""
    best: dict[int, AnswerNode] = {}
    for node in sorted((node for node in nodes if node.answers), key=lambda node: node.score):
        if node.answer is not None and node.answer.choice is not None:
            best[node.answer.choice] = node
    return best


def _outvoted(nodes: Sequence[AnswerNode], choice: int) -> AnswerNode | None:
    """Return the best node in which samples gave this choice and others won, as a node of these samples."""
    outvoted = [
        replace(node, votes=(vote,))
        for node in nodes
        for vote in node.votes
        if (sample := node.draw.parsed[vote.representative]) is not None and sample.choice == choice
    ]
    return max(outvoted, key=lambda node: node.score, default=None)


def _own_node(
    asked: Asked, support: Support, choice: int, score: float, numbers: Mapping[UUID, int] | None
) -> AnswerNode:
    """Return a node for the choice that cites from the events that speak for it."""
    hits = support.closest[choice]
    state = State("", tuple(RankedEvent(hit.event_id, hit.similarity, (hit,)) for hit in hits))
    ids = [hit.event_id for hit in hits]
    context = event_context(
        ids,
        support.events,
        (),
        count_tokens=asked.models.reasoner.count_tokens,
        max_tokens=asked.settings.prompt.context_tokens,
        labels=EventLabels(numbers=numbers),
    )
    answer = ParsedAnswer(asked.question.choices[choice], choice, sufficient=True)
    return AnswerNode("CS", state, context, Draw(parsed=[answer]), (AnswerVote((0,), 0, 0.0, 0.0, score),))


def _record(asked: Asked, support: Support, totals: Sequence[float], node: AnswerNode) -> NodeRecord:
    """Return the record of the choices as candidates, with the events that speak for the first one.

    A candidate's agreement is its share. Its thought is the reasoner's probability of yes, if it judged the choice. Its
    score is the choice's total.
    """
    likely = {choice: float(1 / (1 + np.exp(-support.parts.odds[choice]))) for choice in support.judged}
    candidates = tuple(
        CandidateRecord(
            text,
            choice,
            "",
            agreement=support.shares[choice],
            thought=likely.get(choice, 0.0),
            score=totals[choice],
        )
        for choice, text in enumerate(asked.question.choices)
    )
    assert node.answer is not None
    return NodeRecord(
        path="CS",
        depth=1,
        action="CS",
        events=node_events(node.state, node.context),
        candidates=candidates,
        answer=node.answer.text,
        score=node.score,
        started_ms=support.started_ms,
        wall_ms=support.wall_ms,
        prompt_tokens=sum(call.prompt_tokens for call in support.meter.calls),
        completion_tokens=sum(call.completion_tokens for call in support.meter.calls),
    )

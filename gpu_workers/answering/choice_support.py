"""How far the events bear out each choice, without asking a language model.

A right choice says in its own words what the events say in theirs. So each choice is compared with the events of the
scope, and the mean similarity of the closest ones tells how much of the video speaks for it. Small reasoners read long
lists badly; on captions of EgoSchema this alone answers more questions than they do (docs/evaluation.md). A choice
that is only a number or a name says nothing that events could bear out: then the votes decide alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpu_workers.answering.actions import State
from gpu_workers.answering.consistency import AnswerVote
from gpu_workers.answering.context import EventContext
from gpu_workers.answering.contract import CandidateRecord, NodeRecord
from gpu_workers.answering.frame_check import Verdict
from gpu_workers.answering.parsing import ParsedAnswer
from gpu_workers.answering.run import QuestionRun
from gpu_workers.answering.sampling import Draw
from gpu_workers.answering.summary_answer import AnswerNode
from gpu_workers.answering.words import content_words
from gpu_workers.ports import ViewQuery

CLOSEST = 16
"""Events that speak for a choice: as many as an answer reads at most (AVA, section 5.2)."""

OWN_WORDS = 3
"""Content words that every choice must have to be compared."""

SHARPNESS = 19.4
"""Of the softmax over mean cosines: the maximum-likelihood fit on EgoSchema's development half (`make eval`)."""


def choice_support(run: QuestionRun) -> tuple[float, ...]:
    """A share for each choice, together 1; () for an open question, choices of few words or a scope without events.

    Raises ModelError of the embedder.
    """
    choices = run.question.choices
    if not choices or min(len(content_words(choice)) for choice in choices) < OWN_WORDS:
        return ()
    with run.timed("support"):
        vectors = run.models.text_embedder.embed(list(choices), meter=run.meter)
        means = []
        for vector in vectors:
            hits = run.graph.search_views({"event": ViewQuery(vector, CLOSEST)}, floor=-1.0)["event"]
            if not hits:
                return ()
            means.append(sum(hit.similarity for hit in hits) / len(hits))
    powers = np.exp(SHARPNESS * (np.asarray(means) - max(means)))
    return tuple(float(share) for share in powers / powers.sum())


def weigh_support(
    run: QuestionRun, verdict: Verdict | None, nodes: Sequence[AnswerNode], support: Sequence[float]
) -> tuple[Verdict | None, NodeRecord | None]:
    """verdict, or the choice that the events bear out better, and a record of what was weighed (action CS).

    A choice counts (1 - w) S of its best node + w times its share, w being settings.support_weight. An abstention
    stands: events always resemble some choice most. But where the budget ended before any answer, even that one, the
    best supported choice is the best answer there is.
    """
    weight = run.settings.support_weight
    if not support or weight == 0.0:
        return verdict, None
    best_of: dict[int, AnswerNode] = {}
    for node in sorted((node for node in nodes if node.answers), key=lambda node: node.score):
        if node.answer is not None and node.answer.choice is not None:
            best_of[node.answer.choice] = node
    said = {choice: node.score for choice, node in best_of.items()}
    if verdict is not None and verdict.node.answer is not None and verdict.node.answer.choice is not None:
        said[verdict.node.answer.choice] = verdict.score
    totals = [(1 - weight) * said.get(choice, 0.0) + weight * share for choice, share in enumerate(support)]
    order = sorted(range(len(totals)), key=lambda choice: (-totals[choice], choice))
    record = _record(run, support, totals, order[0])
    if verdict is None and (run.halted is None or any(node.votes for node in nodes)):
        return None, record
    first, second = order[0], order[1]
    if verdict is not None and verdict.node.answer is not None and verdict.node.answer.choice == first:
        node, source = verdict.node, verdict.source
    else:
        node = source = best_of.get(first) or _outvoted(nodes, first) or _unspoken(run, nodes, first, totals[first])
    return Verdict(node, totals[first], totals[first] - totals[second], source, said.get(first)), record


def _outvoted(nodes: Sequence[AnswerNode], choice: int) -> AnswerNode | None:
    """A node in which samples gave this choice and others won, as theirs: for their words and what they cite."""
    found = [
        replace(node, votes=(vote,))
        for node in nodes
        for vote in node.votes
        if (said := node.draw.parsed[vote.representative]) is not None and said.choice == choice
    ]
    return max(found, key=lambda node: node.score, default=None)


def _unspoken(run: QuestionRun, nodes: Sequence[AnswerNode], choice: int, score: float) -> AnswerNode:
    """A node for a choice that no sample gave: it cites from what the search has shown."""
    shown = nodes[0] if nodes else None
    state = shown.state if shown else State("", ())
    context = shown.context if shown else EventContext("", {}, {})
    said = ParsedAnswer(run.question.choices[choice], choice, sufficient=True)
    return AnswerNode("CS", state, context, Draw(parsed=[said]), (AnswerVote((0,), 0, 0.0, 0.0, score),))


def _record(run: QuestionRun, support: Sequence[float], totals: Sequence[float], first: int) -> NodeRecord:
    """Each choice as a candidate: agreement is its share, score what it counts."""
    candidates = tuple(
        CandidateRecord(text, choice, "", agreement=support[choice], score=totals[choice])
        for choice, text in enumerate(run.question.choices)
    )
    return NodeRecord(
        path="CS",
        depth=1,
        action="CS",
        candidates=candidates,
        answer=run.question.choices[first],
        score=totals[first],
        started_ms=run.spending.elapsed_ms(),
    )

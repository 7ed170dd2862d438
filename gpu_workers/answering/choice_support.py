"""How far the events bear out each choice: by their likeness to it, and where that leaves doubt by the reasoner's word.

A right choice says in its own words what the events say in theirs. So each choice is compared with the events of the
scope: the mean similarity of the closest ones tells how much of the video speaks for it, and the similarity of its
words to theirs, one by one, whether it says something that nothing speaks of. Where two choices are close, the
reasoner is asked of each whether it is right (choice_judgement). Small reasoners read long lists badly; on captions of
EgoSchema this answers more questions than their votes do (docs/evaluation.md). A choice that is only a number or a
name says nothing that events could bear out: then the votes decide alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.answering.actions import State
from gpu_workers.answering.budget import BranchMeter
from gpu_workers.answering.choice_judgement import judge_choices
from gpu_workers.answering.consistency import AnswerVote
from gpu_workers.answering.context import event_context, event_text
from gpu_workers.answering.contract import CandidateRecord, NodeRecord
from gpu_workers.answering.frame_check import Verdict
from gpu_workers.answering.parsing import ParsedAnswer
from gpu_workers.answering.run import QuestionRun
from gpu_workers.answering.sampling import Draw
from gpu_workers.answering.summary_answer import AnswerNode, node_events
from gpu_workers.answering.words import content_forms, content_words
from gpu_workers.models.roles import Meter
from gpu_workers.ports import Hit, ViewQuery
from gpu_workers.retrieval.fusion import RankedEvent

CLOSEST = 16
"""Events that speak for a choice: as many as an answer reads at most (AVA, section 5.2)."""

SHOWN = 48
"""Events per choice that a judgement may read: as many as its tokens can hold."""

OWN_WORDS = 3
"""Content words that every choice must have to be compared."""

MOST_WORDS = 600
"""Words of the events that a choice's are compared with."""

SHARPNESS, WORDS, JUDGED = 9.65, 13.0, 1.64
"""What the mean cosine to the closest events, the mean cosine to the closest words and the reasoner's log-odds count in
the softmax over choices: the maximum-likelihood fit on EgoSchema's development half (`make eval`)."""

DOUBT = 0.3
"""A lead under this, before the reasoner's word, leaves doubt."""


MOST_JUDGED = 6
"""Choices that are judged, the closest ones: of 26 each would cost a call. The others count as the worst of these."""


@dataclass(frozen=True, slots=True)
class Support:
    """What the events say for each choice. shares: together 1. closest: the events that speak for it, best first.
    odds: the reasoner's log-odds of the choices that it judged; empty if it was not asked or said nothing. meter: of
    those calls."""

    shares: tuple[float, ...]
    closest: tuple[tuple[Hit, ...], ...]
    odds: Mapping[int, float] = field(default_factory=dict)
    meter: Meter = field(default_factory=Meter)
    started_ms: int = 0
    wall_ms: int = 0

    def weight(self, run: QuestionRun) -> float:
        """What a share counts beside S. A reasoner that has judged each choice votes no more: of all of them at once
        it knows less."""
        return 1.0 if self.odds else run.settings.support_weight

    def decides(self, run: QuestionRun) -> bool:
        """Whether no vote can change which choice counts most."""
        weight = self.weight(run)
        return weight * _lead(self.shares) > 1 - weight


def choice_support(run: QuestionRun) -> Support | None:
    """The support of each choice; None for an open question, choices of few words or a scope without events.

    Raises ModelError of the embedder. Where the reasoner is asked and the budget ends, run.halted says so.
    """
    choices = run.question.choices
    if not choices or min(len(content_words(choice)) for choice in choices) < OWN_WORDS:
        return None
    began = run.spending.elapsed_ms()
    limit = SHOWN if run.settings.judge_tokens else CLOSEST
    with run.timed("support"):
        found: list[tuple[Hit, ...]] = []
        for vector in run.models.text_embedder.embed(list(choices), meter=run.meter):
            hits = run.graph.search_views({"event": ViewQuery(vector, limit)}, floor=-1.0)["event"]
            if not hits:
                return None
            found.append(tuple(hits))
        means = [sum(hit.similarity for hit in hits[:CLOSEST]) / len(hits[:CLOSEST]) for hits in found]
        closest = tuple(hits[:CLOSEST] for hits in found)
        levels = SHARPNESS * np.asarray(means) + WORDS * _words_told(run, _union(closest))
        meter = BranchMeter(run.meter)
        odds: dict[int, float] = {}
        if run.settings.judge_tokens and _lead(_softmax(levels)) < DOUBT and not run.halted:
            likely = sorted(sorted(range(len(choices)), key=lambda choice: (-levels[choice], choice))[:MOST_JUDGED])
            # Nothing is said of any choice, or something of each.
            odds = dict(zip(likely, judge_choices(run, likely, _union(found), meter=meter), strict=False))
            if odds:
                levels += [JUDGED * odds.get(choice, min(odds.values())) for choice in range(len(choices))]
    return Support(_softmax(levels), closest, odds, meter, began, run.spending.elapsed_ms() - began)


def _words_told(run: QuestionRun, ids: Sequence[UUID]) -> NDArray[np.float64]:
    """Per choice the mean over its words of the cosine to the word of the events that is most like it."""
    known = run.graph.load_events(ids)
    texts = [event_text(known[event_id]) for event_id in ids if event_id in known]
    told = list(dict.fromkeys(word for text in texts for word in content_forms(text)))[:MOST_WORDS]
    own = [content_forms(choice) for choice in run.question.choices]
    if not told:
        return np.zeros(len(own))
    words = list(dict.fromkeys(word for group in own for word in group))
    vectors = run.models.text_embedder.embed([*told, *words], meter=run.meter)
    nearest = dict(zip(words, (vectors[len(told) :] @ vectors[: len(told)].T).max(axis=1), strict=True))
    return np.asarray([np.mean([nearest[word] for word in group]) for group in own], dtype=np.float64)


def _softmax(levels: NDArray[np.float64]) -> tuple[float, ...]:
    powers = np.exp(levels - levels.max())
    return tuple(float(share) for share in powers / powers.sum())


def _lead(shares: Sequence[float]) -> float:
    """Of the best choice's share over the next one's."""
    first, second, *_ = sorted(shares, reverse=True)
    return first - second


def _union(found: Sequence[Sequence[Hit]]) -> list[UUID]:
    """The events that are close to any choice, each choice's closest first."""
    ranks: dict[UUID, tuple[int, float]] = {}
    for hits in found:
        for rank, hit in enumerate(hits):
            ranks[hit.event_id] = min(ranks.get(hit.event_id, (rank, 0.0)), (rank, -hit.similarity))
    return sorted(ranks, key=lambda event_id: (*ranks[event_id], event_id))


def weigh_support(
    run: QuestionRun, verdict: Verdict | None, nodes: Sequence[AnswerNode], support: Support | None
) -> tuple[Verdict | None, NodeRecord | None]:
    """verdict, or the choice that the events bear out better, and a record of what was weighed (action CS).

    A choice counts (1 - w) S of its best node + w times its share, w being support.weight(). An abstention
    stands: events always resemble some choice most. But where nobody was asked for an answer, or the budget ended
    before there was one, even that one, the best supported choice is the best answer there is.
    """
    if support is None:
        return verdict, None
    weight = support.weight(run)
    best_of: dict[int, AnswerNode] = {}
    for node in sorted((node for node in nodes if node.answers), key=lambda node: node.score):
        if node.answer is not None and node.answer.choice is not None:
            best_of[node.answer.choice] = node
    said = {choice: node.score for choice, node in best_of.items()}
    if verdict is not None and verdict.node.answer is not None and verdict.node.answer.choice is not None:
        said[verdict.node.answer.choice] = verdict.score
    totals = [(1 - weight) * said.get(choice, 0.0) + weight * share for choice, share in enumerate(support.shares)]
    order = sorted(range(len(totals)), key=lambda choice: (-totals[choice], choice))
    first, second = order[0], order[1]
    own = _own_node(run, support, first, totals[first])
    record = _record(run, support, totals, own)
    if verdict is None and nodes and (run.halted is None or any(node.votes for node in nodes)):
        return None, record
    if verdict is not None and verdict.node.answer is not None and verdict.node.answer.choice == first:
        node, source = verdict.node, verdict.source
    else:
        node = source = best_of.get(first) or _outvoted(nodes, first) or own
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


def _own_node(run: QuestionRun, support: Support, choice: int, score: float) -> AnswerNode:
    """A node for the choice that cites from the events that speak for it."""
    hits = support.closest[choice]
    state = State("", tuple(RankedEvent(hit.event_id, hit.similarity, (hit,)) for hit in hits))
    ids = [hit.event_id for hit in hits]
    context = event_context(
        ids,
        run.graph.load_events(ids),
        (),
        count_tokens=run.models.reasoner.count_tokens,
        max_tokens=run.settings.context_tokens,
    )
    said = ParsedAnswer(run.question.choices[choice], choice, sufficient=True)
    return AnswerNode("CS", state, context, Draw(parsed=[said]), (AnswerVote((0,), 0, 0.0, 0.0, score),))


def _record(run: QuestionRun, support: Support, totals: Sequence[float], own: AnswerNode) -> NodeRecord:
    """Each choice as a candidate: agreement is its share, thought the reasoner's probability of yes where it was asked,
    score what it counts; with the events that speak for the first one."""
    likely = {choice: float(1 / (1 + np.exp(-odds))) for choice, odds in support.odds.items()}
    candidates = tuple(
        CandidateRecord(
            text,
            choice,
            "",
            agreement=support.shares[choice],
            thought=likely.get(choice, 0.0),
            score=totals[choice],
        )
        for choice, text in enumerate(run.question.choices)
    )
    assert own.answer is not None
    return NodeRecord(
        path="CS",
        depth=1,
        action="CS",
        events=node_events(own.state, own.context),
        candidates=candidates,
        answer=own.answer.text,
        score=own.score,
        started_ms=support.started_ms,
        wall_ms=support.wall_ms,
        prompt_tokens=sum(call.prompt_tokens for call in support.meter.calls),
        completion_tokens=sum(call.completion_tokens for call in support.meter.calls),
    )

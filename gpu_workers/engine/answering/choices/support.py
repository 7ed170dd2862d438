"""How far the events bear out each choice: by their likeness to it, by its words and terms, and by the reasoner's word.

A right choice says in its own words what the events say in theirs. So each choice is compared with the events of the
scope that are most like it: the mean similarity tells how much of the video speaks for it, the similarity of its
words to theirs, one by one, whether it says something that nothing speaks of, and the rare terms that it shares with
them whether they speak of this and not of something like it. Then the reasoner is asked of each choice whether it is
right (choice_judgement). Small reasoners read long lists badly; on captions of EgoSchema this answers more questions
than their votes do (docs/evaluation.md). Choices of a word or two are compared together with the question, and that
counts only beside the reasoner's odds. A choice that is only a number says nothing that events could bear out: then
the votes decide alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BranchMeter
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.choices.judgement import judge_choices
from gpu_workers.engine.answering.context import event_context, event_text
from gpu_workers.engine.answering.contract import CandidateRecord, NodeRecord
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.consistency import AnswerVote
from gpu_workers.engine.answering.search.sampling import Draw
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_events
from gpu_workers.engine.answering.verdict import Verdict
from gpu_workers.engine.answering.words import content_forms, content_words
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.ports import Hit, StoredEvent, ViewQuery
from gpu_workers.engine.retrieval.fusion import RankedEvent

CLOSEST = 16
"""Events that speak for a choice: as many as an answer reads at most (AVA, section 5.2)."""

SHOWN = 48
"""Events per choice that a judgement may read: as many as its tokens can hold."""

OWN_WORDS = 3
"""Content words that every choice must have to be compared without the question."""

MOST_WORDS = 600
"""Words of the events that a choice's are compared with."""

SAME = 0.02
"""A spread of cosines over the choices that tells little: added to theirs, so that a smaller one counts little."""

MOST_JUDGED = 6
"""Choices that are judged, the closest ones: of 26 each would cost a call. The others count as the worst of these."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of the support counts in the softmax over choices."""

    likeness: float
    words: float
    terms: float
    odds: float


WEIGHTS = Weights(likeness=4.31, words=1.015, terms=20.94, odds=1.492)
"""The maximum-likelihood fit on EgoSchema's development half with the embedded profile's models
(`python -m bench.evaluation.fit_support`)."""

BRIEF_WEIGHTS = Weights(likeness=8.26, words=0.173, terms=5.87, odds=1.537)
"""Of choices that are compared with their question: the fit on 110 questions of NExT-QA's development half."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What speaks for each choice, a value per choice in each array.

    likeness: mean cosine to the closest events. words: mean over its words of the cosine to the most similar word of
    those events, less the mean over all choices and over their spread. terms: cosine of TF-IDF between it, with the
    question, and those events. odds: the reasoner's log-odds that it is right, 0 where it was not asked.
    """

    likeness: NDArray[np.float64]
    words: NDArray[np.float64]
    terms: NDArray[np.float64]
    odds: NDArray[np.float64]

    def levels(self, weights: Weights) -> NDArray[np.float64]:
        """Of each choice: the logarithm of its share up to a constant."""
        told: NDArray[np.float64] = (
            weights.likeness * self.likeness
            + weights.words * self.words
            + weights.terms * self.terms
            + weights.odds * self.odds
        )
        return told


@dataclass(frozen=True, slots=True)
class Support:
    """What the events say for each choice. shares: together 1. closest: the events that speak for it, best first;
    events: what is known of them. brief: whether choices of few words were compared with their question. judged: the
    choices of which the reasoner told its odds; empty if it was not asked or said nothing. meter: of those calls."""

    shares: tuple[float, ...]
    parts: Parts
    brief: bool
    closest: tuple[tuple[Hit, ...], ...]
    events: Mapping[UUID, StoredEvent]
    judged: tuple[int, ...] = ()
    meter: Meter = field(default_factory=Meter)
    started_ms: int = 0
    wall_ms: int = 0

    def weight(self, asked: Asked) -> float:
        """What a share counts beside S. A reasoner that has judged each choice votes no more: of all of them at once
        it knows less."""
        return 1.0 if self.judged else asked.settings.support.weight

    def decides(self, asked: Asked) -> bool:
        """Whether no vote can change which choice counts most."""
        weight = self.weight(asked)
        first, second, *_ = sorted(self.shares, reverse=True)
        return weight * (first - second) > 1 - weight


def choice_support(asked: Asked, calls: Calls) -> Support | None:
    """The support of each choice; None for an open question, numbers or a scope without events, and for choices of few
    words that nobody judged.

    Raises ModelError of the embedder. Where the reasoner is asked and the budget ends, calls.halted says so.
    """
    choices = asked.question.choices
    fewest = min((sum(not word.isdigit() for word in content_words(choice)) for choice in choices), default=0)
    brief = fewest < OWN_WORDS
    if not fewest or (brief and not asked.settings.support.judge_tokens):
        return None
    compared = [f"{asked.searched} {choice}" for choice in choices] if brief else list(choices)
    weights = BRIEF_WEIGHTS if brief else WEIGHTS
    began = calls.spending.elapsed_ms()
    limit = SHOWN if asked.settings.support.judge_tokens else CLOSEST
    with calls.timed("support"):
        found: list[tuple[Hit, ...]] = []
        for vector in asked.models.text_embedder.embed(compared, meter=calls.meter):
            hits = asked.graph.search_views({"event": ViewQuery(vector, limit)}, floor=-1.0)["event"]
            if not hits:
                return None
            found.append(tuple(hits))
        closest = tuple(hits[:CLOSEST] for hits in found)
        ranking = _union(found)
        events = asked.graph.load_events(ranking)
        near = set(_union(closest))
        texts = [event_text(events[event_id]) for event_id in ranking if event_id in near and event_id in events]
        parts = Parts(
            np.asarray([np.mean([hit.similarity for hit in hits]) for hits in closest]),
            _words_told(asked, calls, texts),
            _terms_shared(asked, texts),
            np.zeros(len(choices)),
        )
        meter = BranchMeter(calls.meter)
        judged: tuple[int, ...] = ()
        if asked.settings.support.judge_tokens and not calls.halted:
            levels = parts.levels(weights)
            likely = sorted(sorted(range(len(choices)), key=lambda choice: (-levels[choice], choice))[:MOST_JUDGED])
            # Nothing is said of any choice, or something of each.
            known = [events[event_id] for event_id in ranking if event_id in events]
            if odds := judge_choices(asked, calls, likely, known, meter=meter):
                judged = tuple(likely)
                of = dict(zip(likely, odds, strict=True))
                parts = replace(parts, odds=np.asarray([of.get(n, min(odds)) for n in range(len(choices))]))
    if brief and not judged and not calls.halted:
        return None
    wall_ms = calls.spending.elapsed_ms() - began
    return Support(_softmax(parts.levels(weights)), parts, brief, closest, events, judged, meter, began, wall_ms)


def _words_told(asked: Asked, calls: Calls, texts: Sequence[str]) -> NDArray[np.float64]:
    """Per choice how its words are told by texts: the mean over them of the cosine to the text's word that is most like
    it, as standard scores over the choices."""
    told = list(dict.fromkeys(word for text in texts for word in content_forms(text)))[:MOST_WORDS]
    own = [content_forms(choice) for choice in asked.question.choices]
    if not told:
        return np.zeros(len(own))
    words = list(dict.fromkeys(word for group in own for word in group))
    vectors = asked.models.text_embedder.embed([*told, *words], meter=calls.meter)
    nearest = dict(zip(words, (vectors[len(told) :] @ vectors[: len(told)].T).max(axis=1), strict=True))
    means = np.asarray([np.mean([nearest[word] for word in group]) for group in own], dtype=np.float64)
    scores: NDArray[np.float64] = (means - means.mean()) / (means.std() + SAME)
    return scores


def _terms_shared(asked: Asked, texts: Sequence[str]) -> NDArray[np.float64]:
    """Per choice the cosine of TF-IDF between it, with the question, and all texts. A term is rare by these texts; one
    that none of them says is the rarest, and parts a choice from them."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # in the ml extra, and slow to import

    queries = [f"{asked.searched} {choice}" for choice in asked.question.choices]
    terms = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    said = terms.build_analyzer()
    vocabulary = sorted({term for text in (*texts, *queries) for term in said(text)})
    if not vocabulary:  # nothing but stop words
        return np.zeros(len(queries))
    terms.set_params(vocabulary=vocabulary).fit(texts)
    shared: NDArray[np.float64] = (terms.transform(queries) @ terms.transform([" ".join(texts)]).T).toarray()[:, 0]
    return shared


def _softmax(levels: NDArray[np.float64]) -> tuple[float, ...]:
    powers = np.exp(levels - levels.max())
    return tuple(float(share) for share in powers / powers.sum())


def _union(found: Sequence[Sequence[Hit]]) -> list[UUID]:
    """The events that are close to any choice, each choice's closest first."""
    ranks: dict[UUID, tuple[int, float]] = {}
    for hits in found:
        for rank, hit in enumerate(hits):
            ranks[hit.event_id] = min(ranks.get(hit.event_id, (rank, 0.0)), (rank, -hit.similarity))
    return sorted(ranks, key=lambda event_id: (*ranks[event_id], event_id))


def weigh_support(
    asked: Asked, calls: Calls, verdict: Verdict | None, nodes: Sequence[AnswerNode], support: Support | None
) -> tuple[Verdict | None, NodeRecord | None]:
    """verdict, or the choice that the events bear out better, and a record of what was weighed (action CS).

    A choice counts (1 - w) S of its best node + w times its share, w being support.weight(). An abstention
    stands: events always resemble some choice most. But where nobody was asked for an answer, or the budget ended
    before there was one, even that one, the best supported choice is the best answer there is.
    """
    if support is None:
        return verdict, None
    weight = support.weight(asked)
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
    own = _own_node(asked, support, first, totals[first])
    record = _record(asked, support, totals, own)
    if verdict is None and nodes and (calls.halted is None or any(node.votes for node in nodes)):
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


def _own_node(asked: Asked, support: Support, choice: int, score: float) -> AnswerNode:
    """A node for the choice that cites from the events that speak for it."""
    hits = support.closest[choice]
    state = State("", tuple(RankedEvent(hit.event_id, hit.similarity, (hit,)) for hit in hits))
    ids = [hit.event_id for hit in hits]
    context = event_context(
        ids,
        support.events,
        (),
        count_tokens=asked.models.reasoner.count_tokens,
        max_tokens=asked.settings.prompt.context_tokens,
    )
    said = ParsedAnswer(asked.question.choices[choice], choice, sufficient=True)
    return AnswerNode("CS", state, context, Draw(parsed=[said]), (AnswerVote((0,), 0, 0.0, 0.0, score),))


def _record(asked: Asked, support: Support, totals: Sequence[float], own: AnswerNode) -> NodeRecord:
    """Each choice as a candidate: agreement is its share, thought the reasoner's probability of yes where it was asked,
    score what it counts; with the events that speak for the first one."""
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

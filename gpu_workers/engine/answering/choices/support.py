"""How far the events support each choice: by similarity, words, terms and the reasoner's judgement.

A right choice says in its own words what the events say in theirs. So each choice is compared with the events of the
scope that are most similar to it. Their mean similarity shows how much of the video speaks for the choice. The
similarity of its words to theirs, one by one, shows whether the choice says something that no event mentions. The rare
terms that it shares with them show whether they mention this and not something similar. Then the reasoner judges each
choice (choices.judgement). Small reasoners read long lists badly; on captions of EgoSchema support answers more
questions than their votes do (docs/evaluation.md). Choices of a word or two are compared together with the question,
and that counts only with the reasoner's odds. No event can support a choice that is only a number: then the votes
decide alone. They also decide alone if nothing was fitted to the models in use (models.calibration).
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
from gpu_workers.engine.models.calibration import SupportWeights
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.ports import Hit, StoredEvent, ViewQuery
from gpu_workers.engine.retrieval.fusion import RankedEvent

CLOSEST = 16
"""Maximum number of events that speak for a choice: as many as an answer reads (AVA, section 5.2)."""

SHOWN = 48
"""Maximum number of events per choice that a judgement reads; its tokens hold no more."""

OWN_WORDS = 3
"""Minimum content words of every choice if the choices are compared without the question."""

MOST_WORDS = 600
"""Maximum number of words of the events that a choice's words are compared with."""

SAME = 0.02
"""Spread of cosines over the choices that means little. It is added to the measured spread, so that a smaller one
counts little."""

MOST_JUDGED = 6
"""Maximum number of choices that are judged, the most likely ones, since each costs a call. The others count as the
worst of the judged ones."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What speaks for each choice, a value per choice in each array.

    similarity: mean cosine to the closest events. words: mean over its words of the cosine to the most similar word of
    these events, as a standard score over the choices. terms: cosine of TF-IDF between the choice with its question and
    these events. odds: the reasoner's log-odds that the choice is right, 0 if it was not judged.
    """

    similarity: NDArray[np.float64]
    words: NDArray[np.float64]
    terms: NDArray[np.float64]
    odds: NDArray[np.float64]

    def levels(self, weights: SupportWeights) -> NDArray[np.float64]:
        """Return the logarithm of each choice's share, up to a constant."""
        levels: NDArray[np.float64] = (
            weights.similarity * self.similarity
            + weights.words * self.words
            + weights.terms * self.terms
            + weights.odds * self.odds
        )
        return levels


@dataclass(frozen=True, slots=True)
class Support:
    """What the events say for each choice.

    shares: one per choice, together 1. closest: the events that speak for each choice, best first. events: these events
    by id. brief: whether choices of few words were compared together with their question. judged: the choices that the
    reasoner judged; empty if it was not asked or returned no odds. meter: of the judgements.
    """

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
        """Return the weight of a share, 0 to 1; S has the rest. If the reasoner has judged each choice and its tree is
        not searched, its votes have no weight: it knows less about all choices at once."""
        settings = asked.settings.support
        return 1.0 if self.judged and settings.replaces_search else settings.weight

    def decides(self, asked: Asked) -> bool:
        """Whether no vote can change which choice counts most, and the effort then does without a search."""
        if not asked.settings.support.replaces_search:
            return False
        weight = self.weight(asked)
        first, second, *_ = sorted(self.shares, reverse=True)
        return weight * (first - second) > 1 - weight


def choice_support(asked: Asked, calls: Calls) -> Support | None:
    """Return the support of each choice, or None if the votes decide alone.

    The votes decide alone for an open question, for numbers, for a scope without events, for models that no weights
    were fitted to, and for choices of few words that were not judged. Raises ModelError of the embedder. If the budget
    ends while the reasoner judges, calls.halted says so.
    """
    fit = asked.models.calibration.support
    choices, judging = asked.question.choices, asked.settings.support.judge_tokens > 0
    fewest = min((sum(not word.isdigit() for word in content_words(choice)) for choice in choices), default=0)
    brief = fewest < OWN_WORDS
    if fit is None or not fewest or (brief and not judging):
        return None
    weights = (fit.brief_weights if brief else fit.weights).value
    began = calls.spending.elapsed_ms()
    meter = BranchMeter(calls.meter)
    with calls.timed("support"):
        near = _nearest_events(asked, calls, brief=brief, limit=SHOWN if judging else CLOSEST)
        if near is None:
            return None
        parts = Parts(
            np.asarray([np.mean([hit.similarity for hit in hits]) for hits in near.closest]),
            _words_shared(asked, calls, near.texts),
            _terms_shared(asked, near.texts),
            np.zeros(len(choices)),
        )
        judged: tuple[int, ...] = ()
        if judging and not calls.halted:
            parts, judged = _judged(asked, calls, parts, weights, near, meter)
    if brief and not judged and not calls.halted:
        return None
    wall_ms = calls.spending.elapsed_ms() - began
    return Support(
        _softmax(parts.levels(weights)), parts, brief, near.closest, near.events, judged, meter, began, wall_ms
    )


@dataclass(frozen=True, slots=True)
class _Near:
    """The events near any choice. closest: at most CLOSEST hits per choice, best first. ranked: all of them, best
    first. texts: the words of the closest ones."""

    closest: tuple[tuple[Hit, ...], ...]
    events: Mapping[UUID, StoredEvent]
    ranked: tuple[StoredEvent, ...]
    texts: tuple[str, ...]


def _nearest_events(asked: Asked, calls: Calls, *, brief: bool, limit: int) -> _Near | None:
    """Return the events most similar to each choice, at most limit of them; None if the scope has no events."""
    choices = asked.question.choices
    compared = [f"{asked.searched} {choice}" for choice in choices] if brief else list(choices)
    hits_by_choice: list[tuple[Hit, ...]] = []
    for vector in asked.models.text_embedder.embed(compared, meter=calls.meter):
        hits = asked.graph.search_views({"event": ViewQuery(vector, limit)}, floor=-1.0)["event"]
        if not hits:
            return None
        hits_by_choice.append(tuple(hits))
    closest = tuple(hits[:CLOSEST] for hits in hits_by_choice)
    ranking = _union(hits_by_choice)
    events = asked.graph.load_events(ranking)
    near = set(_union(closest))
    ranked = tuple(events[event_id] for event_id in ranking if event_id in events)
    return _Near(closest, events, ranked, tuple(event_text(event) for event in ranked if event.id in near))


def _judged(
    asked: Asked, calls: Calls, parts: Parts, weights: SupportWeights, near: _Near, meter: BranchMeter
) -> tuple[Parts, tuple[int, ...]]:
    """Return parts with the reasoner's odds, and the choices that it judged: none of them, or MOST_JUDGED at most."""
    levels = parts.levels(weights)
    likely = sorted(sorted(range(len(levels)), key=lambda choice: (-levels[choice], choice))[:MOST_JUDGED])
    odds = judge_choices(asked, calls, likely, near.ranked, meter=meter)
    if not odds:
        return parts, ()
    odds_of = dict(zip(likely, odds, strict=True))
    return replace(parts, odds=np.asarray([odds_of.get(n, min(odds)) for n in range(len(levels))])), tuple(likely)


def _words_shared(asked: Asked, calls: Calls, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return per choice the mean cosine between each of its words and the most similar word of texts, as standard
    scores over the choices."""
    event_words = list(dict.fromkeys(word for text in texts for word in content_forms(text)))[:MOST_WORDS]
    words_by_choice = [content_forms(choice) for choice in asked.question.choices]
    if not event_words:
        return np.zeros(len(words_by_choice))
    words = list(dict.fromkeys(word for group in words_by_choice for word in group))
    vectors = asked.models.text_embedder.embed([*event_words, *words], meter=calls.meter)
    nearest = dict(zip(words, (vectors[len(event_words) :] @ vectors[: len(event_words)].T).max(axis=1), strict=True))
    means = np.asarray([np.mean([nearest[word] for word in group]) for group in words_by_choice], dtype=np.float64)
    scores: NDArray[np.float64] = (means - means.mean()) / (means.std() + SAME)
    return scores


def _terms_shared(asked: Asked, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return per choice the cosine of TF-IDF between the choice with its question and all texts.

    The texts decide how rare a term is. A term that none of them says is the rarest, and separates a choice from them.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # in the ml extra, and slow to import

    queries = [f"{asked.searched} {choice}" for choice in asked.question.choices]
    terms = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    terms_of = terms.build_analyzer()
    vocabulary = sorted({term for text in (*texts, *queries) for term in terms_of(text)})
    if not vocabulary:  # nothing but stop words
        return np.zeros(len(queries))
    terms.set_params(vocabulary=vocabulary).fit(texts)
    shared: NDArray[np.float64] = (terms.transform(queries) @ terms.transform([" ".join(texts)]).T).toarray()[:, 0]
    return shared


def _softmax(levels: NDArray[np.float64]) -> tuple[float, ...]:
    powers = np.exp(levels - levels.max())
    return tuple(float(share) for share in powers / powers.sum())


def _union(hits_by_choice: Sequence[Sequence[Hit]]) -> list[UUID]:
    """Return the events that are close to any choice, each choice's closest first."""
    ranks: dict[UUID, tuple[int, float]] = {}
    for hits in hits_by_choice:
        for rank, hit in enumerate(hits):
            ranks[hit.event_id] = min(ranks.get(hit.event_id, (rank, 0.0)), (rank, -hit.similarity))
    return sorted(ranks, key=lambda event_id: (*ranks[event_id], event_id))


def weigh_support(
    asked: Asked, calls: Calls, verdict: Verdict | None, nodes: Sequence[AnswerNode], support: Support | None
) -> tuple[Verdict | None, NodeRecord | None]:
    """Return verdict, or the choice that the events support better, and a record of what was weighed (action CS).

    The total of a choice is (1 - w) S of its best node + w times its share, where w is support.weight(). An abstention
    stands, since some choice is always most similar to the events. But if nobody was asked for an answer, or the budget
    ended before there was an answer or an abstention, the best supported choice is the best answer there is.
    """
    if support is None:
        return verdict, None
    weight = support.weight(asked)
    best_of = _best_of_choices(nodes)
    scores = {choice: node.score for choice, node in best_of.items()}
    standing = None if verdict is None or verdict.node.answer is None else verdict.node.answer.choice
    if verdict is not None and standing is not None:
        scores[standing] = verdict.score
    totals = [(1 - weight) * scores.get(choice, 0.0) + weight * share for choice, share in enumerate(support.shares)]
    first, second, *_ = sorted(range(len(totals)), key=lambda choice: (-totals[choice], choice))
    own_node = _own_node(asked, support, first, totals[first])
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


def _own_node(asked: Asked, support: Support, choice: int, score: float) -> AnswerNode:
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

"""How far the events support each choice: by similarity, words, terms and the reasoner's judgement.

A right choice says in its own words what the events say in theirs. So each choice is compared with the events of the
scope that are most similar to it. Their mean similarity shows how much of the video speaks for the choice. The
similarity of its words to theirs, one by one, shows whether the choice says something that no event mentions. The rare
terms that it shares with them show whether they mention this and not something similar. Then the reasoner judges each
choice (choices.judgement). Small reasoners read long lists badly; on captions of EgoSchema support answers more
questions than their votes do (docs/lab/evaluation.md). Choices of a word or two are compared together with the
question, and that counts only with the reasoner's odds. No event can support a choice that is only a number: then the
votes decide alone. They also decide alone if nothing was fitted to the models in use (models.calibration).
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
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.languages.codes import is_english
from gpu_workers.engine.languages.words import content_forms
from gpu_workers.engine.models.calibration import SupportWeights
from gpu_workers.engine.models.roles import Meter, TextEmbedder
from gpu_workers.engine.ports import Hit, StoredEvent, ViewQuery

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


def choice_support(asked: Asked, calls: Calls, *, shown: Sequence[StoredEvent] | None = None) -> Support | None:
    """Return the support of each choice, or None if the votes decide alone.

    shown: the events that may speak for a choice; None is all of the scope.

    The votes decide alone for an open question, for numbers, for a scope without events, for models that no weights
    were fitted to, and for choices of few words that were not judged. Raises ModelError of the embedder. If the budget
    ends while the reasoner judges, calls.halted says so.
    """
    fit = asked.models.calibration.support
    choices, judging = asked.question.choices, asked.settings.support.judge_tokens > 0
    fewest = min((sum(not word.isdigit() for word in set(content_forms(choice))) for choice in choices), default=0)
    brief = fewest < OWN_WORDS
    if fit is None or not fewest or (brief and not judging) or not is_english(asked.question_language):
        return None
    weights = (fit.brief_weights if brief else fit.weights).value
    began = calls.spending.elapsed_ms()
    meter = BranchMeter(calls.meter)
    with calls.timed("support"):
        near = _nearest_events(asked, calls, brief=brief, limit=SHOWN if judging else CLOSEST, shown=shown)
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


def _nearest_events(
    asked: Asked, calls: Calls, *, brief: bool, limit: int, shown: Sequence[StoredEvent] | None
) -> _Near | None:
    """Return the events most similar to each choice, at most limit of them; None if there are no events."""
    if shown is not None and not shown:
        return None
    choices = asked.question.choices
    compared = [f"{asked.searched} {choice}" for choice in choices] if brief else list(choices)
    vectors = asked.models.text_embedder.embed(compared, meter=calls.meter)
    if shown is None:
        found: list[Sequence[Hit]] = [
            asked.graph.search_views({"event": ViewQuery(vector, limit)}, floor=-1.0)["event"] for vector in vectors
        ]
    else:
        found = _hits_among(shown, vectors, asked.models.text_embedder, limit, calls.meter)
    if not all(found):
        return None
    hits_by_choice = [tuple(hits) for hits in found]
    closest = tuple(hits[:CLOSEST] for hits in hits_by_choice)
    ranking = _union(hits_by_choice)
    events = asked.graph.load_events(ranking) if shown is None else {event.id: event for event in shown}
    near = set(_union(closest))
    ranked = tuple(events[event_id] for event_id in ranking if event_id in events)
    return _Near(closest, events, ranked, tuple(event_text(event) for event in ranked if event.id in near))


def _hits_among(
    events: Sequence[StoredEvent], vectors: NDArray[np.float32], embedder: TextEmbedder, limit: int, meter: Meter
) -> list[Sequence[Hit]]:
    """Return for each vector the events by falling cosine of their summary, ties by id, at most limit."""
    cosines = vectors @ embedder.embed([event.summary for event in events], meter=meter).T
    return [
        tuple(
            Hit(event.id, float(cosine), "event", event.id)
            for cosine, event in sorted(zip(row, events, strict=True), key=lambda one: (-one[0], one[1].id))
        )[:limit]
        for row in cosines
    ]


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
    words_by_choice = [list(dict.fromkeys(content_forms(choice))) for choice in asked.question.choices]
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

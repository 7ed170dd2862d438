"""How far the events support each choice: by similarity, words, terms and the reasoner's judgement.

A right choice says in its own words what the events say in theirs. So each choice is compared with the events of the
scope that are most similar to it: by their mean similarity, by its words one by one, and by the rare terms that it
shares with them. Then the reasoner judges each choice. A small reasoner that is asked for the letter of the best of
five choices is right hardly more often than by chance; about one choice at a time it knows more, and its odds of yes
against no show how much (docs/lab/evaluation.md).

Choices of a word or two are compared together with the question, and that counts only with the reasoner's odds. No
event can support a choice that is only a number: then the votes decide alone, as they do for models that nothing was
fitted to (models.calibration).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.context import cut, event_text, shares
from gpu_workers.engine.answering.parsing import ALTERNATIVES, log_odds
from gpu_workers.engine.languages.codes import is_english
from gpu_workers.engine.languages.words import content_forms
from gpu_workers.engine.models.calibration import SupportWeights
from gpu_workers.engine.models.roles import Message, Meter, ModelError
from gpu_workers.engine.ports import Hit, StoredEvent, ViewQuery
from gpu_workers.engine.prompts import load

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

LEAST_TOKENS = 24
"""Minimum tokens of an event that is cut: fewer words say nothing."""

NUMBER_TOKENS = 8
"""Tokens of a line's number, and of what a tokenizer adds where a text is cut."""


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

    The votes decide alone if support has no weight, for an open question, for numbers, for a scope without events, for
    models that no weights were fitted to, for choices of few words that were not judged, and if nothing can be
    embedded. If the budget ends while the reasoner judges, calls.halted says so.
    """
    fit, settings = asked.models.calibration.support, asked.settings.support
    choices, judging = asked.question.choices, settings.judge_tokens > 0
    fewest = min((sum(not word.isdigit() for word in set(content_forms(choice))) for choice in choices), default=0)
    brief = fewest < OWN_WORDS
    if fit is None or settings.weight == 0.0 or not fewest or (brief and not judging):
        return None
    if not is_english(asked.question_language):
        return None
    weights = (fit.brief_weights if brief else fit.weights).value
    began, meter = calls.spending.elapsed_ms(), BranchMeter(calls.meter)
    with calls.timed("support"):
        try:
            compared = [f"{asked.searched} {choice}" for choice in choices] if brief else list(choices)
            hits = _hits_by_choice(asked, calls, compared, SHOWN if judging else CLOSEST, shown)
            if not all(hits):
                return None
            closest = tuple(of_choice[:CLOSEST] for of_choice in hits)
            near = asked.graph.load_events(_union(hits)) if shown is None else {event.id: event for event in shown}
            texts = [event_text(near[event_id]) for event_id in _union(closest) if event_id in near]
            parts = Parts(
                np.asarray([np.mean([hit.similarity for hit in of_choice]) for of_choice in closest]),
                _words_shared(asked, calls, texts),
                _terms_shared(asked, texts),
                np.zeros(len(choices)),
            )
        except ModelError:
            return None
        judged: tuple[int, ...] = ()
        if judging and not calls.halted:
            events = [near[event_id] for event_id in _union(hits) if event_id in near]
            parts, judged = _judged(asked, calls, parts, weights, events, meter)
    if brief and not judged and not calls.halted:
        return None
    took = calls.spending.elapsed_ms() - began
    return Support(_softmax(parts.levels(weights)), parts, brief, closest, near, judged, meter, began, took)


def _hits_by_choice(
    asked: Asked, calls: Calls, compared: Sequence[str], limit: int, shown: Sequence[StoredEvent] | None
) -> list[tuple[Hit, ...]]:
    """Return for each choice the events most similar to it, best first, ties by id, at most limit of them."""
    embedder = asked.models.text_embedder
    if shown is not None and not shown:
        return [()]
    vectors = embedder.embed(list(compared), meter=calls.meter)
    if shown is None:
        views = (asked.graph.search_views({"event": ViewQuery(vector, limit)}, floor=-1.0) for vector in vectors)
        return [tuple(found["event"]) for found in views]
    cosines = vectors @ embedder.embed([event.summary for event in shown], meter=calls.meter).T
    hits = [
        [Hit(event.id, float(cosine), "event", event.id) for cosine, event in zip(row, shown, strict=True)]
        for row in cosines
    ]
    return [tuple(sorted(of_choice, key=lambda hit: (-hit.similarity, hit.event_id))[:limit]) for of_choice in hits]


def _judged(
    asked: Asked,
    calls: Calls,
    parts: Parts,
    weights: SupportWeights,
    events: Sequence[StoredEvent],
    meter: BranchMeter,
) -> tuple[Parts, tuple[int, ...]]:
    """Return parts with the reasoner's odds, and the choices that it judged: none of them, or MOST_JUDGED at most."""
    levels = parts.levels(weights)
    likely = sorted(sorted(range(len(levels)), key=lambda choice: (-levels[choice], choice))[:MOST_JUDGED])
    odds = _judge_choices(asked, calls, likely, events, meter=meter)
    if not odds:
        return parts, ()
    odds_of = dict(zip(likely, odds, strict=True))
    return replace(parts, odds=np.asarray([odds_of.get(n, min(odds)) for n in range(len(levels))])), tuple(likely)


def _judge_choices(
    asked: Asked, calls: Calls, choices: Sequence[int], events: Sequence[StoredEvent], *, meter: BranchMeter
) -> tuple[float, ...]:
    """Return the log-odds that each choice is right, given the events, best first, at the reasoner's temperature.

    The choices are judged one after another, so that each finds the events in the server's cache. Returns () if there
    is no event or no room for one, if the reasoner failed, declined or returned no probabilities, or if the budget
    ended; then calls.halted says so.
    """
    odds: list[float] = []
    support = asked.models.calibration.support
    temperature = support.temperature.value if support is not None else 1.0
    shown = _judged_lines(asked, events)
    if not shown:
        return ()
    try:
        for choice in choices:
            prompt = load("judge_choice", asked.question.profile).substitute(
                events=shown, question=asked.searched, choice=asked.question.choices[choice]
            )
            samples = calls.ask(
                [Message("user", (prompt,))], stage="judge", meter=meter, max_tokens=1, alternatives=ALTERNATIVES
            )
            of_yes = log_odds(samples[0].first)
            if of_yes is None:
                return ()
            odds.append(of_yes / temperature)
    except Halt as halt:
        calls.halt(halt)
        return ()
    except ModelError:
        return ()
    return tuple(odds)


def _judged_lines(asked: Asked, ranking: Sequence[StoredEvent]) -> str:
    """Return the best events that fit judge_tokens, a line each, in order of time; "" if none does. If fewer than
    whole_events fit, these are judge_events (or all), each cut to its share of the tokens that an answer may read. They
    have no times and facts, which would take as many tokens as what happens."""
    count = asked.models.reasoner.count_tokens
    settings, window = asked.settings, asked.models.reasoner.context_tokens
    empty = load("judge_choice", asked.question.profile).substitute(
        events="", question=asked.searched, choice=max(asked.question.choices, key=len)
    )
    left = window - count_prompt(count, [Message("user", (empty,))]) - 1
    texts = [event_text(event) for event in ranking]
    costs = [count(f"99. {text}\n") for text in texts]
    fitting = bisect_right(list(accumulate(costs)), min(settings.support.judge_tokens, left))
    if fitting < min(settings.support.whole_events, len(ranking)):
        room = min(max(settings.support.judge_tokens, settings.prompt.context_tokens), left)
        fitting = min(settings.support.judge_events, len(ranking), max(0, room) // LEAST_TOKENS)
        given = shares(costs[:fitting], room)
        texts = [
            text if cost <= tokens else cut(text, count, tokens - NUMBER_TOKENS)
            for text, cost, tokens in zip(texts, costs, given, strict=False)
        ]
    shown = sorted(
        zip(ranking[:fitting], texts, strict=False), key=lambda one: (one[0].video_id, one[0].span, one[0].id)
    )
    videos = {video_id: n for n, video_id in enumerate(dict.fromkeys(event.video_id for event, _ in shown), start=1)}
    prefixes = {video_id: f"video {n}: " if len(videos) > 1 else "" for video_id, n in videos.items()}
    return "\n".join(f"{n}. {prefixes[event.video_id]}{text}" for n, (event, text) in enumerate(shown, start=1))


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

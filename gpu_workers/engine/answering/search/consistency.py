"""Thought consistency: which answer of a node's samples holds together best (AVA, section 5.3, eq. 4 to 6)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.presets import Traces
from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.languages.words import (
    all_words,
    content_words,
    denies,
    idle_words,
    numbers_of,
    plain,
    stemmed,
)
from gpu_workers.engine.models.calibration import SimilarityThresholds
from gpu_workers.engine.models.roles import Entailer, Meter, ModelError, Similarity

BROAD_WORDS = 7
"""Minimum content words of two broad answers, which may describe different parts of one thing."""

LEAST_SHARED_ITEMS = 2
"""Minimum number of items that two lists have in common to be parts of one list."""

LEAST_SHARED_PART = 0.5
"""Minimum part of the shorter list that both lists have in common; an initial value."""

LEAST_ENTAILED = 0.5
"""Minimum probability that each of two answers entails the other; an initial value."""

COMPATIBLE_SHARE = 0.6
"""Worth of a vote whose answers merely do not contradict each other. A vote whose answers say the same is worth 1."""

_BETWEEN_ITEMS = re.compile(r"[,;/、،]|\b(?:and|or|as well as|und|oder|sowie|y|o|et|ou)\b", re.IGNORECASE)
"""What stands between two items: marks of several scripts, and words of English, German, Spanish and French."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """How votes are scored. trade_off: lambda of eq. 6.

    rescale: whether traces score (x - baseline) / (1 - baseline), clipped to 0..1, else the raw x. compatible: whether
    open answers of which no two say the same may share a vote, worth COMPATIBLE_SHARE, if they do not contradict each
    other; the paper knows equal answers alone.
    """

    trade_off: float = 0.3
    rescale: bool = True
    compatible: bool = True
    traces: Traces = "f1"


@dataclass(frozen=True, slots=True)
class AnswerVote:
    """One distinct answer of a node. members: indices of its samples. representative: the index of the sample that
    speaks for it. agreement, thought, score: S_a, S_r, S."""

    members: tuple[int, ...]
    representative: int
    agreement: float
    thought: float
    score: float


def score_votes(
    samples: Sequence[ParsedAnswer | None],
    similarity: Similarity,
    *,
    thresholds: SimilarityThresholds,
    meter: Meter,
    question: str = "",
    scoring: Scoring = Scoring(),
    entailer: Entailer | None = None,
) -> list[AnswerVote]:
    """Return the distinct answers of n samples, best S first; ties fall to more votes, then to the earlier sample.

    samples: None where nothing could be read; it counts in n and votes for nothing. Abstentions are one answer.
    thresholds: those of the similarity. entailer: decides which open answers say the same, instead of the similarity.
    An answer with a single vote has S_r = 0: a single trace has none to agree with.
    """
    groups = group_answers(samples, similarity, thresholds, meter, question, entailer=entailer)
    worth = 1.0
    if scoring.compatible and not any(len(members) > 1 and _answers(samples, members) for members in groups):
        # Answers to a broad question each describe another part: none repeats another, none contradicts it.
        groups = group_answers(samples, similarity, thresholds, meter, question, compatible=True)
        worth = COMPATIBLE_SHARE
    votes = []
    for members in groups:
        agreement = len(members) / len(samples)
        traces = [samples[index].reasoning for index in members]  # type: ignore[union-attr]
        pairs = _pair_scores(traces, similarity, meter, scoring)
        thought = sum(pairs.values()) / len(pairs) if pairs else 0.0
        score = scoring.trade_off * agreement + (1 - scoring.trade_off) * thought
        score *= worth if len(members) > 1 and _answers(samples, members) else 1.0
        votes.append(AnswerVote(members, _medoid(members, pairs), agreement, thought, score))
    return sorted(votes, key=lambda vote: (-vote.score, -len(vote.members), vote.members[0]))


def _answers(samples: Sequence[ParsedAnswer | None], members: Sequence[int]) -> bool:
    """Whether the group gives an answer (an abstention does not)."""
    first = samples[members[0]]
    return first is not None and first.sufficient


def same_answer(
    left: ParsedAnswer, right: ParsedAnswer, question: str = "", *, compatible: bool = False, entailed: bool = False
) -> bool | None:
    """Whether two samples say the same, as far as words alone can show; None if only their meaning can.

    An answer may repeat words of the question or leave them out ("near the pole", "the person in red stands near the
    pole"). Apart from those, its numbers and its negation must match. Answers that are the same but for one word (open,
    closed) are two answers: this word is what they say, and models of similarity hardly see it. entailed: an entailer
    sees it, so that it decides. compatible: one answer may have numbers that the other lacks, since that contradicts
    nothing, and two lists that have enough items in common are parts of one list.
    """
    if left.sufficient != right.sufficient:
        return False
    if not left.sufficient or (left.choice is not None and right.choice is not None):
        return left.choice == right.choice
    if left.text == right.text or plain(left.text) == plain(right.text):
        return True
    language = left.language or right.language
    if denies(left.text, language) != denies(right.text, language):
        return False
    fewer, more = sorted((numbers_of(text, language) for text in (left.text, right.text)), key=len)
    if compatible and fewer and not fewer & more:
        return False
    if not compatible and (not fewer <= more or more - fewer - numbers_of(question, language)):
        return False
    if not entailed and _minimal_pair(left.text, right.text, language):
        return False
    if _repeats(left.text, right.text, question, language):
        return True
    return True if compatible and _share_items(left.text, right.text, question, language) else None


def _minimal_pair(left: str, right: str, language: str) -> bool:
    """Whether the texts are word for word the same but for one word ("the door is open", "the door is closed"), or for
    two that have changed places ("the dog follows the man"). An article decides nothing: it stands before a word that
    has a meaning, and a particle (on, off) does not."""
    words = [all_words(text, language) for text in (left, right)]
    ours, theirs = (stemmed(of_text, language or ENGLISH) for of_text in words)
    if len(ours) != len(theirs):
        return False
    idle = idle_words(language or ENGLISH)
    moved = [index for index, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    if len(moved) == 2 and sorted(ours) == sorted(theirs):
        return not idle.issuperset(words[0][moved[0] + 1 : moved[1]])
    if len(moved) != 1:
        return False
    (place,) = moved
    grammatical = all(of_text[place] in idle for of_text in words)
    return not grammatical or idle.issuperset(words[0][place + 1 : place + 2])


def _repeats(left: str, right: str, question: str, language: str) -> bool:
    """Whether one text holds all content words of the other, apart from the question's."""
    of_question = content_words(question, language)
    ours, theirs = (content_words(text, language) - of_question for text in (left, right))
    fewer, more = sorted((ours, theirs), key=len)
    return bool(fewer) and fewer <= more


def _share_items(left: str, right: str, question: str, language: str) -> bool:
    """Whether both texts are lists, and enough items of the shorter list are in the other, in more or fewer words."""
    shorter, longer = sorted((_items(text, question, language) for text in (left, right)), key=len)
    shared = sum(any(item <= other or other <= item for other in longer) for item in shorter)
    return shared >= max(LEAST_SHARED_ITEMS, LEAST_SHARED_PART * len(shorter))


def _items(text: str, question: str, language: str) -> list[frozenset[str]]:
    """Return the distinct items of a list by their content words, apart from the question's; one item if text is no
    list."""
    of_question = content_words(question, language)
    items = (content_words(item, language) - of_question for item in _BETWEEN_ITEMS.split(text))
    return list(dict.fromkeys(item for item in items if item))


def _broad(answer: ParsedAnswer) -> bool:
    return len(content_words(answer.text, answer.language)) >= BROAD_WORDS


def group_answers(
    samples: Sequence[ParsedAnswer | None],
    similarity: Similarity,
    thresholds: SimilarityThresholds,
    meter: Meter,
    question: str = "",
    *,
    compatible: bool = False,
    entailer: Entailer | None = None,
) -> list[tuple[int, ...]]:
    """Return the indices of the readable samples in groups of one answer. A sample joins a group only if it means the
    same as every member. thresholds: those of the similarity. entailer: decides instead of the similarity, where words
    alone do not and the answers must say the same; if it fails, the similarity decides."""
    readable = {index: sample for index, sample in enumerate(samples) if sample is not None}

    def by_words(*, entailed: bool) -> dict[tuple[int, int], bool | None]:
        return {
            (left, right): same_answer(a, b, question, compatible=compatible, entailed=entailed)
            for (left, a), (right, b) in combinations(readable.items(), 2)
        }

    same: dict[tuple[int, int], bool | None] = {}
    if entailer is not None and not compatible:
        same = by_words(entailed=True)
        unclear = [pair for pair, one in same.items() if one is None]
        try:
            close = mutual(readable, unclear, entailer, meter, question) if unclear else set()
            same |= {pair: pair in close for pair in unclear}
        except ModelError:
            same = {}
    if not same:
        same = by_words(entailed=False)
        unclear = [pair for pair, one in same.items() if one is None]
        if compatible:
            unclear = [(a, b) for a, b in unclear if _broad(readable[a]) and _broad(readable[b])]
        texts = {index: sample.text for index, sample in readable.items()}
        scores = _scores(texts, unclear, similarity, meter, Scoring()) if unclear else {}
        least = thresholds.compatible_meaning if compatible else thresholds.same_meaning
        same |= {pair: score >= least.value for pair, score in scores.items()}
    groups: list[list[int]] = []
    for index in readable:
        group = next((group for group in groups if all(same[other, index] for other in group)), None)
        if group is None:
            groups.append([index])
        else:
            group.append(index)
    return [tuple(group) for group in groups]


def mutual(
    samples: Mapping[int, ParsedAnswer],
    pairs: Sequence[tuple[int, int]],
    entailer: Entailer,
    meter: Meter,
    question: str,
) -> set[tuple[int, int]]:
    """Return the pairs whose answers entail each other, read as answers to the question. Raises ModelError."""
    texts = {index: f"{question} {sample.text}".strip() for index, sample in samples.items()}
    both_ways = [(texts[a], texts[b]) for left, right in pairs for a, b in ((left, right), (right, left))]
    found = entailer.entail(both_ways, meter=meter)
    return {
        pair for n, pair in enumerate(pairs) if min(found[2 * n].entails, found[2 * n + 1].entails) >= LEAST_ENTAILED
    }


def _pair_scores(
    texts: Sequence[str], similarity: Similarity, meter: Meter, scoring: Scoring
) -> dict[tuple[int, int], float]:
    """Return BERTScore of each unordered pair, by indices in texts, each pair once."""
    pairs = list(combinations(range(len(texts)), 2))
    return _scores(dict(enumerate(texts)), pairs, similarity, meter, scoring) if pairs else {}


def _scores(
    texts: dict[int, str], pairs: Sequence[tuple[int, int]], similarity: Similarity, meter: Meter, scoring: Scoring
) -> dict[tuple[int, int], float]:
    order = sorted(texts)
    encoded = dict(zip(order, similarity.encode([texts[index] for index in order], meter=meter), strict=True))
    scores = similarity.score([encoded[left] for left, _ in pairs], [encoded[right] for _, right in pairs])
    values = scores.f1 if scoring.traces == "f1" else (scores.precision + scores.recall) / 2
    baseline = similarity.baseline if scoring.rescale else 0.0
    return {
        # An empty trace is no thought to agree with, whatever a scorer makes of it.
        pair: min(1.0, max(0.0, (float(raw) - baseline) / (1.0 - baseline)))
        if texts[pair[0]].strip() and texts[pair[1]].strip()
        else 0.0
        for pair, raw in zip(pairs, values, strict=True)
    }


def _medoid(members: Sequence[int], pairs: dict[tuple[int, int], float]) -> int:
    """Return the member whose trace is closest to the others'."""
    closeness = [0.0] * len(members)
    for (left, right), score in pairs.items():
        closeness[left] += score
        closeness[right] += score
    return members[max(range(len(members)), key=lambda index: (closeness[index], -index))]

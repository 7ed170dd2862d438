"""What a question asks for, learned from labelled examples: for a reasoner that is small, effort low, or a failed call.

A linear classifier a label, over the text embedder's vector of the question and its word n-grams. The examples are in
examples.toml; no rule here knows a word of any language. Words that many examples share are what people ask with; what
is left of a question is what it asks about.
"""

from __future__ import annotations

import re
import threading
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.answering.reading.times import times_in
from gpu_workers.engine.answering.understood import COSTLY, Comparison, Counting, Polarity, Route, Said, Shape, Subject
from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.languages.words import stemmed, stop_words, words_of
from gpu_workers.engine.models.roles import Meter, TextEmbedder
from gpu_workers.engine.retrieval.object_names import categories_named, colours_named, name_tokens

DEFAULTS: Mapping[str, str] = {
    "shape": "sentence", "polarity": "occurs", "counting": "total", "comparison": "none", "said": "none",
    "subject": "content",
}  # fmt: skip
"""Labels of an example that names none."""

WITHIN: Mapping[str, Route] = {"polarity": "scan", "said": "scan", "counting": "objects", "subject": "whole"}
"""Labels that only questions of one route have."""

MARGIN = 0.15
"""Probability by which a costly route must be likelier than search; from the floor of the measurement (docs/lab)."""

TIMED = 0.5
"""Value of the feature that says that the question names a time, next to vectors of length one."""

SMOOTHNESS = 30.0
"""Inverse strength of the classifiers' regularisation, chosen on questions that are not among the examples."""

SHARED = 4
"""Number of examples of a route that use a word from which it belongs to how people ask, not to what they ask about."""

MEANING_WITHIN = 0.3
"""Share of the vectors in the labels of one route: "ever" and "never" mean nearly the same to an embedder."""

LIKELY = 0.5
"""Minimum probability of a label that is not the default."""

_TOKEN = r"[\w']+"


@dataclass(frozen=True, slots=True)
class Labels:
    """What the examples nearest to a question say. route: the likeliest one. sure: False if it is costly and hardly
    likelier than search."""

    route: Route = "search"
    sure: bool = True
    shape: Shape = "sentence"
    polarity: Polarity = "occurs"
    said: Said = "none"
    counting: Counting = "total"
    comparison: Comparison = "none"
    subject: Subject = "content"


@dataclass(frozen=True, slots=True)
class _Example:
    question: str
    labels: Mapping[str, str]


class Reader:
    """Reads questions by the examples, over one text embedder. Making one embeds all examples, which takes seconds on a
    CPU: use reader_of(). Raises ModelError of the embedder."""

    def __init__(self, embedder: TextEmbedder, languages: Sequence[str] = (ENGLISH,)) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits

        examples = [example for example in _examples() if example.labels["language"] in languages]
        read = [times_in(example.question, example.labels["language"]) for example in examples]
        texts, timed = [text for _, text in read], np.array([bool(named.forms) for named, _ in read])
        self._embedder = embedder
        self._ngrams = TfidfVectorizer(ngram_range=(1, 3), sublinear_tf=True, token_pattern=_TOKEN).fit(texts)
        # What the service learns from is not the customer's use of a model: the calls go to a meter that nobody reads.
        vectors = embedder.embed(texts, meter=Meter())
        self._models: dict[str, Any] = {}
        for label in ("route", *DEFAULTS):
            route = WITHIN.get(label)
            rows = [n for n, example in enumerate(examples) if route in (None, example.labels["route"])]
            features = self._features(label, texts, vectors, timed)
            model = LogisticRegression(C=SMOOTHNESS, class_weight="balanced", max_iter=1_000)
            # A tenth of a second on one thread, and many seconds on several of a busy machine.
            with threadpool_limits(1):
                self._models[label] = model.fit(features[rows], [examples[n].labels[label] for n in rows])

    def read(self, question: str, *, timed: bool) -> Labels:
        """Return what the question asks for. question: without the words that name its time. timed: whether it names
        one. Raises ModelError of the embedder."""
        vector = self._embedder.embed([question], meter=Meter())

        def odds_of(label: str) -> dict[str, float]:
            model, features = self._models[label], self._features(label, [question], vector, np.array([timed]))
            return dict(zip(map(str, model.classes_), model.predict_proba(features)[0].tolist(), strict=True))

        odds = odds_of("route")
        if not timed:
            odds["time"] = 0.0
        route = max(odds, key=lambda name: odds[name])
        sure = route not in COSTLY or odds[route] - odds["search"] >= MARGIN

        def likeliest(label: str) -> Any:
            if WITHIN.get(label) not in (None, route):
                return DEFAULTS[label]
            found = odds_of(label)
            best = max(found, key=lambda name: found[name])
            return best if label == "shape" or found[best] >= LIKELY else DEFAULTS[label]

        return Labels(
            cast(Route, route), sure, likeliest("shape"), likeliest("polarity"), likeliest("said"),
            likeliest("counting"), likeliest("comparison"), likeliest("subject"),
        )  # fmt: skip

    def _features(
        self, label: str, texts: Sequence[str], vectors: NDArray[np.float32], timed: NDArray[np.bool_]
    ) -> Any:
        from scipy.sparse import csr_matrix, hstack

        share = MEANING_WITHIN if label in WITHIN else 1.0
        dense = np.hstack([share * vectors, TIMED * timed[:, None].astype(np.float32)])
        return hstack([csr_matrix(dense), self._ngrams.transform(list(texts))]).tocsr()


_readers: dict[tuple[type, str, int, tuple[str, ...]], Reader] = {}
_making = threading.Lock()


def reader_of(embedder: TextEmbedder, languages: Sequence[str]) -> Reader:
    """Return the reader over this embedder, made once in a process. languages: those that it understands, English if
    nobody knows. Raises ModelError of the embedder."""
    known = tuple(languages) or (ENGLISH,)
    with _making:
        key = (type(embedder), embedder.name, embedder.dimension, known)
        if key not in _readers:
            _readers[key] = Reader(embedder, known)
        return _readers[key]


def subject_words(question: str, route: Route, *, within: bool = False) -> list[str]:
    """Return the words of a question that are not those with which people ask such questions, in order, as written.

    Only both ends are cut, or with within also what lies between ("the person never waves"). A word that names a
    tracked thing or its colour is never cut.
    """
    words = re.findall(r"[\w'-]+", question)
    asking = _asking_words(route)
    tracked = [name_tokens(word) for word in words]
    kept = [
        n
        for n, word in enumerate(words)
        if word.casefold() not in asking or categories_named(tracked[n]) or colours_named(tracked[n])
    ]
    if within:
        return [words[n] for n in kept]
    return words[kept[0] : kept[-1] + 1] if kept else []


def topic_stems(question: str, language: str) -> tuple[str, ...]:
    """Return the stems of the words to which a question about the whole is narrowed; none if it is about all of it."""
    asking = _asking_words("whole")
    return tuple(dict.fromkeys(stemmed([word for word in words_of(question) if word not in asking], language)))


@cache
def _asking_words(route: Route) -> frozenset[str]:
    used = Counter(
        word
        for example in _examples()
        if example.labels["route"] == route and example.labels["language"] == ENGLISH
        for word in {word.casefold() for word in re.findall(r"[\w'-]+", example.question)}
    )
    return stop_words("en") | {word for word, count in used.items() if count >= SHARED}


@cache
def _examples() -> tuple[_Example, ...]:
    tables = tomllib.loads(resources.files(__package__).joinpath("examples.toml").read_text())["examples"]
    return tuple(
        _Example(
            question,
            {**DEFAULTS, "language": ENGLISH, **{name: value for name, value in table.items() if name != "questions"}},
        )
        for table in tables
        for question in table["questions"]
    )

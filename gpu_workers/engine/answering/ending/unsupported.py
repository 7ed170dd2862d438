"""Answers that nothing stands behind: no statement is supported, or all of it is the question again.

Such a text is kept and marked (`unsupported`), and its question is not charged like an answer.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import ClaimRecord
from gpu_workers.engine.languages.codes import ENGLISH, is_english
from gpu_workers.engine.languages.words import content_words, denies, stemmed, words_of

UNSUPPORTED = "unsupported"
"""Detail of an outcome whose text is shown, though nothing stands behind it."""

ECHO = 0.4
"""Probability that a reply says something below which it is an echo: 22 of 27 echoes that are not among the examples
are found, and none of 35 other replies (docs/lab/quality.md)."""

SMOOTHNESS = 30.0
"""Inverse strength of the classifier's regularisation."""


def is_unsupported(asked: Asked, text: str, claims: Sequence[ClaimRecord]) -> bool:
    """Whether nothing stands behind an open answer: none of its statements is supported, or it is an echo."""
    supported = any(claim.status == "supported" for claim in claims)
    return (not supported and _can_be_supported(asked, text)) or is_echo(asked, text)


def _can_be_supported(asked: Asked, text: str) -> bool:
    """Whether there is a judge who could have found support, if there was any.

    A model judges every statement. Words do not understand a language that the embedder does not know, and they cannot
    support a denial: that no event shows a train is what "no" rests on, and no event says it.
    """
    if asked.entailer is not None or asked.settings.verify_citations:
        return True
    language = asked.answer_language
    return not denies(text) if is_english(language) else language in asked.models.embedder_languages


def is_echo(asked: Asked, text: str) -> bool:
    """Whether an open answer says nothing that its question does not say already.

    An echo has content words, and all of them are the question's: a bare yes, a number or a name is none. Labelled
    examples then decide whether such a reply answers such a question, as "the door is open" does "is the door open?". A
    language without examples has no echoes.
    """
    questions = {asked.question_language or ENGLISH: asked.question.question}
    if asked.translated:
        # A small reasoner may answer in English, and be translated afterwards.
        questions.setdefault(ENGLISH, asked.in_english)
    return any(_echoes(question, text, language) for language, question in questions.items())


def _echoes(question: str, text: str, language: str) -> bool:
    if language not in _taught().languages:
        return False
    words = content_words(text, language)
    if not words or not words <= content_words(question, language):
        return False
    return _taught().probability(question, text, language) < ECHO


@dataclass(frozen=True, slots=True)
class _Taught:
    """A classifier of replies that hold no word of their own. languages: those that it has examples of."""

    languages: frozenset[str]
    vectorizers: tuple[Any, ...]
    model: Any

    def probability(self, question: str, reply: str, language: str) -> float:
        """Return the probability that the reply says something."""
        from scipy.sparse import hstack

        features = _features(question, reply, language)
        row = hstack([made.transform([text]) for made, text in zip(self.vectorizers, features, strict=True)])
        return float(self.model.predict_proba(row.tocsr())[0][1])


_teaching = threading.Lock()


def _taught() -> _Taught:
    with _teaching:
        return _learn()


@cache
def _learn() -> _Taught:
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    tables = tomllib.loads(resources.files(__package__).joinpath("echoes.toml").read_text())["examples"]
    pairs = [
        (table["language"], question, reply, says)
        for table in tables
        for says in (False, True)
        for question, reply in table["adds" if says else "echoes"]
    ]
    columns = list(zip(*(_features(question, reply, language) for language, question, reply, _ in pairs), strict=True))
    vectorizers = tuple(TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3), sublinear_tf=True) for _ in columns)
    rows = hstack([made.fit_transform(texts) for made, texts in zip(vectorizers, columns, strict=True)]).tocsr()
    model = LogisticRegression(C=SMOOTHNESS, class_weight="balanced", max_iter=2_000)
    with threadpool_limits(1):
        model.fit(rows, [says for *_, says in pairs])
    return _Taught(frozenset(table["language"] for table in tables), vectorizers, model)


def _features(question: str, reply: str, language: str) -> tuple[str, str, str]:
    """Return the question with its beginning marked, the words that the reply adds, and those that it leaves out."""
    asked, said = words_of(question), words_of(reply)
    asked_stems, said_stems = stemmed(asked, language), stemmed(said, language)
    added = [word for word, stem in zip(said, said_stems, strict=True) if stem not in asked_stems]
    left_out = [word for word, stem in zip(asked, asked_stems, strict=True) if stem not in said_stems]
    return f"^ {question.casefold()}", " ".join(added) or "-", " ".join(left_out) or "-"

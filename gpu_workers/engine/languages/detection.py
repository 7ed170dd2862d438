"""The language of a short text, by py3langid: a naive Bayes model over byte n-grams that needs no network."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any

from gpu_workers.engine.languages.codes import CODES, ENGLISH

SURE = 0.3
"""Minimum probability of a language among CODES. Over 90 questions of two to eight words in 15 languages, 89 were right
and none unknown; over 9,000 English sentences of five data sets one was wrong (docs/lab/evaluation.md)."""

MOST_ENGLISH = 0.05
"""Maximum probability of English for a text in another language: an English question is never taken for another."""

NEAR = 0.25
"""Share of the likeliest language's probability that a language near to it has (Spanish next to Galician)."""

FAR = 10.0
"""How much likelier another language is than those that a text is not in. Three of 68 English queries of one to seven
words are taken for others, and eight of 69 German and Spanish ones for English (bench/evaluation/search_queries.json).
"""

LONGEST = 2_000
"""Number of characters that are read."""

_QUOTED = re.compile(r"\"[^\"]*\"|„[^„“”\"]*[“”\"]|“[^“”]*”|«[^«»]*»|「[^「」]*」")
_loading = threading.Lock()


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of the language that text is written in, "" if that is not certain.

    Words in double quotation marks do not count if there are others: they may be quoted from another language.
    """
    text = " ".join(text.split())[:LONGEST]
    return _detected(_QUOTED.sub(" ", text)) or _detected(text)


def _detected(text: str) -> str:
    probabilities = _probabilities(text)
    language = max(probabilities, key=lambda code: probabilities[code], default="")
    if not language or probabilities[language] < SURE:
        return ""
    return language if language == ENGLISH or probabilities[ENGLISH] <= MOST_ENGLISH else ""


def may_be_in(language: str, text: str) -> bool:
    """Whether text may be written in the language: where its language shows, the language is among the likeliest and
    no less likely than English; in a shorter text it is at least half as likely as English."""
    text = " ".join(text.split())[:LONGEST]
    unquoted = _QUOTED.sub(" ", text)
    probabilities = _probabilities(unquoted if _has_letters(unquoted) else text)
    if not probabilities:
        return True
    best, own, english = max(probabilities.values()), probabilities[language], probabilities[ENGLISH]
    if best < SURE:
        return own >= english / 2
    return own >= english and own >= NEAR * best


def is_in_another(languages: Collection[str], text: str) -> bool:
    """Whether another language is at least FAR times as likely as any of these. A short text may be in many."""
    probabilities = _probabilities(" ".join(text.split())[:LONGEST])
    known = max((probabilities.get(language, 0.0) for language in languages), default=0.0)
    return bool(probabilities) and max(probabilities.values()) >= FAR * known


@lru_cache(maxsize=4_096)
def _probabilities(text: str) -> dict[str, float]:
    """Return the probability of each of CODES; nothing for a text without letters."""
    if not _has_letters(text):
        return {}
    with _loading:
        identifier = _identifier()
    return dict(identifier.rank(text))


def _has_letters(text: str) -> bool:
    return any(character.isalpha() for character in text)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # its model takes a second to unpack

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(CODES)
    return identifier

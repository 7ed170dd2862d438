"""An answer as claims: statements that evidence can support or contradict one by one."""

from __future__ import annotations

import re

from gpu_workers.engine.answering.contract import CitationStatus
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.words import content_words
from gpu_workers.engine.languages.codes import is_english

MAX_CLAIMS = 6

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'])")
_ANY_SENTENCE = re.compile(r"(?<=[.!?\u061f\u06d4\u0964])\s+|(?<=[\u3002\uff01\uff1f])\s*")
"""Ends of sentences in other scripts: of Arabic, Urdu, Hindi, Chinese and Japanese."""
_CLAUSE = re.compile(r"\s*;\s+|,\s+(?=(?:but|then|and then|while|whereas)\s)")
_ABBREVIATED = re.compile(r"\b(?:mr|mrs|ms|dr|st|no|vs|approx|e\.g|i\.e|[a-z])\.$", re.IGNORECASE)


def claims_of(answer: ParsedAnswer) -> tuple[str, ...]:
    """Return the claims of an answer in its own words and order, at most MAX_CLAIMS; the last one takes the rest.

    A chosen option is one claim. An open answer is split at sentences, and an English one also at semicolons, "but",
    "then" and "while" where both sides say something of their own.
    """
    if answer.choice is not None:
        return (answer.text,)
    claims: list[str] = []
    for sentence in _sentences(answer.text, _SENTENCE if is_english(answer.language) else _ANY_SENTENCE):
        claims += _clauses(sentence) if is_english(answer.language) else [sentence]
    if len(claims) > MAX_CLAIMS:
        claims[MAX_CLAIMS - 1 :] = [" ".join(claims[MAX_CLAIMS - 1 :])]
    return tuple(claims) or (answer.text,)


def standing(statuses: list[CitationStatus]) -> CitationStatus:
    """Return the status of a claim by its citations: one that supports it is enough, else one that contradicts."""
    if "supported" in statuses:
        return "supported"
    return "contradicted" if "contradicted" in statuses else "unverified"


def _sentences(text: str, end: re.Pattern[str]) -> list[str]:
    parts: list[str] = []
    for part in end.split(text.strip()):
        if parts and _ABBREVIATED.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {part}"
        elif part:
            parts.append(part)
    return parts


def _clauses(sentence: str) -> list[str]:
    parts: list[str] = []
    for part in _CLAUSE.split(sentence):
        if parts and (len(content_words(part)) < 2 or len(content_words(parts[-1])) < 2):
            parts[-1] = f"{parts[-1]}, {part}"
        elif part.strip():
            parts.append(part.strip())
    return parts

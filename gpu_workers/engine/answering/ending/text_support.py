"""Whether a text supports a claim: by words and cosine alone, or by an entailer."""

from __future__ import annotations

import re

from gpu_workers.engine.answering.contract import CitationStatus
from gpu_workers.engine.answering.words import (
    content_forms,
    content_words,
    decisive_words,
    miscounted,
    negated_words,
    opposed,
)
from gpu_workers.engine.languages.codes import ENGLISH, is_english
from gpu_workers.engine.languages.words import numbers_of
from gpu_workers.engine.models.roles import Entailment

SAME_WORDS = 0.6
"""Minimum share of the claim's content words that a passage holds; an initial value."""

HALF = 0.5
"""Share of the claim's content words that a passage holds, below which what it does not hold must be close in sense by
itself: the words that both have make any claim about the same things close."""

SURE = 0.7
"""Minimum probability of an entailer's verdict on a claim; an initial value."""

_OPPOSITE: dict[CitationStatus, CitationStatus] = {
    "supported": "contradicted",
    "contradicted": "supported",
    "unverified": "unverified",
}
_REPLY = re.compile(r"^\W*(yes|no)(?=\W*$|\s*[,.:;!-])\W*", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many (\w+(?: (?!are|is|were|was|do|did|can|ha|will|in|on|at)\w+){0,2})", re.IGNORECASE)


def text_verdict(
    claim: str,
    passage: str,
    quote: str,
    closeness: float,
    *,
    sense: float,
    added: float | None = None,
    question: str = "",
    language: str = "",
) -> CitationStatus:
    """Return supported, contradicted or unverified.

    quote: the sentence of passage nearest to the claim. closeness: cosine of claim and passage. sense: minimum
    closeness that replaces shared words (Calibration.same_sense). added: cosine of added_words() and passage, None
    without any. question: lends its words to a claim that is only yes, no or a number. language: ISO 639-1 code of the
    claim, "" for English.

    Supported: passage is close in words or sense, has every number, direction and colour of the claim, denies what the
    claim denies and nothing else of it, and says nothing opposite. Contradicted: quote says the same words with another
    count of the same thing, the opposite (opens, closes), or denies what the claim says, or the reverse. A claim that
    is not in English has words of its own: the passage, close in sense, supports it if it has all of its numbers.
    """
    if not is_english(language):
        held = numbers_of(passage, language) | numbers_of(passage, ENGLISH)
        return "supported" if closeness >= sense and numbers_of(claim, language) <= held else "unverified"
    statement, denied = statement_of(claim, question)
    close = denied is None and closeness >= sense and (added is None or added >= sense)
    verdict = _verdict(statement, passage, quote, close)
    return _OPPOSITE[verdict] if denied else verdict


def entailed_verdict(entailment: Entailment, *, denied: bool | None) -> CitationStatus:
    """Return the verdict of an entailer on (passage, statement). denied: whether the claim denies the statement."""
    verdict: CitationStatus = "unverified"
    if entailment.entails >= SURE:
        verdict = "supported"
    elif entailment.contradicts >= SURE:
        verdict = "contradicted"
    return _OPPOSITE[verdict] if denied else verdict


def best_sentence(passage: str, claim: str) -> str:
    """Return the sentence or clause of passage that shares most content words with claim; the first of equals."""
    sentences = [sentence.strip().rstrip(";") for sentence in re.split(r"(?<=[.!?;])\s+", passage) if sentence.strip()]
    words = content_words(claim)
    return max(sentences, key=lambda sentence: len(words & content_words(sentence)), default="")


def added_words(claim: str, passage: str) -> str:
    """Return the content words of a claim that passage does not have, if it has some of them but less than HALF."""
    words, held = content_words(claim), content_words(passage)
    named = {word for word in words if not word.isdigit()}
    shared = len(named & held)
    if not shared or shared >= HALF * len(named):
        return ""
    return " ".join(word for word in content_forms(claim) if not word.isdigit() and not content_words(word) & held)


def statement_of(claim: str, question: str) -> tuple[str, bool | None]:
    """Return the claim as a full statement, and whether a bare reply (yes, no, a number) denies it; None if the claim
    is a statement of its own."""
    reply = _REPLY.match(claim)
    rest = claim[reply.end() :] if reply else claim
    words = content_words(rest)
    if reply and not words:
        return question, reply.group(1).lower() == "no"
    many = _HOW_MANY.search(question)
    if many and words and all(word.isdigit() for word in words):
        return f"{rest.strip().rstrip('.')} {many.group(1)}", None
    if question and words and all(word.isdigit() for word in words):
        # A time or a number that stands in the passage says nothing of what was asked.
        return f"{question} {rest}", False
    return rest, None


def _verdict(claim: str, passage: str, quote: str, close: bool) -> CitationStatus:
    words = content_words(claim)
    if not words:
        return "unverified"
    named = {word for word in words if not word.isdigit()} or words
    quoted = content_words(quote)
    overlap = len(named & quoted) / len(named)
    opposite = opposed(claim, passage, strictly=True)
    if overlap >= SAME_WORDS and (_denied(claim, quote) or miscounted(claim, passage) or opposite):
        return "contradicted"
    if _denied(claim, quote) or opposite:
        return "unverified"
    if negated_words(claim) and not negated_words(claim) & negated_words(passage):
        return "unverified"
    decisive = decisive_words(claim) - {"yes", "not"}
    if re.search(r"\ban?\b", passage.lower()):
        decisive -= {"1"}
    held = len(named & content_words(passage)) / len(named)
    if decisive <= decisive_words(passage) and (held >= SAME_WORDS or close):
        return "supported"
    return "unverified"


def _denied(left: str, right: str) -> bool:
    """Whether one text denies a word that the other one affirms."""
    ours, theirs = negated_words(left), negated_words(right)
    return bool(ours & (content_words(right) - theirs) or theirs & (content_words(left) - ours))

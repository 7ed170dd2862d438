"""An answer as claims: statements that evidence supports or contradicts one by one, and what words say about them.

Words and cosine find support. They never contradict: a list of opposites deletes true statements ("a man stands by the
woman who sits"), so that a contradiction is found by a model alone (ending.verify).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpu_workers.engine.answering.contract import CitationStatus
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.languages.codes import ENGLISH, is_english
from gpu_workers.engine.languages.words import content_forms, content_words, denies, numbers_of

MAX_CLAIMS = 6

SAME_WORDS = 0.8
"""Minimum share of the claim's content words that a passage holds to support it by words alone; an initial value."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'])")
_ANY_SENTENCE = re.compile(r"(?<=[.!?\u061f\u06d4\u0964])\s+|(?<=[\u3002\uff01\uff1f])\s*")
"""Ends of sentences in other scripts: of Arabic, Urdu, Hindi, Chinese and Japanese."""
_CLAUSE = re.compile(r"\s*;\s+|,\s+(?=(?:but|then|and then|while|whereas)\s)")
_ABBREVIATED = re.compile(r"\b(?:mr|mrs|ms|dr|st|no|vs|approx|e\.g|i\.e|[a-z])\.$", re.IGNORECASE)
_REPLY = re.compile(r"^\W*(yes|no)(?=\W*$|\s*[,.:;!-])\W*", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many (\w+(?: (?!are|is|were|was|do|did|can|ha|will|in|on|at)\w+){0,2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FullStatement:
    """A claim as a full statement. reply: "yes" or "no" if the claim is nothing but that; the statement is then the
    question."""

    text: str
    reply: str = ""


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


def claim_status(statuses: list[CitationStatus]) -> CitationStatus:
    """Return the status of a claim by its citations: one that supports it is enough, else one that contradicts."""
    if "supported" in statuses:
        return "supported"
    return "contradicted" if "contradicted" in statuses else "unverified"


def statement_of(claim: str, question: str) -> FullStatement:
    """Return a claim with the words of its question if it is only yes, no or a number."""
    reply = _REPLY.match(claim)
    rest = claim[reply.end() :] if reply else claim
    words = content_words(rest)
    if reply and not words:
        return FullStatement(question, reply.group(1).lower())
    if question and words and all(word.isdigit() for word in words):
        # A number that stands in the passage says nothing of what was asked.
        many = _HOW_MANY.search(question)
        return FullStatement(f"{rest.strip().rstrip('.')} {many.group(1)}" if many else f"{question} {rest}")
    return FullStatement(rest)


def supports(
    passage: str,
    claim: str,
    *,
    closeness: float,
    sense: float,
    missing: float | None = None,
    question: str = "",
    language: str = "",
) -> bool:
    """Whether a passage supports a claim, by words and cosine.

    It has every number of the claim, and nearly all of its words or nearly its sense. Its nearest sentence denies
    something if and only if the claim does. closeness: cosine of claim and passage. sense: minimum closeness that
    replaces shared words (Calibration.same_sense). missing: cosine of missing_words() and passage, None without any.
    question: lends its words to a claim that is only a number; a bare yes or no is never supported by closeness, since
    a question is as close to a passage whatever the answer is. language: ISO 639-1 code of the claim, "" for English.
    A claim in another language than the passage shares no words with it.
    """
    if not is_english(language):
        held = numbers_of(passage, language) | numbers_of(passage, ENGLISH)
        return closeness >= sense and numbers_of(claim, language) <= held
    statement = statement_of(claim, question)
    words = content_words(statement.text)
    if not words or statement.reply == "no" or denies(statement.text) != denies(best_sentence(passage, statement.text)):
        return False
    if not numbers_of(statement.text, language) <= numbers_of(passage, language):
        return False
    close = not statement.reply and closeness >= sense and (missing is None or missing >= sense)
    return close or _share(words, content_words(passage)) >= SAME_WORDS


def missing_words(claim: str, passage: str) -> str:
    """Return the content words of a claim that passage does not have, if it has some of them but too few to support it:
    the words that both have make any claim about the same things close, so these must be close by themselves."""
    words, held = content_words(claim), content_words(passage)
    if not words & held or _share(words, held) >= SAME_WORDS:
        return ""
    return " ".join(word for word in dict.fromkeys(content_forms(claim)) if not content_words(word) & held)


def best_sentence(passage: str, claim: str) -> str:
    """Return the sentence or clause of passage that shares most content words with claim; the first of equals."""
    sentences = [sentence.strip().rstrip(";") for sentence in re.split(r"(?<=[.!?;])\s+", passage) if sentence.strip()]
    words = content_words(claim)
    return max(sentences, key=lambda sentence: len(words & content_words(sentence)), default="")


def _share(words: frozenset[str], held: frozenset[str]) -> float:
    """Return the share of a claim's words that a passage holds; numbers are compared apart."""
    named = frozenset(word for word in words if not word.isdigit()) or words
    return len(named & held) / len(named)


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

"""An answer as claims: statements that evidence supports or contradicts one by one, and what words say about them.

Words and cosine find support. They never contradict: a list of opposites deletes true statements ("a man stands by the
woman who sits"), so that a contradiction is found by a model alone (ending.verify).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.answering.contract import CitationRecord, CitationStatus, ClaimRecord
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.codes import ENGLISH, is_english
from gpu_workers.engine.languages.words import content_forms, content_words, denies, numbers_of, plain
from gpu_workers.engine.ports import StoredEvent, StoredFrame

MAX_CLAIMS = 6

SAME_WORDS = 0.8
"""Minimum share of the claim's content words that a passage holds to support it by words alone; an initial value."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'])")
_ANY_SENTENCE = re.compile(r"(?<=[.!?\u061f\u06d4\u0964])\s+|(?<=[\u3002\uff01\uff1f])\s*")
"""Ends of sentences in other scripts: of Arabic, Urdu, Hindi, Chinese and Japanese."""
_CLAUSE = re.compile(r"(?<!\s)\s*;\s+|,\s+(?=(?:but|then|and then|while|whereas)\s)")
_ABBREVIATED = re.compile(r"\b(?:mr|mrs|ms|dr|st|no|vs|approx|e\.g|i\.e|[a-z])\.$", re.IGNORECASE)
_REPLY = re.compile(r"^\W*(yes|no)(?=\W*$|\s*[,.:;!-])\W*", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many (\w+(?: (?!are|is|were|was|do|did|can|ha|will|in|on|at)\w+){0,2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the answer. cited: the events that it names itself; None if the answer names them as a whole."""

    text: str
    cited: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A statement with the verdict of each event that is cited for it. closeness: cosine of the statement and the
    event's words; events that could not be embedded are missing."""

    text: str
    statuses: Mapping[UUID, CitationStatus]
    closeness: Mapping[UUID, float] = field(default_factory=dict)

    @property
    def status(self) -> CitationStatus:
        return claim_status(list(self.statuses.values()))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Statements in their order, and by cited event the frame that shows it best."""

    statements: tuple[CheckedStatement, ...]
    frames: Mapping[UUID, StoredFrame]


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
    if len(sentences) < 2:
        return "".join(sentences)
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


# --- citations, strongest first, and claims with the citations of each -----------------------------------------------

_STRENGTH: dict[CitationStatus, int] = {"supported": 0, "unverified": 1, "contradicted": 2}

TENTHS = 1
"""Decimals of closeness that count as strength. Events that differ by less are ordered by time."""


@dataclass(frozen=True, slots=True)
class _Cited:
    """One happening that is cited: an event, or several that follow each other and read the same. events: strongest
    first. claims: indices of the statements."""

    events: tuple[StoredEvent, ...]
    span: Span
    claims: tuple[int, ...]
    status: CitationStatus
    closeness: float | None

    @property
    def strength(self) -> tuple[int, float]:
        return _STRENGTH[self.status], -round(self.closeness or 0.0, TENTHS)


def cite(
    asked: Asked, node: AnswerNode, evidence: Evidence
) -> tuple[tuple[CitationRecord, ...], tuple[ClaimRecord, ...]]:
    """Return the citations, ordered by strength and then by time, and the claims with their citations.

    Strength is the status, then the closeness in tenths. Events that follow each other in a video and read the same are
    one citation, with the event that speaks most for the claims and the span of all of them.
    """
    events = {event.id: event for event in node.context.events.values()}
    ids = dict.fromkeys(event_id for statement in evidence.statements for event_id in statement.statuses)
    cited = [_once(evidence, group) for group in _happenings([events[event_id] for event_id in ids])]
    cited.sort(key=lambda one: (*one.strength, one.events[0].video_id, one.span.start_ms))
    place = {event.id: position for position, one in enumerate(cited) for event in one.events}
    claims = tuple(
        ClaimRecord(
            statement.text, statement.status, tuple(sorted({place[event_id] for event_id in statement.statuses}))
        )
        for statement in evidence.statements
    )
    return tuple(_record(asked, evidence, one) for one in cited), claims


def _happenings(events: Sequence[StoredEvent]) -> list[list[StoredEvent]]:
    """Return events in groups that follow each other in one video and read the same."""
    groups: list[list[StoredEvent]] = []
    for event in sorted(events, key=lambda event: (event.video_id, event.span, event.id)):
        last = groups[-1][-1] if groups else None
        if (
            last is not None
            and last.video_id == event.video_id
            and event.span.start_ms <= last.span.end_ms
            and plain(event_text(last)) == plain(event_text(event))
        ):
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _once(evidence: Evidence, group: Sequence[StoredEvent]) -> _Cited:
    statuses: dict[UUID, CitationStatus] = {}
    closest: dict[UUID, float] = {}
    claims: list[int] = []
    for index, statement in enumerate(evidence.statements):
        for event in group:
            if event.id in statement.statuses:
                claims.append(index)
                statuses[event.id] = claim_status([statement.statuses[event.id], *_known(statuses, event.id)])
            if event.id in statement.closeness:
                closest[event.id] = max(statement.closeness[event.id], closest.get(event.id, 0.0))
    ranked = sorted(group, key=lambda event: (_STRENGTH[statuses[event.id]], -closest.get(event.id, 0.0), event.span))
    return _Cited(
        tuple(ranked),
        Span(min(event.span.start_ms for event in group), max(event.span.end_ms for event in group)),
        tuple(dict.fromkeys(claims)),
        claim_status(list(statuses.values())),
        min(1.0, max(0.0, *closest.values(), 0.0)) if closest else None,
    )


def _known(statuses: dict[UUID, CitationStatus], event_id: UUID) -> list[CitationStatus]:
    return [statuses[event_id]] if event_id in statuses else []


def _record(asked: Asked, evidence: Evidence, cited: _Cited) -> CitationRecord:
    event = cited.events[0]
    frame = evidence.frames.get(event.id)
    said = " ".join(evidence.statements[index].text for index in cited.claims)
    return CitationRecord(
        event.video_id,
        event.id,
        cited.span.start_ms,
        cited.span.end_ms,
        frame.ms if frame else None,
        frame.id if frame else None,
        best_sentence(event_text(event), f"{asked.question.question} {said}"),
        cited.status,
        cited.claims,
        cited.closeness,
    )

"""The final answer of a question: its text as the question asks for it, with evidence for every statement and none
against it, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Canceled
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import (
    Answer,
    AnswerPart,
    CitationRecord,
    ClaimRecord,
    FinishReason,
    NodeRecord,
)
from gpu_workers.engine.answering.ending.claims import CheckedStatement, Evidence, Statement, cite, claims_of
from gpu_workers.engine.answering.ending.compose import Composed, ComposedPart, compose, rendered, revised
from gpu_workers.engine.answering.ending.evidence import Checks, find_evidence
from gpu_workers.engine.answering.ending.unsupported import UNSUPPORTED, is_unsupported
from gpu_workers.engine.answering.ending.vote import Head, Signals, Verdict, confidence, doubted_refusal, unconfirmed
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.understood import Shape
from gpu_workers.engine.languages.words import numbers_of

NOTHING_SHOWN = "nothing_shown"
"""Detail of an abstention because the method found nothing that it could show."""

CONTRADICTED = "contradicted"
"""Detail of an abstention because the evidence contradicts every statement of the answer."""

QUOTED_CHARACTERS = 160
"""Maximum characters of a statement in a note."""


@dataclass(frozen=True, slots=True)
class _Written:
    """The text of an answer and what it rests on. text: "" if every statement was contradicted. claims: the statements,
    with those that were left out of the text. supported, contradicted: shares of the statements as they were first
    written, 0 to 1. notes: what was changed."""

    text: str
    citations: tuple[CitationRecord, ...]
    claims: tuple[ClaimRecord, ...]
    supported: float
    contradicted: float
    shape: Shape = "sentence"
    columns: tuple[str, ...] = ()
    parts: tuple[AnswerPart, ...] = ()
    notes: tuple[str, ...] = ()


def final_answer(
    asked: Asked,
    calls: Calls,
    *,
    nodes: Sequence[AnswerNode],
    records: Sequence[NodeRecord],
    verdict: Verdict | None,
    top_similarity: float,
    support: Sequence[float] = (),
    single_sample: bool = False,
) -> Answer:
    """Return the Answer of a method.

    A verdict that is too weak is an abstention, unless the budget or the caller ended the search: then it is the best
    answer so far. support: the share of each choice by the events, if it was computed. single_sample: whether a single
    sample gave the answer, so that there is no consensus to measure.

    The text is composed after the vote, as the question asks. Statements of an open answer that the evidence
    contradicts are corrected in one call, and removed where this fails (settings.prompt.revise). An open answer that
    nothing stands behind keeps its text and is marked (ending.unsupported). A choice is never rewritten or marked.
    """
    # Many choices share the support, and a vote by itself is not weaker for it.
    firmness = max(verdict.score, verdict.vote or 0.0) if verdict else 0.0
    weak = verdict is not None and asked.settings.samples.abstain and firmness < asked.settings.samples.lowest_answer
    answer = verdict.node.answer if verdict and (calls.halted or not weak) else None
    written: _Written | None = None
    if verdict is None and (doubted := _doubted_refusal(asked, calls, nodes)) is not None:
        verdict, written = doubted
        answer = verdict.node.answer
    if verdict is None or answer is None:
        reason, detail = finish_reason(calls, nodes, answered=False, weak=weak)
        return without_text(calls, records, reason, detail)
    share = support[answer.choice] if support and answer.choice is not None else None
    signals = Signals(verdict.score, verdict.margin, top_similarity, share)
    if single_sample and signals.support is None:
        signals = unconfirmed(asked.settings.tree.gate, top_similarity)
    head: Head = "support" if signals.support is not None else "sample" if single_sample else "votes"
    written = written or _write(asked, calls, verdict.source or verdict.node, answer)
    calls.on_progress("citations", 1, 1, f"{len(written.citations)} citations")
    signals = replace(signals, supported=written.supported, contradicted=written.contradicted)
    reason, detail = finish_reason(calls, nodes, answered=True)
    if not written.text and reason == "answered":
        reason, detail = "insufficient_evidence", CONTRADICTED
    final = replace(
        without_text(calls, records, reason, detail), signals={**signals.named(), "head": head}, notes=written.notes
    )
    if not written.text:
        # The notes name what was left out; an outcome without an answer has no evidence.
        return final
    sure = confidence(signals, asked.models.calibration, head)
    if reason == "answered" and answer.choice is None and is_unsupported(asked, written.text, written.claims):
        final = replace(final, finish_reason="insufficient_evidence", detail=UNSUPPORTED)
        sure = None
    return replace(
        final,
        text=written.text,
        choice=answer.choice,
        confidence=sure,
        citations=written.citations,
        reasoning=answer.reasoning,
        claims=written.claims,
        shape=written.shape,
        parts=written.parts,
        columns=written.columns,
    )


def _doubted_refusal(asked: Asked, calls: Calls, nodes: Sequence[AnswerNode]) -> tuple[Verdict, _Written] | None:
    """Return an answer that the samples held back, if the events support every statement of it; else None.

    A small reasoner calls the same events insufficient for one wording of a question and answers another from them.
    """
    node = None if calls.halted or asked.question.choices else doubted_refusal(nodes)
    if node is None or node.answer is None:
        return None
    written = _write(asked, calls, node, node.answer)
    if not written.text or any(claim.status != "supported" for claim in written.claims):
        return None
    return Verdict(node, node.score, 0.0, node), written


def without_text(calls: Calls, records: Sequence[NodeRecord], reason: FinishReason, detail: str) -> Answer:
    """Return an Answer without text, with what the question has used so far."""
    return Answer(
        text="",
        choice=None,
        confidence=None,
        finish_reason=reason,
        nodes=tuple(records),
        usage=calls.spending.usage(),
        timings=calls.timings_so_far(),
        detail=detail,
    )


def finish_reason(
    calls: Calls, nodes: Sequence[AnswerNode], *, answered: bool, weak: bool = False
) -> tuple[FinishReason, str]:
    """Return the finish reason and its detail code."""
    if calls.halted is not None:
        return ("canceled" if isinstance(calls.halted, Canceled) else "budget"), calls.halted.code
    if answered:
        return "answered", ""
    if not nodes:
        return "insufficient_evidence", "no_events"
    if weak:
        return "insufficient_evidence", "no_consensus"
    if any(node.votes for node in nodes):
        return "insufficient_evidence", "abstained"
    codes = [node.draw.error for node in nodes]
    if "unreadable" in codes:
        return "insufficient_evidence", "unreadable"
    if "model_refused" in codes:
        return "refused", "model_refused"
    return "error", codes[0] or "model_unavailable"


def without_contradictions(
    asked: Asked, calls: Calls, node: AnswerNode, first: Evidence, wrong: Mapping[int, CheckedStatement]
) -> tuple[Evidence, list[str]]:
    """Return the statements after one revision of the wrong ones, and what was done. A statement that is still
    contradicted is left out of the text."""
    corrected = revised(asked, calls, node, wrong)
    again = Evidence((), {})
    if corrected:
        with calls.timed("citations"):
            whole = " ".join(statement.text for statement in corrected.values())
            again = find_evidence(
                asked, calls, node, list(corrected.values()), whole=whole, checks=Checks(frames=False)
            )
    new = {index: one for index, one in zip(corrected, again.statements, strict=True) if one.status != "contradicted"}
    notes = [
        f"A statement was {'corrected' if index in new else 'left out'} because the evidence contradicts it: "
        f'"{_short(statement.text)}"'
        for index, statement in wrong.items()
    ]
    after = tuple(new.get(index, statement) for index, statement in enumerate(first.statements))
    return Evidence(after, {**first.frames, **again.frames}), notes


def _write(asked: Asked, calls: Calls, node: AnswerNode, answer: ParsedAnswer) -> _Written:
    composed = None
    if asked.understood.shape != "sentence" and answer.choice is None:
        composed = compose(asked, calls, context=node.context, findings=node.findings, answer=answer)
    if composed is None:
        statements = [Statement(claim) for claim in claims_of(answer)]
    else:
        statements = [Statement(part.text, part.cited) for part in composed.parts]
    # A choice is given as it is, so that only an effort that looks at frames as well pays for the reasoner's verdict.
    checks = Checks(reasoner=answer.choice is None or asked.settings.verify_frames)
    with calls.timed("citations"):
        first = find_evidence(asked, calls, node, statements, whole=answer.text, checks=checks)
    wrong = {index: one for index, one in enumerate(first.statements) if one.status == "contradicted"}
    evidence, notes = first, _composing_notes(composed)
    if wrong and answer.choice is None and asked.settings.prompt.revise:
        evidence, changes = without_contradictions(asked, calls, node, first, wrong)
        notes += changes
    citations, claims = cite(asked, node, evidence)
    written = _Written(
        answer.text, citations, claims, _share(first, "supported"), _share(first, "contradicted"), notes=tuple(notes)
    )
    if composed is not None:
        return _in_parts(composed, evidence, written)
    if evidence is first:
        return written
    left = [one.text for one in evidence.statements if one.status != "contradicted"]
    return replace(written, text=" ".join(map(_sentence, left)))


def _in_parts(composed: Composed, evidence: Evidence, written: _Written) -> _Written:
    """Return the answer with the composed text. Its opening is a claim of its own, which rests on all parts."""
    kept = [index for index, one in enumerate(evidence.statements) if one.status != "contradicted"]
    parts = tuple(_changed(composed.parts[index], evidence.statements[index]) for index in kept)
    if not parts:
        return replace(written, text="")
    composed = replace(composed, parts=parts)
    text = rendered(composed, [written.claims[index].citations for index in kept])
    claims, citations, notes, offset = written.claims, written.citations, written.notes, 0
    if composed.opening:
        numbers = numbers_of(composed.opening, "")
        counted = numbers == {str(len(parts))}
        holds = counted and all(claims[index].status == "supported" for index in kept)
        everything = tuple(sorted({position for index in kept for position in claims[index].citations}))
        opening = ClaimRecord(composed.opening, "supported" if holds else "unverified", everything)
        claims, offset = (opening, *claims), 1
        citations = tuple(_of_opening(one, first=position in everything) for position, one in enumerate(citations))
        if numbers and not counted:
            notes = (*notes, f'The answer says "{_short(composed.opening)}"; places shown: {len(parts)}.')
    return replace(
        written,
        text=text,
        citations=citations,
        claims=claims,
        notes=notes,
        shape=composed.shape,
        columns=composed.columns,
        parts=tuple(AnswerPart(part.text, index + offset, part.cells) for index, part in zip(kept, parts, strict=True)),
    )


def _of_opening(citation: CitationRecord, *, first: bool) -> CitationRecord:
    """Return the citation with its claims counted from the opening, and with the opening if it is cited first."""
    claims = tuple(index + 1 for index in citation.claims)
    return replace(citation, claims=(0, *claims) if first else claims)


def _changed(part: ComposedPart, now: CheckedStatement) -> ComposedPart:
    """Return the part with the words and events of its statement. A corrected row of a table keeps them in its first
    cell, since nothing says to which columns they belong."""
    if part.text == now.text:
        return part
    cited: tuple[UUID, ...] = tuple(now.statuses)
    return ComposedPart(now.text, cited, (now.text, *[""] * (len(part.cells) - 1)) if part.cells else ())


def _composing_notes(composed: Composed | None) -> list[str]:
    if composed is None:
        return []
    notes = ["The text was cut off; parts may be missing."] if composed.cut else []
    if composed.uncited:
        parts = "1 part was" if composed.uncited == 1 else f"{composed.uncited} parts were"
        notes.append(f"{parts} left out because no event that was shown supports it.")
    return notes


def _share(evidence: Evidence, status: str) -> float:
    found = [statement.status == status for statement in evidence.statements]
    return sum(found) / len(found) if found else 0.0


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if re.search(r"[.!?。！？]$", text) else f"{text}."


def _short(text: str) -> str:
    return text if len(text) <= QUOTED_CHARACTERS else f"{text[: QUOTED_CHARACTERS - 1]}…"

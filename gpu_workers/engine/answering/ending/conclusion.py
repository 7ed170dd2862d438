"""From nodes to an Answer: why the search ended, and what it can say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Canceled
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer, FinishReason, NodeRecord
from gpu_workers.engine.answering.ending.confidence import Head, Signals, confidence, unconfirmed
from gpu_workers.engine.answering.ending.ending import end_of
from gpu_workers.engine.answering.ending.verdict import Verdict
from gpu_workers.engine.answering.search.summary_answer import AnswerNode

NOTHING_SHOWN = "nothing_shown"
"""Detail of an abstention because the method found nothing that it could show."""

CONTRADICTED = "contradicted"
"""Detail of an abstention because the evidence contradicts every statement of the answer."""


def conclude(
    asked: Asked,
    calls: Calls,
    *,
    nodes: Sequence[AnswerNode],
    records: Sequence[NodeRecord],
    verdict: Verdict | None,
    top_similarity: float,
    support: Sequence[float] = (),
    lone: bool = False,
) -> Answer:
    """Return the Answer of a method.

    A verdict too weak to stand on is an abstention, unless the budget or the caller ended the search: then it is the
    best answer so far. support: the share of each choice by the events, if it was computed. lone: whether a single
    sample gave the answer, so that there is no consensus to measure. The text is composed after the vote
    (composing.ending).
    """
    # Many choices share the support, and a vote that stands alone is not weaker for it.
    firmness = max(verdict.score, verdict.vote or 0.0) if verdict else 0.0
    weak = verdict is not None and asked.settings.samples.abstain and firmness < asked.settings.samples.lowest_answer
    answer = verdict.node.answer if verdict and (calls.halted or not weak) else None
    if verdict is None or answer is None:
        reason, detail = finish(calls, nodes, answered=False, weak=weak)
        return without_text(calls, records, reason, detail)
    share = support[answer.choice] if support and answer.choice is not None else None
    signals = Signals(verdict.score, verdict.margin, top_similarity, share)
    if lone and signals.support is None:
        signals = unconfirmed(asked.settings.tree.gate, top_similarity)
    head = _head(signals, lone)
    end = end_of(asked, calls, verdict.source or verdict.node, answer)
    calls.on_progress("citations", 1, 1, f"{len(end.citations)} citations")
    signals = replace(signals, supported=end.supported, contradicted=end.contradicted)
    reason, detail = finish(calls, nodes, answered=True)
    if not end.text:
        if reason == "answered":
            reason, detail = "insufficient_evidence", CONTRADICTED
        # The notes name what was left out; an outcome without an answer has no evidence.
        return replace(
            without_text(calls, records, reason, detail),
            signals={**signals.named(), "head": head},
            notes=end.notes,
        )
    return replace(
        without_text(calls, records, reason, detail),
        text=end.text,
        choice=answer.choice,
        confidence=confidence(signals, asked.models.calibration, head),
        citations=end.citations,
        reasoning=answer.reasoning,
        claims=end.claims,
        signals={**signals.named(), "head": head},
        notes=end.notes,
        shape=end.shape,
        parts=end.parts,
        columns=end.columns,
    )


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


def _head(signals: Signals, lone: bool) -> Head:
    """Return how the answer was drawn, for Answer.signals."""
    if signals.support is not None:
        return "support"
    return "sample" if lone else "votes"


def finish(
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

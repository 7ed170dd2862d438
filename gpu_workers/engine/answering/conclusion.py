"""From nodes to an Answer: why the search ended, and what it can say."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Canceled
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.confidence import Signals, confidence, unconfirmed
from gpu_workers.engine.answering.contract import Answer, CitationRecord, ClaimRecord, FinishReason, NodeRecord
from gpu_workers.engine.answering.evidence.citations import cite
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.verdict import Verdict


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
    sample gave the answer, so that there is no consensus to measure.
    """
    text, choice, reasoning, sureness = "", None, "", 0.0
    signals: Signals | None = None
    citations: tuple[CitationRecord, ...] = ()
    claims: tuple[ClaimRecord, ...] = ()
    # Many choices share the support, and a vote that stands alone is not weaker for it.
    firmness = max(verdict.score, verdict.vote or 0.0) if verdict else 0.0
    weak = verdict is not None and asked.settings.samples.abstain and firmness < asked.settings.samples.lowest_answer
    answer = verdict.node.answer if verdict and (calls.halted or not weak) else None
    if verdict is not None and answer is not None:
        text, choice, reasoning = answer.text, answer.choice, answer.reasoning
        signals = Signals(
            verdict.score, verdict.margin, top_similarity, support[choice] if support and choice is not None else None
        )
        if lone and signals.support is None:
            signals = unconfirmed(asked.settings.tree.gate, top_similarity)
        sureness = confidence(signals, asked.models.calibration)
        with calls.timed("citations"):
            citations, claims = cite(asked, calls, verdict.source or verdict.node, answer)
        calls.on_progress("citations", 1, 1, f"{len(citations)} citations")
    reason, detail = finish(calls, nodes, answered=answer is not None, weak=weak)
    return Answer(
        text=text,
        choice=choice,
        confidence=sureness,
        finish_reason=reason,
        citations=citations,
        nodes=tuple(records),
        usage=calls.spending.usage(),
        timings={**calls.timings, "total": calls.spending.elapsed_ms()},
        reasoning=reasoning,
        detail=detail,
        claims=claims,
        signals={**signals.named(), "head": _head(signals, lone)} if signals else {},
    )


def _head(signals: Signals, lone: bool) -> str:
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

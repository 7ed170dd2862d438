"""From nodes to an Answer: why the search ended, and what it can say."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.answering.budget import Canceled
from gpu_workers.engine.answering.confidence import Signals, confidence
from gpu_workers.engine.answering.contract import Answer, CitationRecord, ClaimRecord, FinishReason, NodeRecord
from gpu_workers.engine.answering.evidence.citations import cite
from gpu_workers.engine.answering.looking.frame_check import Verdict
from gpu_workers.engine.answering.run import QuestionRun
from gpu_workers.engine.answering.search.summary_answer import AnswerNode


def conclude(
    run: QuestionRun,
    *,
    nodes: Sequence[AnswerNode],
    records: Sequence[NodeRecord],
    verdict: Verdict | None,
    top_similarity: float,
    support: Sequence[float] = (),
) -> Answer:
    """The Answer of a method. A verdict too weak to stand on is an abstention, unless the budget or the caller ended
    the search: then it is the best answer so far. support: of each choice by the events, where it was looked at."""
    text, choice, reasoning, sureness = "", None, "", 0.0
    signals: Signals | None = None
    citations: tuple[CitationRecord, ...] = ()
    claims: tuple[ClaimRecord, ...] = ()
    # Many choices share the support, and a vote that stands alone is not weaker for it.
    firmness = max(verdict.score, verdict.vote or 0.0) if verdict else 0.0
    weak = verdict is not None and run.settings.abstain and firmness < run.settings.lowest_answer
    answer = verdict.node.answer if verdict and (run.halted or not weak) else None
    if verdict is not None and answer is not None:
        text, choice, reasoning = answer.text, answer.choice, answer.reasoning
        signals = Signals(
            verdict.score, verdict.margin, top_similarity, support[choice] if support and choice is not None else None
        )
        sureness = confidence(signals, run.models.calibration)
        with run.timed("citations"):
            citations, claims = cite(run, verdict.source or verdict.node, answer)
        run.on_progress("citations", 1, 1, f"{len(citations)} citations")
    reason, detail = finish(run, nodes, answered=answer is not None, weak=weak)
    return Answer(
        text=text,
        choice=choice,
        confidence=sureness,
        finish_reason=reason,
        citations=citations,
        nodes=tuple(records),
        usage=run.spending.usage(),
        timings={**run.timings, "total": run.spending.elapsed_ms()},
        reasoning=reasoning,
        detail=detail,
        claims=claims,
        signals=signals.named() if signals else {},
    )


def finish(
    run: QuestionRun, nodes: Sequence[AnswerNode], *, answered: bool, weak: bool = False
) -> tuple[FinishReason, str]:
    """The finish reason and its detail code."""
    if run.halted is not None:
        return ("canceled" if isinstance(run.halted, Canceled) else "budget"), run.halted.code
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

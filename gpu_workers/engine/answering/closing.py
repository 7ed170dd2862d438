"""The end of a method whose own last samples are votes over everything that was shown: they are the head's already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpu_workers.engine.answering.conclusion import conclude
from gpu_workers.engine.answering.contract import Answer, NodeRecord
from gpu_workers.engine.answering.dossier import answer_from
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.tools.contract import Artifact
from gpu_workers.engine.answering.tools.desk import Desk
from gpu_workers.engine.answering.verdict import Verdict
from gpu_workers.engine.models.roles import ModelError, embed_queries
from gpu_workers.engine.ports import ViewName, ViewQuery


def close(
    desk: Desk,
    node: AnswerNode | None,
    *,
    settled: bool,
    records: Sequence[NodeRecord],
    top_similarity: float,
    needs: Iterable[Artifact],
    hint: str = "",
    error: ModelError | None = None,
) -> Answer:
    """Return the node's answer if no other should be drawn: it is settled, or no further call may be made.

    Else the answer is drawn from what was shown, like every method's (dossier), with the node's as proposal. Choices of
    a reasoner that judges them one by one are always judged there. Raises error if there is nothing to answer from.
    """
    answered = node is not None and bool(node.votes)
    stopped = desk.calls.halted is not None or error is not None
    if node is None or not answered or not (stopped or (settled and not judges(desk))):
        proposed = node.answer if node is not None else None
        return answer_from(
            desk, records=records, top_similarity=top_similarity, needs=needs, proposed=proposed, hint=hint, error=error
        )
    return as_drawn(desk, node, records=records, top_similarity=top_similarity, needs=needs)


def as_drawn(
    desk: Desk,
    node: AnswerNode,
    *,
    records: Sequence[NodeRecord],
    top_similarity: float,
    needs: Iterable[Artifact],
    head: str = "",
) -> Answer:
    """Return a node's own answer, with citations from what it was shown. head: see Answer.signals; by default votes, or
    sample for a single one."""
    verdict = Verdict(node, node.score, node.score, node) if node.answers else None
    answer = conclude(
        desk.asked, desk.calls, nodes=[node], records=records, verdict=verdict, top_similarity=top_similarity
    )
    head = head or ("votes" if len(node.draw.parsed) > 1 else "sample")
    signals = {**answer.signals, "head": head} if answer.signals else {}
    return replace(answer, degraded=desk.degraded(needs), signals=signals)


def judges(desk: Desk) -> bool:
    """Whether the choices of this question are judged one by one over what was shown."""
    return bool(desk.asked.question.choices) and desk.asked.settings.support.judge_tokens > 0


def closeness(desk: Desk) -> float:
    """Return the similarity of the question to the event or frame nearest to it, 0.0 if nothing can be embedded: what a
    confidence takes from retrieval, for a method that searches by other words."""
    models, text = desk.asked.models, desk.asked.searched
    try:
        queries: dict[ViewName, ViewQuery] = {
            "event": ViewQuery(embed_queries(models.text_embedder, [text], meter=desk.calls.meter)[0], 1)
        }
        if "frames" in desk.artifacts:
            queries["frame"] = ViewQuery(models.frame_embedder.embed_query(text, meter=desk.calls.meter), 1)
    except ModelError:
        return 0.0
    hits = desk.asked.graph.search_views(queries, floor=desk.asked.settings.retrieval.floor)
    return max((hit.similarity for view in hits.values() for hit in view), default=0.0)

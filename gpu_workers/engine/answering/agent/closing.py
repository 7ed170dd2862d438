"""The end of a method whose own last samples are votes over everything that was shown: they are the head's already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpu_workers.engine.answering.agent.dossier import answer_from, margin_of
from gpu_workers.engine.answering.agent.shown import shown_so_far
from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import Answer, NodeRecord
from gpu_workers.engine.answering.ending.final_answer import final_answer
from gpu_workers.engine.answering.ending.vote import Verdict
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
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
    error: ModelError | None = None,
) -> Answer:
    """Return the node's answer if no other should be drawn: it is settled, or no further call may be made.

    Else the answer is drawn from what was shown, like every method's (answering.dossier), with the node's as proposal.
    That also holds for effort `paper`, where the proposal stands alone, and for choices that are weighed by the support
    of the events shown. error: what ended the method's own steps early.
    """
    stopped = desk.calls.halted is not None or error is not None
    published = desk.asked.settings.effort == "paper"
    if node is not None and node.votes and (settled or stopped) and not published and not weighs(desk.asked):
        return _as_drawn(desk, node, records=records, top_similarity=top_similarity, needs=needs)
    proposed = node.answer if node is not None else None
    return answer_from(
        desk, records=records, top_similarity=top_similarity, needs=needs, proposed=proposed, error=error
    )


def weighs(asked: Asked) -> bool:
    """Whether the choices of this question are weighed by the support of what was shown, so that a vote of several
    samples would be drawn in vain."""
    return bool(asked.question.choices) and asked.settings.support.weight > 0.0


def _as_drawn(
    desk: Desk, node: AnswerNode, *, records: Sequence[NodeRecord], top_similarity: float, needs: Iterable[Artifact]
) -> Answer:
    """Return a node's own answer, with citations from what was shown."""
    shown = shown_so_far(desk, node.answer, "")
    numbers = desk.sightings.numbers
    context = EventContext(
        node.context.text, {event.id: numbers[event.id] for event in shown.events},
        {numbers[event.id]: event for event in shown.events},
    )  # fmt: skip
    node = replace(node, context=context, seen={**node.seen, **shown.frames}, findings=shown.findings)
    answer = final_answer(
        desk.asked,
        desk.calls,
        nodes=[node],
        records=records,
        verdict=Verdict(node, node.score, margin_of(node), node) if node.answers else None,
        top_similarity=top_similarity,
        single_sample=len(node.draw.parsed) == 1,
    )
    return replace(answer, degraded=desk.degraded(needs))


def match_question(desk: Desk) -> None:
    """Note the similarity of the question to the event and the frame nearest to it, if they can be embedded: what a
    confidence takes from retrieval (Desk.top_similarity), for a method that searches by other words."""
    models, text = desk.asked.models, desk.asked.searched
    try:
        queries: dict[ViewName, ViewQuery] = {
            "event": ViewQuery(embed_queries(models.text_embedder, [text], meter=desk.calls.meter)[0], 1)
        }
        if "frames" in desk.artifacts:
            queries["frame"] = ViewQuery(models.frame_embedder.embed_query(text, meter=desk.calls.meter), 1)
    except ModelError:
        return
    hits = desk.asked.graph.search_views(queries, floor=desk.asked.settings.retrieval.floor)
    desk.matched(hit.similarity for view in hits.values() for hit in view)

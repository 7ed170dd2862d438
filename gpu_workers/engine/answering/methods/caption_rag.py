"""`caption_rag`: the texts of the events nearest to the question, one answer."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.conclusion import conclude
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.looking.frame_check import Verdict
from gpu_workers.engine.answering.run import QuestionRun
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.summary_answer import answer_node, answer_task, node_record, show_events
from gpu_workers.engine.ports import ViewQuery
from gpu_workers.engine.retrieval.fusion import fuse
from gpu_workers.engine.retrieval.tri_view import question_text

TOP_EVENTS = 16


class CaptionRag:
    name = "caption_rag"
    version = "1"

    def answer(self, run: QuestionRun) -> Answer:
        """One sample at temperature 0: the cheap fallback."""
        run.settings = replace(run.settings, samples=1, sa_ratio=1.0)
        question = run.question
        text = question_text(run.searched, question.choices)
        with run.timed("retrieval"):
            query = run.models.text_embedder.embed([text], meter=run.meter)[0]
            asked = ViewQuery(query, TOP_EVENTS)
            hits = run.graph.search_views({"event": asked}, floor=run.settings.retrieval.floor)["event"]
        run.on_progress("retrieval", 1, 1, f"{len(hits)} events")
        top = max((hit.similarity for hit in hits), default=0.0)
        if not hits:
            return conclude(run, nodes=[], records=[], verdict=None, top_similarity=0.0)
        state = State("", tuple(fuse({"event": hits})), top_similarity=top)
        return answer_once(run, state, show_events(run, state))


def answer_once(run: QuestionRun, state: State, context: EventContext) -> Answer:
    """The answer that context gives, without a search: what baselines do with what they chose."""
    with run.timed("search"):
        draw = run.together("search", [answer_task(run, state, context)])[0]
    if draw.halt:
        run.halt(draw.halt)
    node = answer_node(run, state, context, draw)
    verdict = Verdict(node, node.score, node.score, node) if node.answers else None
    records = [node_record(node)]
    return conclude(run, nodes=[node], records=records, verdict=verdict, top_similarity=state.top_similarity)

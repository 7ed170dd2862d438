"""`caption_rag`: the texts of the events nearest to the question, one answer."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.ending.final_answer import final_answer
from gpu_workers.engine.answering.ending.vote import Verdict
from gpu_workers.engine.answering.identity import ANSWER_PROMPTS, CITATION_PROMPTS, QUESTION_PROMPTS
from gpu_workers.engine.answering.methods.contract import TypicalCalls
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.summary_answer import answer_node, answer_task, node_record, show_events
from gpu_workers.engine.models.roles import embed_queries
from gpu_workers.engine.ports import ViewQuery
from gpu_workers.engine.retrieval.fusion import fuse

TOP_EVENTS = 16


class CaptionRag:
    name = "caption_rag"
    version = "2"
    description = "Reads the events nearest to the question and answers once: the cheapest way."
    needs: frozenset[Artifact] = frozenset({"events"})
    typical_calls: TypicalCalls = {"low": (1, 1), "medium": (1, 1), "high": (1, 1), "paper": (1, 1)}
    prompts = QUESTION_PROMPTS | ANSWER_PROMPTS | CITATION_PROMPTS

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        """Answer by one sample at temperature 0: the cheap fallback."""
        asked = replace(asked, settings=changed(asked.settings, n=1, sa_ratio=1.0))
        text = asked.query
        with calls.timed("retrieval"):
            query = embed_queries(asked.models.text_embedder, [text], meter=calls.meter)[0]
            nearest = ViewQuery(query, TOP_EVENTS)
            hits = asked.graph.search_views({"event": nearest}, floor=asked.settings.retrieval.floor)["event"]
        calls.on_progress("retrieval", 1, 1, f"{len(hits)} events")
        top = max((hit.similarity for hit in hits), default=0.0)
        if not hits:
            return final_answer(asked, calls, nodes=[], records=[], verdict=None, top_similarity=0.0)
        state = State("", tuple(fuse({"event": hits})), top_similarity=top)
        return answer_once(asked, calls, state, show_events(asked, state))


def answer_once(asked: Asked, calls: Calls, state: State, context: EventContext) -> Answer:
    """Answer once from context, without a search, as baselines do with the events they chose."""
    with calls.timed("search"):
        draw = calls.together("search", [answer_task(asked, calls, state, context)])[0]
    if draw.halt:
        calls.halt(draw.halt)
    node = answer_node(asked, state, context, draw)
    verdict = Verdict(node, node.score, node.score, node) if node.answers else None
    records = [node_record(node)]
    return final_answer(
        asked,
        calls,
        nodes=[node],
        records=records,
        verdict=verdict,
        top_similarity=state.top_similarity,
        single_sample=len(draw.parsed) == 1,
    )

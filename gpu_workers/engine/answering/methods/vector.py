"""`vector`: the frames nearest to the question, one look."""

from __future__ import annotations

from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.identity import CHECK_PROMPTS, CITATION_PROMPTS, QUESTION_PROMPTS
from gpu_workers.engine.answering.methods.contract import TypicalCalls
from gpu_workers.engine.answering.methods.frame_answer import answer_from_frames, frame_limit, spaced
from gpu_workers.engine.ports import ViewQuery
from gpu_workers.engine.retrieval.frames import frames_of_hits

TOP_FRAMES = 32
SPARE = 4
"""Ratio of hits read to frames wanted, since neighbours closer than the gap fall out."""


class NearestFrames:
    name = "vector"
    version = "1"
    description = "Looks at the frames nearest to the question and answers once: a baseline without a tree."
    needs: frozenset[Artifact] = frozenset({"frames", "checker"})
    typical_calls: TypicalCalls = {"low": (1, 1), "medium": (1, 1), "high": (1, 1), "paper": (1, 1)}
    prompts = QUESTION_PROMPTS | CHECK_PROMPTS | CITATION_PROMPTS

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        count = frame_limit(asked, TOP_FRAMES)
        with calls.timed("retrieval"):
            text = asked.frame_query
            query = asked.models.frame_embedder.embed_query(text, meter=calls.meter)
            nearest = ViewQuery(query, SPARE * count)
            hits = asked.graph.search_views({"frame": nearest}, floor=asked.settings.retrieval.floor)["frame"]
            nearest_frames = frames_of_hits(asked.graph, hits)
        calls.on_progress("retrieval", 1, 1, f"{len(nearest_frames)} frames")
        top = max((hit.similarity for hit in hits), default=0.0)
        return answer_from_frames(
            asked, calls, spaced(nearest_frames, count), available=len(nearest_frames), top_similarity=top
        )

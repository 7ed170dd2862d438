"""`uniform`: evenly spaced frames, one look."""

from __future__ import annotations

from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.identity import CHECK_PROMPTS, CITATION_PROMPTS, QUESTION_PROMPTS
from gpu_workers.engine.answering.methods.contract import TypicalCalls
from gpu_workers.engine.answering.methods.frame_answer import answer_from_frames, frame_limit
from gpu_workers.engine.retrieval.frames import uniform_frames

FRAMES = 64


class Uniform:
    name = "uniform"
    version = "2"
    description = "Looks at frames spread evenly over the video and answers once: a baseline without a search."
    needs: frozenset[Artifact] = frozenset({"frames", "checker"})
    typical_calls: TypicalCalls = {"low": (1, 1), "medium": (1, 1), "high": (1, 1), "paper": (1, 1)}
    prompts = QUESTION_PROMPTS | CHECK_PROMPTS | CITATION_PROMPTS

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        count = frame_limit(asked, FRAMES)
        with calls.timed("retrieval"):
            frames = uniform_frames(asked.graph, count=count)
        calls.on_progress("retrieval", 1, 1, f"{len(frames)} frames")
        return answer_from_frames(asked, calls, frames, available=len(frames), top_similarity=0.0)

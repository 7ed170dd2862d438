"""`uniform`: evenly spaced frames, one look."""

from __future__ import annotations

from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.methods.frame_answer import answer_from_frames, frame_limit
from gpu_workers.engine.answering.run import QuestionRun
from gpu_workers.engine.retrieval.frames import all_events, uniform_frames

FRAMES = 64


class Uniform:
    name = "uniform"
    version = "1"

    def answer(self, run: QuestionRun) -> Answer:
        count = frame_limit(run, FRAMES)
        with run.timed("retrieval"):
            probe = run.models.text_embedder.embed([run.question.question], meter=run.meter)[0]
            events = all_events(run.graph, probe)
            frames = uniform_frames(run.graph, events, count=count)
        run.on_progress("retrieval", 1, 1, f"{len(frames)} frames")
        return answer_from_frames(run, frames, available=len(frames), top_similarity=0.0)

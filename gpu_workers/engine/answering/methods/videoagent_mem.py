"""`videoagent_mem`: an agent with a memory of moments and a memory of things (VideoAgent, BIGAI, arXiv 2403.11481).

Its four tools read the descriptions of a stretch of time, find segments, look at the frames around one, and let an
inner agent ask the tracked and re-identified objects, by words or by SQL on a copy of them. Ours shows the overview
and the segments nearest to the question before the first step, which costs no call: the paper's agent reads captions
without knowing what the video is about, and a small reasoner that finishes at once has seen nothing. It also searches
and counts what is said.
Preset `paper` gives the answer of the loop, with the paper's weights and windows.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.agent.dossier import DOSSIER_PROMPTS, answer_from
from gpu_workers.engine.answering.agent.loop import run_loop
from gpu_workers.engine.answering.agent.tools.captions import TERM_FREQUENCY, TRANSCRIPT_SEARCH, caption_retrieval
from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.tools.finishing import EVIDENCE
from gpu_workers.engine.answering.agent.tools.memory_agent import (
    MEMORY_PROMPTS,
    SEGMENT_LOCALIZATION,
    VISUAL_QUESTION_ANSWERING,
    object_memory_querying,
    show_segments,
)
from gpu_workers.engine.answering.agent.tools.searching import show_overview
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.identity import QUESTION_PROMPTS
from gpu_workers.engine.answering.method_settings import VIDEOAGENT_MEM
from gpu_workers.engine.answering.methods.contract import TypicalCalls
from gpu_workers.engine.prompts import load


class VideoAgentMem:
    name = "videoagent_mem"
    version = "4"
    description = "Reads descriptions by time, finds segments, looks at frames, and asks the memory of tracked objects."
    needs: frozenset[Artifact] = frozenset({"events", "frames", "topics", "objects", "checker"})
    typical_calls: TypicalCalls = {"low": (3, 7), "medium": (3, 14), "high": (3, 20), "paper": (2, 26)}
    prompts = QUESTION_PROMPTS | MEMORY_PROMPTS | {"mem_rules"} | DOSSIER_PROMPTS

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        settings = VIDEOAGENT_MEM[asked.settings.effort]
        # A number of people is shown by as many moments.
        desk = Desk(replace(asked, settings=replace(asked.settings, citations=EVIDENCE)), calls)
        tools = [
            SEGMENT_LOCALIZATION,
            object_memory_querying(settings.inner_steps),
            caption_retrieval(settings.window),
            VISUAL_QUESTION_ANSWERING,
        ]
        if asked.settings.effort != "paper":
            tools += [TRANSCRIPT_SEARCH, TERM_FREQUENCY]
        end = run_loop(
            desk,
            tools,
            rules=load("mem_rules", asked.question.profile).template,
            opening=_opening(desk),
            steps=settings.steps,
            stage="step",
        )
        return answer_from(
            desk,
            records=end.records,
            top_similarity=desk.top_similarity,
            needs=self.needs,
            proposed=end.proposed,
            error=end.error,
        )


def _opening(desk: Desk) -> str:
    """Return the overview of the videos and the segments nearest to the question, as data; "" at effort `paper`, or if
    there is neither. Raises ModelError."""
    if desk.asked.settings.effort == "paper":
        return ""
    parts = [show_overview(desk)] if "topics" in desk.artifacts else []
    if "events" in desk.artifacts:
        with desk.calls.timed("retrieval"):
            found = show_segments(desk, desk.asked.query)
        desk.calls.on_progress("retrieval", 1, 1, f"{len(found.events)} events")
        parts += [] if found.error else [found.text]
    text = "\n".join(part for part in parts if part)
    return f"<events>\n{text}\n</events>" if text else ""

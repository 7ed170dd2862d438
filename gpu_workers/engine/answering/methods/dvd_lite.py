"""`dvd_lite`: browse the whole, search clips, inspect frames (after Deep Video Discovery, arXiv 2505.18079).

Ours browses before the first step, which costs no call, searches and counts what is said, and answers by the head of
all methods. Effort `high` also reads stated relations, and every event if a question counts. Effort `paper` gives the
answer of the loop.
"""

from __future__ import annotations

from gpu_workers.engine.answering.agent.dossier import DOSSIER_PROMPTS, answer_from
from gpu_workers.engine.answering.agent.loop import LOOP_PROMPTS, run_loop
from gpu_workers.engine.answering.agent.tools.captions import TERM_FREQUENCY, TRANSCRIPT_SEARCH
from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.tools.looking import frame_inspect
from gpu_workers.engine.answering.agent.tools.relations import RELATIONS
from gpu_workers.engine.answering.agent.tools.scan import SCAN
from gpu_workers.engine.answering.agent.tools.searching import TOPIC_SEARCH, browse, clip_search, global_browse
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.identity import OBSERVE_PROMPTS, QUESTION_PROMPTS
from gpu_workers.engine.answering.method_settings import DVD_LITE
from gpu_workers.engine.answering.methods.contract import TypicalCalls
from gpu_workers.engine.answering.verdict_store import JUDGE_PROMPTS
from gpu_workers.engine.prompts import load


class DvdLite:
    name = "dvd_lite"
    version = "3"
    description = (
        "Reads what the video is about, searches clips by their text, and looks at frames where that is not enough."
    )
    needs: frozenset[Artifact] = frozenset({"events", "frames", "topics", "checker"})
    typical_calls: TypicalCalls = {"low": (2, 7), "medium": (2, 14), "high": (2, 21), "paper": (2, 20)}
    prompts = QUESTION_PROMPTS | LOOP_PROMPTS | {"dvd_rules"} | JUDGE_PROMPTS | OBSERVE_PROMPTS | DOSSIER_PROMPTS

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        settings = DVD_LITE[asked.settings.effort]
        desk = Desk(asked, calls)
        if not desk.extents:
            return answer_from(desk, records=(), top_similarity=0.0, needs=self.needs)
        tools = [clip_search(settings.top_k), frame_inspect(settings.frames)]
        opening = ""
        if settings.browses_first:
            with calls.timed("retrieval"):
                found = browse(desk, asked.query, settings.top_k)
            calls.on_progress("retrieval", 1, 1, f"{len(found.events)} events")
            opening = f"<events>\n{found.text}\n</events>" if not found.error else ""
            tools.append(TOPIC_SEARCH)
        else:
            tools.insert(0, global_browse(settings.top_k))
        if asked.settings.effort != "paper":
            tools += [TRANSCRIPT_SEARCH, TERM_FREQUENCY]
        if asked.settings.effort == "high":
            tools += [RELATIONS, SCAN]
        end = run_loop(
            desk,
            tools,
            rules=load("dvd_rules", asked.question.profile).template,
            opening=opening,
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

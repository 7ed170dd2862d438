"""`dvd_lite`: browse the whole, search clips, inspect frames (after Deep Video Discovery, arXiv 2505.18079).

Ours browses before the first step, which costs no call, searches and counts what is said, and answers by the head of
all methods. Effort `high` also reads stated relations, and every event if a question counts. Effort `paper` gives the
answer of the loop.
"""

from __future__ import annotations

from gpu_workers.engine.answering.agent.caption_tools import TERM_FREQUENCY, TRANSCRIPT_SEARCH
from gpu_workers.engine.answering.agent.evidence_answer import MethodResult, answer_from_evidence
from gpu_workers.engine.answering.agent.frame_tools import frame_inspect
from gpu_workers.engine.answering.agent.loop import LoopRequest, run_loop
from gpu_workers.engine.answering.agent.search_tools import TOPIC_SEARCH, browse, clip_search, global_browse
from gpu_workers.engine.answering.agent.statement_tools import RELATIONS, SCAN
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.catalogue import CATALOGUE, DVD_LITE
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.methods.method import CataloguedMethod
from gpu_workers.engine.answering.presets import own_settings
from gpu_workers.engine.prompts import load


class DvdLite(CataloguedMethod, card=CATALOGUE["dvd_lite"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        settings = own_settings(asked.settings, DVD_LITE)
        toolbox = Toolbox(asked, calls)
        if not toolbox.extents:
            return answer_from_evidence(toolbox, MethodResult(self.needs))
        tools = [clip_search(settings.top_k), frame_inspect(settings.frames)]
        opening = ""
        if settings.browses_first:
            with calls.timed("retrieval"):
                found = browse(toolbox, asked.query, settings.top_k)
            calls.on_progress("retrieval", 1, 1, f"{len(found.events)} events")
            opening = f"<events>\n{found.text}\n</events>" if not found.error else ""
            tools.append(TOPIC_SEARCH)
        else:
            tools.insert(0, global_browse(settings.top_k))
        if asked.settings.effort != "paper":
            tools += [TRANSCRIPT_SEARCH, TERM_FREQUENCY]
        if asked.settings.effort == "high":
            tools += [RELATIONS, SCAN]
        rules = load("dvd_rules", asked.question.profile).template
        end = run_loop(toolbox, LoopRequest(tools, rules, opening, settings.steps))
        return answer_from_evidence(toolbox, MethodResult(self.needs, end.records, end.proposed, error=end.error))

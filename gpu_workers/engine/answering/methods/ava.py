"""`ava`: what the events say for each choice, tri-view retrieval, tree search, thought consistency, frame check or
inspection (AVA, section 5)."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.choices.support import Support, choice_support, weigh_support
from gpu_workers.engine.answering.conclusion import conclude
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.looking.frame_check import decide
from gpu_workers.engine.answering.run import QuestionRun
from gpu_workers.engine.answering.search.tree_search import search_tree
from gpu_workers.engine.models.roles import ModelError


class Ava:
    name = "ava"
    version = "4"

    def answer(self, run: QuestionRun) -> Answer:
        support = _support(run)
        if support is not None and support.decides(run):
            # What is left to ask: whether the events tell enough, and why; and a look that was asked for by name.
            check = "off" if run.question.check == "auto" else run.settings.check
            run.settings = replace(run.settings, samples=1 if run.settings.abstain else 0, max_depth=1, check=check)
        search = search_tree(run)
        verdict, checks = decide(run, search.nodes)
        if not search.found:
            support = None
        verdict, weighed = weigh_support(run, verdict, search.nodes, support)
        return conclude(
            run,
            nodes=search.nodes,
            records=[*search.records, *checks, *([weighed] if weighed else [])],
            verdict=verdict,
            top_similarity=search.top_similarity,
            support=support.shares if support else (),
        )


def _support(run: QuestionRun) -> Support | None:
    """What the events say for each choice; None where it does not count or cannot be embedded."""
    if run.settings.support_weight == 0.0:
        return None
    try:
        return choice_support(run)
    except ModelError:
        return None

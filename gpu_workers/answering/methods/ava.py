"""`ava`: tri-view retrieval, tree search, thought consistency, frame check or inspection (AVA, section 5),
and for choices what the events say for each."""

from __future__ import annotations

from gpu_workers.answering.choice_support import choice_support, weigh_support
from gpu_workers.answering.conclusion import conclude
from gpu_workers.answering.contract import Answer
from gpu_workers.answering.frame_check import decide
from gpu_workers.answering.run import QuestionRun
from gpu_workers.answering.tree_search import search_tree
from gpu_workers.models.roles import ModelError


class Ava:
    name = "ava"
    version = "2"

    def answer(self, run: QuestionRun) -> Answer:
        search = search_tree(run)
        verdict, checks = decide(run, search.nodes)
        support = _support(run) if search.shown else ()
        verdict, weighed = weigh_support(run, verdict, search.nodes, support)
        return conclude(
            run,
            nodes=search.nodes,
            records=[*search.records, *checks, *([weighed] if weighed else [])],
            verdict=verdict,
            top_similarity=search.top_similarity,
            support=support,
        )


def _support(run: QuestionRun) -> tuple[float, ...]:
    """What the events say for each choice; nothing where it does not count or cannot be embedded."""
    if run.settings.support_weight == 0.0:
        return ()
    try:
        return choice_support(run)
    except ModelError:
        return ()

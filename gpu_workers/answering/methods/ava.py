"""`ava`: tri-view retrieval, tree search, thought consistency, frame check (AVA, section 5)."""

from __future__ import annotations

from gpu_workers.answering.conclusion import conclude
from gpu_workers.answering.contract import Answer
from gpu_workers.answering.frame_check import decide
from gpu_workers.answering.run import QuestionRun
from gpu_workers.answering.tree_search import search_tree


class Ava:
    name = "ava"
    version = "1"

    def answer(self, run: QuestionRun) -> Answer:
        search = search_tree(run)
        verdict, checks = decide(run, search.nodes)
        return conclude(
            run,
            nodes=search.nodes,
            records=[*search.records, *checks],
            verdict=verdict,
            top_similarity=search.top_similarity,
        )

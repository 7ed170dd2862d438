"""`ava`: support of choices by the events, tri-view retrieval, tree search, thought consistency, frame check or
inspection (AVA, section 5)."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.catalogue import CATALOGUE
from gpu_workers.engine.answering.choices.support import choice_support
from gpu_workers.engine.answering.choices.weighing import weigh_support
from gpu_workers.engine.answering.contract import SEARCH_SKIPPED, Answer
from gpu_workers.engine.answering.ending.final_answer import final_answer
from gpu_workers.engine.answering.ending.vote import vote
from gpu_workers.engine.answering.methods.method import CataloguedMethod
from gpu_workers.engine.answering.routes import ROUTE_ANSWERS
from gpu_workers.engine.answering.search.tree_search import search_tree


class Ava(CataloguedMethod, card=CATALOGUE["ava"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        by_route = ROUTE_ANSWERS.get(asked.understood.route)
        if by_route is not None and (answer := by_route(asked, calls)) is not None:
            return answer
        support = choice_support(asked, calls) if asked.question.choices else None
        if support is not None:
            calls.on_progress("support", 1, 1, f"{len(support.shares)} choices")
        decided = support is not None and support.decides(asked)
        if decided:
            asked = _without_search(asked)
        tree = search_tree(asked, calls)
        verdict, checks = vote(asked, calls, tree.nodes)
        if not tree.has_events:
            support = None
        records = [*tree.records, *checks]
        if support is not None:
            verdict, weighed = weigh_support(asked, calls, verdict, tree.nodes, support)
            records.append(replace(weighed, note=SEARCH_SKIPPED if decided else ""))
        return final_answer(
            asked,
            calls,
            nodes=tree.nodes,
            records=records,
            verdict=verdict,
            top_similarity=tree.top_similarity,
            support=support.shares if support else (),
        )


def _without_search(asked: Asked) -> Asked:
    """Return what is left to ask once the choice is decided: whether the events suffice, and why; and a look that the
    question asks for by name."""
    settings = asked.settings
    look = settings.look if asked.question.check != "auto" else replace(settings.look, check="off")
    tree = replace(settings.tree, max_depth=1)
    samples = replace(settings.samples, n=int(settings.samples.abstain))
    return replace(asked, settings=replace(settings, tree=tree, samples=samples, look=look))

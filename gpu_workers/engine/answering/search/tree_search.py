"""Agentic search on the graph: a tree of F, B and RQ whose nodes each answer by SA (AVA, section 5.2).

Depth 1 is the root's own answer; depth d holds the answers of the states d - 1 actions away, so a full tree has
1, 4, 13 and 40 SA nodes at depths 1 to 4. The preset `paper` unrolls it to its depth (unrolled_tree); `ours` goes on
only while the answers disagree, first where the most new information is expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.contract import NodeRecord, PartialAnswer
from gpu_workers.engine.answering.run import QuestionRun
from gpu_workers.engine.answering.search.actions import Requery, State, requeried, requery_task, root_state
from gpu_workers.engine.answering.search.summary_answer import (
    AnswerNode,
    answer_node,
    answer_task,
    node_record,
    show_events,
    state_record,
)
from gpu_workers.engine.answering.search.unrolled_tree import STEPS, Grown, unroll


@dataclass(slots=True)
class Search:
    """What the search has found so far. records: every state and SA node, in the order they were made."""

    nodes: list[AnswerNode] = field(default_factory=list)
    records: list[NodeRecord] = field(default_factory=list)
    shown: set[UUID] = field(default_factory=set)
    top_similarity: float = 0.0

    @property
    def found(self) -> bool:
        """Whether the first retrieval brought any event."""
        return bool(self.records and self.records[0].events)

    @property
    def best(self) -> AnswerNode | None:
        """The node with the highest S among those that answer; the first of equals."""
        answering = [node for node in self.nodes if node.answers]
        return max(answering, key=lambda node: node.score, default=None)


@dataclass(frozen=True, slots=True)
class _Plan:
    """An action considered at a state. child is known at once for F and B, after a model call for RQ, whose gain is
    therefore guessed."""

    state: State
    action: str
    gain: float
    child: State | None = None


def search_tree(run: QuestionRun) -> Search:
    """Searches until consensus, depth, budget or cancellation ends it; run.halted says if one of the last two did. With
    settings.samples of 0 nobody is asked for an answer: the search ends at what retrieval found.

    Raises ModelError if the first retrieval cannot embed the question.
    """
    search = Search()
    with run.timed("retrieval"):
        root = root_state(run)
    run.on_progress("retrieval", 1, 1, f"{len(root.events)} events")
    search.top_similarity = root.top_similarity
    search.records.append(state_record(run, root))
    if not root.events or not run.settings.samples:
        return search
    with run.timed("search"):
        if _all_at_once(run):
            unroll(run, root, on_level=partial(_keep_level, run, search))
            return search
        try:
            _answer_level(run, search, [root])
            _tell(run, search, 1)
            _grow(run, search, root)
        except Halt as halt:
            run.halt(halt)
    return search


def _all_at_once(run: QuestionRun) -> bool:
    """Whether no answer of the tree depends on another one. What the budget rations is spent level by level all the
    same: deep answers in flight would reserve what those above them need."""
    settings = run.settings
    independent = not settings.adaptive and settings.level_width is None and not settings.reuse
    return independent and not run.spending.rations()


def _keep_level(run: QuestionRun, search: Search, level: int, grown: Sequence[Grown]) -> None:
    if level > 1:
        search.records += [one.record for one in grown]
        search.top_similarity = max(search.top_similarity, *(one.state.top_similarity for one in grown))
    for node in [one.node for one in grown if one.node]:
        search.nodes.append(node)
        search.records.append(node_record(node))
        search.shown.update(node.context.numbers)
    _tell(run, search, level)


def _grow(run: QuestionRun, search: Search, root: State) -> None:
    frontier = [root]
    for level in range(2, run.settings.max_depth + 1):
        if run.halted or (run.settings.adaptive and consensus(run, search)):
            return
        run.spending.check()
        plans = _plans(run, search, frontier)
        frontier = _children(run, search, plans)
        if not frontier:
            return
        run.spending.check()
        _answer_level(run, search, frontier)
        _tell(run, search, level)


def _tell(run: QuestionRun, search: Search, level: int) -> None:
    """The best answer so far, for who waits for it."""
    best = search.best
    if best is not None and best.answer is not None:
        run.on_partial(PartialAnswer(best.answer.text, best.answer.choice, best.score, best.path, level))


def consensus(run: QuestionRun, search: Search) -> bool:
    """Whether the best answer is consistent enough to stop: S reaches the gate and half of the samples say so. Eq. 6
    alone would let two samples with the same words outvote six others."""
    best = search.best
    return best is not None and best.score >= run.settings.gate and best.votes[0].agreement >= 0.5


def _plans(run: QuestionRun, search: Search, frontier: Sequence[State]) -> list[_Plan]:
    """The actions of one level. With a level_width, those with the highest expected gain, best first: the score of the
    events that they bring and neither an answer has been shown nor a better action of the level brings. What RQ will
    bring is unknown; it counts as one view's worth of average events, and double where the events at hand could not
    answer. Where equal event sets are answered once, they are also queried again once."""
    plans = []
    asked: set[frozenset[UUID]] = set()
    abstained = {node.state.path for node in search.nodes if node.answer is not None and not node.answers}
    for state in frontier:
        for action, step in STEPS.items():
            child = step(run, state)
            plans.append(_Plan(state, action, 0.0, child))
        mean = sum(event.score for event in state.events) / len(state.events)
        gain = run.settings.retrieval.events * mean * (2 if state.path in abstained else 1)
        listed = frozenset(event.event_id for event in state.events)
        if run.settings.requery and not (run.settings.reuse and listed in asked):
            asked.add(listed)
            plans.append(_Plan(state, "RQ", gain))
    if run.settings.level_width is None:
        return plans
    return _most_telling(plans, search.shown, run.settings.level_width)


def _most_telling(plans: Sequence[_Plan], shown: set[UUID], width: int) -> list[_Plan]:
    """Up to width plans, each the one that adds most to those before it; none that adds nothing."""
    known, chosen, left = set(shown), list[_Plan](), list(plans)
    while left and len(chosen) < width:
        best = min(left, key=lambda plan: (-_gain(plan, known), plan.state.after(plan.action)))
        if _gain(best, known) <= 0:
            break
        left.remove(best)
        chosen.append(best)
        known.update(event.event_id for event in (best.child.events if best.child else ()))
    return chosen


def _gain(plan: _Plan, known: set[UUID]) -> float:
    if plan.child is None:
        return plan.gain
    return sum(event.score for event in plan.child.events if event.event_id not in known)


def _children(run: QuestionRun, search: Search, plans: Sequence[_Plan]) -> list[State]:
    """The states after the plans' actions; all re-queries of the level are in flight together."""
    asking = [plan for plan in plans if plan.child is None]
    replies = run.together("search", [requery_task(run, plan.state) for plan in asking], details=["RQ"] * len(asking))
    requeries: dict[str, Requery] = {plan.state.path: reply for plan, reply in zip(asking, replies, strict=True)}
    children = []
    for plan in plans:
        child = plan.child
        if child is None:
            requery = requeries[plan.state.path]
            if requery.halt:
                run.halt(requery.halt)
            child = requeried(run, plan.state, requery)
        search.top_similarity = max(search.top_similarity, child.top_similarity)
        search.records.append(state_record(run, child))
        children.append(child)
    return children


def _answer_level(run: QuestionRun, search: Search, states: Sequence[State]) -> None:
    """SA at each state, all in flight together. With reuse, equal event sets are answered once."""
    contexts = [show_events(run, state) for state in states]
    answered: dict[frozenset[UUID], AnswerNode] = {}
    if run.settings.reuse:
        answered = {frozenset(node.context.numbers): node for node in search.nodes if not node.draw.error}
    fresh: dict[frozenset[UUID] | int, int] = {}
    for place, context in enumerate(contexts):
        key = frozenset(context.numbers)
        if run.settings.reuse and key not in answered:
            fresh.setdefault(key, place)
        elif not run.settings.reuse:
            fresh[place] = place
    places = list(fresh.values())
    tasks = [answer_task(run, states[place], contexts[place]) for place in places]
    draws = run.together("search", tasks, details=[states[place].after("SA") for place in places])
    made: dict[int, AnswerNode] = {}
    for place, draw in zip(places, draws, strict=True):
        if draw.halt:
            run.halt(draw.halt)
        made[place] = answer_node(run, states[place], contexts[place], draw)
    for place, (state, context) in enumerate(zip(states, contexts, strict=True)):
        node = made.get(place)
        if node is None:
            key = frozenset(context.numbers)
            source = answered.get(key) or made[fresh[key]]
            node = replace(source, path=state.after("SA"), state=state, reused_from=source.reused_from or source.path)
        search.nodes.append(node)
        search.records.append(node_record(node))
        search.shown.update(context.numbers)

"""Agentic search on the graph: a tree of F, B and RQ whose nodes each answer by SA (AVA, section 5.2).

Depth 1 is the root's own answer; depth d holds the answers of the states d - 1 actions away, so a full tree has
1, 4, 13 and 40 SA nodes at depths 1 to 4. One scheduler makes all calls. Where no answer depends on another one (preset
`paper`), a call begins as soon as the state that it reads is known: only RQ, RQ, SA wait for each other. Otherwise a
gate stands between the levels: a level begins when the level above it is complete. The gate is needed where the search
may stop early, where a level takes only its best actions, where equal event sets share an answer, and where a limit
rations calls, since deep calls in flight would reserve the budget that shallower ones need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import NodeRecord, PartialAnswer
from gpu_workers.engine.answering.search.actions import STEPS, Requery, State, requeried, requery_task, root_state
from gpu_workers.engine.answering.search.plans import ActionPlan, plans_for
from gpu_workers.engine.answering.search.sampling import Draw
from gpu_workers.engine.answering.search.scheduler import CallScheduler
from gpu_workers.engine.answering.search.summary_answer import (
    AnswerNode,
    answer_node,
    answer_task,
    node_record,
    reused_node,
    show_events,
    state_record,
)
from gpu_workers.engine.threads import ContextPool

Reply = TypeVar("Reply")

_REQUERY, _ANSWER = 0, 1


@dataclass(slots=True)
class SearchTree:
    """The tree so far. records: every state and SA node, level by level. shown: events that answers have been shown."""

    nodes: list[AnswerNode] = field(default_factory=list)
    records: list[NodeRecord] = field(default_factory=list)
    shown: set[UUID] = field(default_factory=set)
    top_similarity: float = 0.0

    @property
    def has_events(self) -> bool:
        """Whether the first retrieval found any event."""
        return bool(self.records and self.records[0].events)

    @property
    def best(self) -> AnswerNode | None:
        """Return the node with the highest S among those that answer; the first of equals."""
        answering = [node for node in self.nodes if node.answers]
        return max(answering, key=lambda node: node.score, default=None)


def search_tree(asked: Asked, calls: Calls) -> SearchTree:
    """Search until consensus, depth, budget or cancellation ends it; calls.halted is set by the last two.

    With settings.samples.n of 0 no answer is sampled: the search ends after retrieval. Raises ModelError if the first
    retrieval cannot embed the question, and what the graph or a callback raises, after the calls in flight have
    ended.
    """
    tree, settings = SearchTree(), asked.settings
    with calls.timed("retrieval"):
        root = root_state(asked, calls)
    calls.on_progress("retrieval", 1, 1, f"{len(root.events)} events")
    tree.top_similarity = root.top_similarity
    tree.records.append(state_record(calls, root))
    if not root.events or not settings.samples.n:
        return tree
    with calls.timed("search"), ContextPool(max_workers=settings.in_flight) as pool:
        _Growth(asked, calls, tree, CallScheduler(pool, settings.in_flight)).grow_from(root)
    return tree


def consensus(asked: Asked, tree: SearchTree) -> bool:
    """Whether the best answer is consistent enough to stop: S reaches the gate and half of the samples agree. Eq. 6
    alone would let two samples with the same words outvote six others."""
    best = tree.best
    return best is not None and best.score >= asked.settings.tree.gate and best.votes[0].agreement >= 0.5


@dataclass(slots=True)
class _Level:
    """States of one depth, by their position. expected: number of states that the level will have."""

    expected: int
    states: dict[int, State] = field(default_factory=dict)
    records: dict[int, NodeRecord] = field(default_factory=dict)
    nodes: dict[int, AnswerNode] = field(default_factory=dict)


class _Growth:
    """The growing tree. The graph is read and answers are scored in the asking thread alone.

    After the budget or the caller has ended the search nothing new begins, and the tree keeps what was begun.
    """

    def __init__(self, asked: Asked, calls: Calls, tree: SearchTree, scheduler: CallScheduler) -> None:
        self._asked, self._calls, self._tree, self._scheduler = asked, calls, tree, scheduler
        settings = asked.settings
        # A rewrite that found the budget spent leaves only the root's own answer to try.
        self._depth = 1 if calls.halted else settings.tree.max_depth
        self._width = len(STEPS) + settings.tree.requery
        sizes = [self._width**depth for depth in range(self._depth)]
        # Whether every state of the tree is answered, whatever the other answers are.
        self._whole = not settings.tree.adaptive and settings.tree.level_width is None and not settings.tree.reuse
        self._gated = not self._whole or calls.spending.rations()
        self._levels = [_Level(1)] if self._gated else [_Level(size) for size in sizes]
        self._kept = 0
        self._answered: dict[frozenset[UUID], AnswerNode] = {}
        self._done = 0
        self._total = sum(sizes) + settings.tree.requery * sum(sizes[:-1]) if self._whole else 0

    def grow_from(self, root: State) -> None:
        self._levels[0].states[0], self._levels[0].records[0] = root, self._tree.records[0]
        self._proceed(0, 0)
        self._scheduler.run()
        self._keep_rest()

    # --- states: known, answered, left by their actions --------------------------------------------------------------

    def _add_state(self, depth: int, position: int, state: State) -> None:
        level = self._levels[depth]
        level.states[position], level.records[position] = state, state_record(self._calls, state)

    def _proceed(self, depth: int, position: int) -> None:
        """Answer at a state that became known and act on it; with a gate, once its whole level is known."""
        level = self._levels[depth]
        if not self._gated:
            self._answer(depth, [position])
            if depth + 1 < self._depth:
                self._act(depth, [position])
        elif len(level.states) == level.expected:
            self._answer(depth, sorted(level.states))

    def _answer(self, depth: int, positions: Sequence[int]) -> None:
        """Ask for SA at each state. With settings.tree.reuse, equal event sets are answered once."""
        states = self._levels[depth].states
        contexts = {position: show_events(self._asked, states[position]) for position in positions}
        for group in self._groups(contexts):
            state, context = states[group[0]], contexts[group[0]]
            answered_before = self._answered.get(frozenset(context.numbers))
            if answered_before:
                self._scheduler.when_idle(partial(self._share, depth, group, answered_before))
                continue
            task, landed = (
                answer_task(self._asked, self._calls, state, context),
                partial(self._drawn, depth, group, context),
            )
            self._call((depth, _ANSWER, group[0]), task, landed, state.after("SA"))

    def _groups(self, contexts: Mapping[int, EventContext]) -> list[list[int]]:
        """Return the positions in groups that share an answer: those with equal event sets; without reuse none do."""
        if not self._asked.settings.tree.reuse:
            return [[position] for position in contexts]
        groups: dict[frozenset[UUID], list[int]] = {}
        for position, context in contexts.items():
            groups.setdefault(frozenset(context.numbers), []).append(position)
        return list(groups.values())

    def _act(self, depth: int, positions: Sequence[int]) -> None:
        """Take the planned actions at these states of a level. F and B lead on at once, RQ when its call has landed."""
        tree, states = self._tree, self._levels[depth].states
        abstained = {node.state.path for node in tree.nodes if node.answer is not None and not node.answers}
        parents = [states[position] for position in positions]
        plans = plans_for(self._asked, parents, abstained=abstained, shown=tree.shown)
        if self._gated and plans:
            self._levels.append(_Level(len(plans)))
        placed = list(enumerate(plans, start=positions[0] * self._width))
        for position, plan in placed:
            if plan.child is None:
                self._requery(depth + 1, position, plan)
        for position, plan in placed:
            if plan.child is not None:
                self._add_state(depth + 1, position, plan.child)
                self._proceed(depth + 1, position)

    def _requery(self, depth: int, position: int, plan: ActionPlan) -> None:
        task, landed = (
            requery_task(self._asked, self._calls, plan.state),
            partial(self._requeried, depth, position, plan.state),
        )
        self._call((depth, _REQUERY, position), task, landed, "RQ")

    # --- calls: made, landed -----------------------------------------------------------------------------------------

    def _call(
        self, priority: tuple[int, int, int], task: Callable[[], Reply], landed: Callable[[Reply], None], detail: str
    ) -> None:
        """Order the calls by the depth whose state or answer they give, re-queries first: with one call in flight at a
        time the tree grows level by level, with a gate or without."""

        def noted(reply: Reply) -> None:
            self._done += 1
            self._calls.on_progress("search", self._done, self._total, detail)
            landed(reply)

        if not self._whole:
            self._total += 1
        self._scheduler.add(priority, task, noted)

    def _requeried(self, depth: int, position: int, parent: State, requery: Requery) -> None:
        if requery.halt:
            self._end(requery.halt)
            # The tree shows where the search ended.
            self._add_state(depth, position, requeried(self._asked, self._calls, parent, requery))
        elif self._may_go_on():
            self._add_state(depth, position, requeried(self._asked, self._calls, parent, requery))
            self._proceed(depth, position)

    def _drawn(self, depth: int, group: Sequence[int], context: EventContext, draw: Draw) -> None:
        if draw.halt:
            self._end(draw.halt)
        self._scheduler.when_idle(partial(self._score, depth, group, context, draw))

    def _score(self, depth: int, group: Sequence[int], context: EventContext, draw: Draw) -> None:
        node = answer_node(self._asked, self._levels[depth].states[group[0]], context, draw)
        if self._asked.settings.tree.reuse and not draw.error:
            self._answered[frozenset(context.numbers)] = node
        self._share(depth, group, node)

    def _share(self, depth: int, group: Sequence[int], node: AnswerNode) -> None:
        """Store the nodes of states that share an answer: the state that was answered gets node itself."""
        level = self._levels[depth]
        for position in group:
            state = level.states[position]
            level.nodes[position] = node if node.state is state else reused_node(node, state)
        self._keep_complete()

    # --- levels: complete, kept --------------------------------------------------------------------------------------

    def _keep_complete(self) -> None:
        """Keep each level when it and those above it are complete; with a gate, then begin the next one."""
        while self._kept < len(self._levels):
            depth, level = self._kept, self._levels[self._kept]
            if len(level.nodes) < level.expected:
                return
            self._keep_next()
            if self._gated and depth + 1 < self._depth and not self._settled() and self._may_go_on():
                self._act(depth, sorted(level.states))

    def _keep_rest(self) -> None:
        """Keep what was begun of the levels that never were completed."""
        while self._kept < len(self._levels):
            self._keep_next()

    def _keep_next(self) -> None:
        """Keep the next level without the states whose answer never began, unless the search ended at one of them."""
        tree, level = self._tree, self._levels[self._kept]
        begun = [p for p, state in sorted(level.states.items()) if p in level.nodes or self._ended_at(state)]
        self._kept += 1
        if not begun:
            return
        if self._kept > 1:
            tree.records += [level.records[position] for position in begun]
            tree.top_similarity = max(tree.top_similarity, *(level.states[p].top_similarity for p in begun))
        for node in [level.nodes[position] for position in begun if position in level.nodes]:
            tree.nodes.append(node)
            tree.records.append(node_record(node))
            tree.shown.update(node.context.numbers)
        best = tree.best
        if best is not None and best.answer is not None:
            partial_answer = PartialAnswer(best.answer.text, best.answer.choice, best.score, best.path, self._kept)
            self._calls.on_partial(partial_answer)

    # --- the end -----------------------------------------------------------------------------------------------------

    def _settled(self) -> bool:
        return self._asked.settings.tree.adaptive and consensus(self._asked, self._tree)

    def _may_go_on(self) -> bool:
        """Whether another call may be made. A limit that is reached ends the search."""
        if not self._scheduler.stopped:
            try:
                self._calls.spending.check()
            except Halt as halt:
                self._end(halt)
        return not self._scheduler.stopped

    def _ended_at(self, state: State) -> bool:
        return self._scheduler.stopped and bool(state.failed)

    def _end(self, halt: Halt) -> None:
        self._scheduler.stop()
        self._calls.halt(halt)

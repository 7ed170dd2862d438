"""Agentic search on the graph: a tree of F, B and RQ whose nodes each answer by SA (AVA, section 5.2).

Depth 1 is the root's own answer; depth d holds the answers of the states d - 1 actions away, so a full tree has
1, 4, 13 and 40 SA nodes at depths 1 to 4. The tree grows level by level: all calls of a level are in flight together,
and the next level begins when they have landed. Calls of deeper levels would hold budget that shallower ones need.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import NodeRecord, PartialAnswer
from gpu_workers.engine.answering.search.actions import STEPS, State, requeried, requery_task, root_state
from gpu_workers.engine.answering.search.sampling import Draw
from gpu_workers.engine.answering.search.summary_answer import (
    AnswerNode,
    answer_node,
    best_first,
    draw_from,
    node_record,
    reused_node,
    show_events,
    state_record,
)
from gpu_workers.engine.clock_text import clock


@dataclass(slots=True)
class SearchTree:
    """The tree so far. records: every state and SA node, level by level. shown: events that answers have been shown.
    answered: the node of each event set that was answered, if equal sets share an answer. calls: those that landed."""

    nodes: list[AnswerNode] = field(default_factory=list)
    records: list[NodeRecord] = field(default_factory=list)
    shown: set[UUID] = field(default_factory=set)
    answered: dict[object, AnswerNode] = field(default_factory=dict)
    top_similarity: float = 0.0
    calls: int = 0

    @property
    def has_events(self) -> bool:
        """Whether the first retrieval found any event."""
        return bool(self.records and self.records[0].events)

    @property
    def best(self) -> AnswerNode | None:
        """Return the node with the highest S among those that answer; the first of equals."""
        return next(iter(best_first(self.nodes)), None)


def search_tree(asked: Asked, calls: Calls) -> SearchTree:
    """Search until consensus, depth, budget or cancellation ends it; calls.halted is set by the last two.

    With settings.samples.n of 0 no answer is sampled: the search ends after retrieval. Raises ModelError if the first
    retrieval cannot embed the question, and what the graph or a callback raises, after the calls in flight have
    ended.
    """
    tree = SearchTree()
    with calls.timed("retrieval"):
        root = root_state(asked, calls)
    tree.top_similarity = root.top_similarity
    tree.records.append(state_record(calls, root))
    calls.on_nodes(tuple(tree.records))
    calls.on_progress("retrieval", 1, 1, f"{len(root.events)} events")
    if root.events and asked.settings.samples.n:
        with calls.timed("search"):
            _grow(asked, calls, tree, root)
    return tree


def consensus(asked: Asked, tree: SearchTree) -> bool:
    """Whether the best answer is consistent enough to stop: S reaches the gate and half of the samples agree. Eq. 6
    alone would let two samples with the same words outvote six others."""
    best = tree.best
    return best is not None and best.score >= asked.settings.tree.gate and best.votes[0].agreement >= 0.5


def _grow(asked: Asked, calls: Calls, tree: SearchTree, root: State) -> None:
    # A rewrite that found the budget spent leaves only the root's own answer to try.
    depth, level = 1 if calls.halted else asked.settings.tree.max_depth, [root]
    for number in range(1, depth + 1):
        _answer(asked, calls, tree, level)
        if (best := tree.best) is not None and (answer := best.answer) is not None:
            calls.on_partial(PartialAnswer(answer.text, answer.choice, best.score, best.path, number))
        calls.on_nodes(tuple(tree.records))
        if number == depth or not _goes_on(asked, calls, tree):
            return
        level = _next_level(asked, calls, tree, level)
        if not level or not _affords_more(calls):
            return


def _goes_on(asked: Asked, calls: Calls, tree: SearchTree) -> bool:
    return not (asked.settings.tree.adaptive and consensus(asked, tree)) and _affords_more(calls)


def _affords_more(calls: Calls) -> bool:
    """Whether another call may be made. A limit that is reached ends the search."""
    if calls.halted is None:
        try:
            calls.spending.check()
        except Halt as halt:
            calls.halt(halt)
    return calls.halted is None


def _answer(asked: Asked, calls: Calls, tree: SearchTree, level: Sequence[State]) -> None:
    """Answer from every state of a level (SA) and keep the answers. With settings.tree.reuse, equal event sets share
    one. A state whose answer never began, because a limit ended the search, is not kept."""
    contexts = [show_events(asked, state) for state in level]
    keys: list[object] = [
        frozenset(context.numbers) if asked.settings.tree.reuse else index for index, context in enumerate(contexts)
    ]
    first = {key: index for index, key in reversed(list(enumerate(keys))) if key not in tree.answered}
    asking, halted = sorted(first.values()), calls.halted

    def draw(index: int) -> Draw | None:
        if calls.halted is not halted:
            return None
        drawn = draw_from(asked, calls, level[index], contexts[index])
        if drawn.halt:
            calls.halt(drawn.halt)
        return drawn

    details = [_events_words(contexts[index]) for index in asking]
    draws = calls.together("search", [partial(draw, i) for i in asking], details=details, before=tree.calls)
    tree.calls += len(asking)
    nodes = {
        keys[index]: answer_node(asked, level[index], contexts[index], drawn)
        for index, drawn in zip(asking, draws, strict=True)
        if drawn is not None
    }
    known = {**tree.answered, **nodes}
    kept = [(state, known[key]) for state, key in zip(level, keys, strict=True) if key in known]
    if level[0].path:
        tree.records += [state_record(calls, state) for state, _ in kept]
    for state, source in kept:
        node = source if source.state is state else reused_node(source, state)
        tree.nodes.append(node)
        tree.records.append(node_record(node))
        tree.shown.update(node.context.numbers)
        tree.top_similarity = max(tree.top_similarity, state.top_similarity)
    if asked.settings.tree.reuse:
        tree.answered |= {key: node for key, node in nodes.items() if not node.draw.error}


def _events_words(context: EventContext) -> str:
    """Return how many events are read, and from when to when if they are of one video, for people who wait."""
    events = context.events.values()
    words = f"{len(events)} events"
    if len({event.video_id for event in events}) != 1:
        return words
    start, end = min(event.span.start_ms for event in events), max(event.span.end_ms for event in events)
    return f"{words} between {clock(start)} and {clock(end)}"


def _next_level(asked: Asked, calls: Calls, tree: SearchTree, level: Sequence[State]) -> list[State]:
    """Return the states that the planned actions lead to; none if the search ended at one of the re-queries."""
    abstained = {node.state.path for node in tree.nodes if node.answer is not None and not node.answers}
    plans = plans_for(asked, level, abstained=abstained, shown=tree.shown)
    requeries = [plan.state for plan in plans if plan.child is None]
    tasks = [requery_task(asked, calls, state) for state in requeries]
    landed = calls.together("search", tasks, details=["other words"] * len(tasks), before=tree.calls)
    tree.calls += len(tasks)
    replies = dict(zip((state.path for state in requeries), landed, strict=True))
    for state in requeries:
        if halt := replies[state.path].halt:
            calls.halt(halt)
            # The tree shows where the search ended.
            tree.records.append(state_record(calls, requeried(asked, calls, state, replies[state.path])))
            return []
    return [plan.child or requeried(asked, calls, plan.state, replies[plan.state.path]) for plan in plans]


# --- the actions of a level: all of them, or those that bring the most new information -------------------------------


@dataclass(frozen=True, slots=True)
class ActionPlan:
    """An action considered at a state. child: the state that F or B leads to. A re-query has no child before its model
    call, so its gain is an estimate."""

    state: State
    action: str
    gain: float = 0.0
    child: State | None = None


def plans_for(
    asked: Asked, states: Sequence[State], *, abstained: Collection[str], shown: Collection[UUID]
) -> list[ActionPlan]:
    """Return the actions for these states of one level; with a level_width the most informative ones, best first.

    abstained: paths of the states whose answer was an abstention. shown: events that an answer has been shown.
    With settings.tree.reuse, equal event sets are also queried again only once.
    """
    settings = asked.settings
    plans: list[ActionPlan] = []
    queried: set[frozenset[UUID]] = set()
    for state in states:
        plans += [ActionPlan(state, action, child=step(asked, state)) for action, step in STEPS.items()]
        listed = frozenset(event.event_id for event in state.events)
        if settings.tree.requery and not (settings.tree.reuse and listed in queried):
            queried.add(listed)
            plans.append(ActionPlan(state, "RQ", _requery_gain(asked, state, abstained=state.path in abstained)))
    return plans if settings.tree.level_width is None else most_informative(plans, shown, settings.tree.level_width)


def most_informative(plans: Sequence[ActionPlan], shown: Collection[UUID], width: int) -> list[ActionPlan]:
    """Return up to width plans, each the one that adds most to shown and to the plans before it, and never nothing.

    A plan adds the scores of the events that it brings and that neither an answer nor a better plan has shown.
    """
    covered, chosen, left = set(shown), list[ActionPlan](), list(plans)
    while left and len(chosen) < width:
        best = min(left, key=lambda plan: (-_gain(plan, covered), plan.state.after(plan.action)))
        if _gain(best, covered) <= 0:
            break
        left.remove(best)
        chosen.append(best)
        covered.update(event.event_id for event in (best.child.events if best.child else ()))
    return chosen


def _gain(plan: ActionPlan, covered: set[UUID]) -> float:
    if plan.child is None:
        return plan.gain
    return sum(event.score for event in plan.child.events if event.event_id not in covered)


def _requery_gain(asked: Asked, state: State, *, abstained: bool) -> float:
    """Estimate the gain of a re-query: one view's worth of average events, and twice as much after an abstention."""
    mean = sum(event.score for event in state.events) / len(state.events)
    return asked.settings.retrieval.events * mean * (2 if abstained else 1)

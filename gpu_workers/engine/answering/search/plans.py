"""The choice of a level's actions: all of them, or those that bring the most new information."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.search.actions import STEPS, State


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

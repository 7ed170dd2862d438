"""The paper's tree unrolled (AVA, figure 5): every call begins as soon as what it reads is known, whatever its depth.

F and B lead to new states without a model call, so that at once seven of the 13 answers of depth 3 and three of its
four re-queries are in flight. The longest chain of calls that wait for each other is RQ, RQ, SA.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial

from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import NodeRecord
from gpu_workers.engine.answering.run import QuestionRun
from gpu_workers.engine.answering.search.actions import (
    Requery,
    State,
    requeried,
    requery_task,
    step_backward,
    step_forward,
)
from gpu_workers.engine.answering.search.sampling import Draw
from gpu_workers.engine.answering.search.summary_answer import (
    AnswerNode,
    answer_node,
    answer_task,
    show_events,
    state_record,
)

STEPS: dict[str, Callable[[QuestionRun, State], State]] = {"F": step_forward, "B": step_backward}

Place = tuple[int, ...]
"""Where a state is: the numbers of its actions, F 0, B 1 and RQ 2; () is the root. Sorts as the states are listed."""

_REQUERY, _ANSWER = 0, 1


@dataclass(frozen=True, slots=True)
class Grown:
    """A state and the answer from it. node: None if the search was ended before it could be asked for."""

    state: State
    record: NodeRecord
    node: AnswerNode | None


def unroll(run: QuestionRun, root: State, *, on_level: Callable[[int, Sequence[Grown]], None]) -> None:
    """Answers at root and at every state up to settings.max_depth - 1 actions away, settings.in_flight calls at once.

    on_level: told of each level, in order, when it and those above it are complete: its number (1 is the root's own)
    and its states in the order of Place. Once the budget or the caller ends the search nothing new begins, run.halted
    says why, and on_level is told what was begun. What a callback or the graph raises is raised after the calls in
    flight have ended. The graph is read and answers are scored in this thread alone.
    """
    with ThreadPoolExecutor(max_workers=run.settings.in_flight) as pool:
        _Unrolling(run, pool, on_level).from_root(root)


@dataclass(order=True, slots=True)
class _Call:
    """order: the level whose state or answer it gives, re-queries before answers, then the place: with one call in
    flight at a time, the order of a search level by level."""

    order: tuple[int, int, Place]
    ask: Callable[[], Draw | Requery] = field(compare=False)
    landed: Callable[[Draw | Requery], None] = field(compare=False)
    detail: str = field(compare=False)


class _Unrolling:
    def __init__(
        self, run: QuestionRun, pool: ThreadPoolExecutor, on_level: Callable[[int, Sequence[Grown]], None]
    ) -> None:
        self._run, self._pool, self._on_level = run, pool, on_level
        # A rewrite that found the budget spent leaves only the root's own answer to try.
        self._depth = 1 if run.halted else run.settings.max_depth
        width = len(STEPS) + run.settings.requery
        self._sizes = [width**level for level in range(self._depth)]
        self._total = sum(self._sizes) + (sum(self._sizes[:-1]) if run.settings.requery else 0)
        self._done = self._told = 0
        self._ended = False
        self._waiting: list[_Call] = []
        self._flying: dict[Future[Draw | Requery], _Call] = {}
        self._unscored: list[tuple[Place, EventContext, Draw]] = []
        self._states: dict[Place, tuple[State, NodeRecord]] = {}
        self._nodes: dict[Place, AnswerNode] = {}

    def from_root(self, root: State) -> None:
        self._add((), root)
        while self._flying or self._unscored:
            # Scoring takes this thread's time: it is done while nothing that others wait for has come in.
            landed = wait(self._flying, timeout=0 if self._unscored else None, return_when=FIRST_COMPLETED).done
            for future in sorted(landed, key=lambda future: self._flying[future].order[1:]):
                self._land(self._flying.pop(future), future.result())
            self._begin()
            if self._unscored and not landed:
                self._score(*self._unscored.pop(0))
        self._tell(complete=False)

    def _add(self, place: Place, state: State) -> None:
        """A state is known: so are its answer's prompt, its re-query's, and the states that follow by F and B."""
        run, level = self._run, len(place) + 1
        self._states[place] = (state, state_record(run, state))
        context = show_events(run, state)
        answered = partial(self._answered, place, context)
        self._due((level, _ANSWER, place), answer_task(run, state, context), answered, state.after("SA"))
        if level == self._depth:
            return
        if run.settings.requery:
            child = (*place, len(STEPS))
            self._due((level + 1, _REQUERY, child), requery_task(run, state), partial(self._asked, child, state), "RQ")
        for number, step in enumerate(STEPS.values()):
            self._add((*place, number), step(run, state))

    def _due(
        self,
        order: tuple[int, int, Place],
        ask: Callable[[], Draw | Requery],
        landed: Callable[..., None],
        detail: str,
    ) -> None:
        heapq.heappush(self._waiting, _Call(order, ask, landed, detail))
        self._begin()

    def _begin(self) -> None:
        while self._waiting and not self._ended and len(self._flying) < self._run.settings.in_flight:
            call = heapq.heappop(self._waiting)
            self._flying[self._pool.submit(call.ask)] = call

    def _land(self, call: _Call, result: Draw | Requery) -> None:
        self._done += 1
        self._run.on_progress("search", self._done, self._total, call.detail)
        if result.halt:
            self._end(result.halt)
        call.landed(result)

    def _asked(self, place: Place, state: State, requery: Requery) -> None:
        try:
            if not self._ended:
                self._run.spending.check()
        except Halt as halt:
            self._end(halt)
        if not self._ended:
            self._add(place, requeried(self._run, state, requery))
        elif requery.halt:
            child = requeried(self._run, state, requery)
            self._states[place] = (child, state_record(self._run, child))

    def _answered(self, place: Place, context: EventContext, draw: Draw) -> None:
        self._unscored.append((place, context, draw))

    def _score(self, place: Place, context: EventContext, draw: Draw) -> None:
        self._nodes[place] = answer_node(self._run, self._states[place][0], context, draw)
        self._tell(complete=True)

    def _end(self, halt: Halt) -> None:
        self._ended = True
        self._run.halt(halt)

    def _tell(self, *, complete: bool) -> None:
        """The levels that nobody was told of yet: those that are complete, or at the end all that were begun."""
        while self._told < self._depth:
            places = sorted(place for place in self._states if len(place) == self._told)
            answered = sum(place in self._nodes for place in places)
            if complete and answered < self._sizes[self._told]:
                return
            self._told += 1
            grown = [Grown(*self._states[place], self._nodes.get(place)) for place in places]
            # A state whose answer never began tells nothing, unless it is where the search ended.
            begun = [one for one in grown if one.node or (self._ended and one.state.failed)]
            if begun:
                self._on_level(self._told, begun)

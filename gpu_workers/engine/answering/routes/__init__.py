"""How method `ava` answers by another route than search, by the name of the route."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.asking.understood import Route
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.routes.time import answer_by_time

RouteAnswer = Callable[[Asked, Calls], Answer | None]
"""Answers by a route. None: the scope has nothing that this route reads, so the question is searched for instead."""

ROUTE_ANSWERS: Mapping[Route, RouteAnswer] = {
    "time": answer_by_time,
}

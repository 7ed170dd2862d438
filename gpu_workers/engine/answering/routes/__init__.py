"""How method `ava` answers by another route than search, by the name of the route."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.routes.objects import answer_by_objects
from gpu_workers.engine.answering.routes.scan import answer_by_scan
from gpu_workers.engine.answering.routes.time import answer_by_time
from gpu_workers.engine.answering.routes.whole import answer_by_reading
from gpu_workers.engine.answering.understood import Route

RouteAnswer = Callable[[Asked, Calls], Answer | None]
"""Answers by a route. None: the scope has nothing that this route reads, so the question is searched for instead."""

ROUTE_ANSWERS: Mapping[Route, RouteAnswer] = {
    "whole": answer_by_reading,
    "scan": answer_by_scan,
    "objects": answer_by_objects,
    "time": answer_by_time,
}

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

ROUTE_ANSWERS: Mapping[Route, Callable[[Asked, Calls], Answer | None]] = {
    "whole": answer_by_reading,
    "scan": answer_by_scan,
    "objects": answer_by_objects,
    "time": answer_by_time,
}
"""Each returns None where the scope has nothing that the route reads: the question is searched for instead."""

"""Searches of a single view of a graph, which most tests need."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.ekg import Vector
from gpu_workers.engine.ports import Hit, KnowledgeGraph, ViewName, ViewQuery


def search(
    graph: KnowledgeGraph, view: ViewName, vector: Vector, *, limit: int = 5, floor: float = 0.1
) -> Sequence[Hit]:
    return graph.search_views({view: ViewQuery(vector, limit)}, floor=floor)[view]

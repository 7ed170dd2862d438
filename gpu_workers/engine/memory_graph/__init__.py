"""An Event Knowledge Graph held in memory, for notebooks, the evaluation harness and tests.

InMemoryGraph answers every call of ports.KnowledgeGraph over MemoryVideos. Nothing changes after construction, so any
number of threads may read it.
"""

from gpu_workers.engine.memory_graph.graph import InMemoryGraph
from gpu_workers.engine.memory_graph.video import MemoryVideo

__all__ = ["InMemoryGraph", "MemoryVideo"]

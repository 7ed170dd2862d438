"""Removes one index version from the Event Knowledge Graph: topology and rows together, in the caller's transaction."""

from __future__ import annotations

from uuid import UUID

from backend.ekg.graph_store import GraphStore
from backend.ekg.models import IndexRow


def drop_version(video_id: UUID, version: int) -> None:
    """Remove all rows and the graph of one version, from every table; other versions stay."""
    graph = GraphStore()
    graph.lock_video(video_id)
    graph.drop_version(video_id, version)
    for model in IndexRow.__subclasses__():
        model.objects.filter(video_id=video_id, index_version=version).delete()

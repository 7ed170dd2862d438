"""The contents of an index version in numbers.

backend.ekg stores the contents and stands above this app, so it registers the reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class GraphSize:
    """Number of vertices and edges in the graph."""

    vertices: int
    edges: int


@dataclass(frozen=True, slots=True)
class IndexSize:
    """Number of rows of each kind that one index version holds."""

    chunks: int
    events: int
    entities: int
    mentions: int
    relations: int
    frames: int
    graph: GraphSize


@dataclass(frozen=True, slots=True)
class Gaps:
    """The parts of an index version without a description: chunks, their milliseconds, and chunks by reason code."""

    count: int
    ms: int
    codes: dict[str, int]


class IndexContents(Protocol):
    """Reads the rows of one index version, inside the open tenant_scope."""

    def index_size(self, video_id: UUID, index_version: int) -> IndexSize: ...

    def gaps(self, video_id: UUID, index_version: int) -> Gaps: ...

    def failed_segments(self, video_id: UUID, index_version: int) -> list[int]:
        """Return the numbers of the segments with a gap that does not lie in the recording itself."""
        ...

    def thumbnails_at(self, moments: Mapping[UUID, tuple[UUID, int, int]]) -> dict[UUID, str]:
        """Return, by key, the object of the thumbnail nearest to (video, index version, ms), if there is one."""
        ...


_registered: IndexContents | None = None


def register(contents: IndexContents) -> None:
    """Set the reader of this process; called once, when the app that stores the index is loaded."""
    global _registered
    _registered = contents


def index_contents() -> IndexContents:
    """Return the registered reader."""
    if _registered is None:
        raise RuntimeError("no app has registered a reader of index contents")
    return _registered

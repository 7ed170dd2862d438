"""The hard filter of a question's reads, and the connection on which they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar
from uuid import UUID

from django.db import connection, connections

from backend.ekg.arrays import number_array, uuid_array
from backend.jobs import commits
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.ekg import Span

T = TypeVar("T")

END_OF_TIME = 2**62
"""Milliseconds, beyond the end of every video."""


@dataclass(frozen=True, slots=True)
class ScopedVideo:
    """One video of a question's scope: its index version, and how far this was indexed when work began.

    start_ms, end_ms: narrow this video alone.
    """

    video_id: UUID
    index_version: int
    until_ms: int
    start_ms: int = 0
    end_ms: int = END_OF_TIME


@dataclass(frozen=True, slots=True)
class Scope:
    """The hard filter of every query of a question. start_ms and end_ms narrow every video."""

    tenant_id: UUID
    videos: tuple[ScopedVideo, ...]
    start_ms: int = 0
    end_ms: int = END_OF_TIME

    def starts(self, video: ScopedVideo) -> int:
        return max(self.start_ms, video.start_ms)

    def ends(self, video: ScopedVideo) -> int:
        return min(self.end_ms, video.end_ms)

    def narrowed(self, spans: Mapping[UUID, Span]) -> Scope:
        """Return this scope with only spans of its videos; a video with nothing in its span is left out."""
        videos = []
        for video in self.videos:
            asked = spans.get(video.video_id)
            start_ms, end_ms = self.starts(video), self.ends(video)
            part = None if asked is None or start_ms >= end_ms else asked.cut_to(Span(start_ms, end_ms))
            if part is not None:
                videos.append(replace(video, start_ms=part.start_ms, end_ms=part.end_ms))
        return replace(self, videos=tuple(videos))

    @property
    def readable_ms(self) -> int:
        """Return the length of everything that may be read."""
        return sum(max(0, min(self.ends(video), video.until_ms) - self.starts(video)) for video in self.videos)

    def readable(self, video_id: UUID) -> tuple[ScopedVideo, Span] | None:
        """Return the video with the span of it that may be read; None if there is none."""
        for video in self.videos:
            start_ms, end_ms = self.starts(video), min(self.ends(video), video.until_ms)
            if video.video_id == video_id and start_ms < end_ms:
                return video, Span(start_ms, end_ms)
        return None


class ScopedQueries:
    """Runs queries with the parameters of one Scope.

    They run one after another on a thread of their own with its own connection, because the engine calls from many
    threads and each query takes milliseconds. close() ends the thread.
    """

    def __init__(self, scope: Scope) -> None:
        self._bind(scope)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="graph")

    def _bind(self, scope: Scope) -> None:
        self._scope = scope
        self._scope_parameters: dict[str, Any] = {**_videos(scope, scope.videos), "tenant": scope.tenant_id}

    def narrowed(self, spans: Mapping[UUID, Span]) -> Self:
        """Return the same reads on a narrower scope (engine.ports.KnowledgeGraph.narrowed). They run on this thread:
        close() of either ends both."""
        narrower = copy(self)
        narrower._bind(self._scope.narrowed(spans))
        return narrower

    def close(self) -> None:
        self._thread.submit(connections.close_all).result()
        self._thread.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _run(self, query: Callable[[], T]) -> T:
        def scoped() -> T:
            # A restart of the database must not cost a question the answers that it has.
            return commits.read(lambda: tenant_scope(self._scope.tenant_id), query)

        return self._thread.submit(scoped).result()

    def _rows(self, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql, self._scope_parameters | parameters)
            return list(cursor.fetchall())

    def _part_of(self, video_id: UUID, span: Span) -> Span | None:
        """Return the part of span in scope; None if there is none."""
        found = self._scope.readable(video_id)
        return None if found is None else span.cut_to(found[1])

    def _part(self, video_id: UUID, span: Span) -> dict[str, Any] | None:
        """Return the parameters that narrow the scope to one video, with from and to: the part of span in scope.

        None if nothing of span is in scope.
        """
        found = self._scope.readable(video_id)
        part = self._part_of(video_id, span)
        if found is None or part is None:
            return None
        return {**_videos(self._scope, found[:1]), "from": part.start_ms, "to": part.end_ms}


def _videos(scope: Scope, videos: Sequence[ScopedVideo]) -> dict[str, Any]:
    return {
        "videos": uuid_array(video.video_id for video in videos),
        "versions": number_array(video.index_version for video in videos),
        "untils": number_array(video.until_ms for video in videos),
        "starts": number_array(scope.starts(video) for video in videos),
        "ends": number_array(scope.ends(video) for video in videos),
    }

"""Reads of a question's scope by video: what is known about each recording as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from backend.ekg.scope import ScopedQueries
from backend.library.models import Video
from gpu_workers.engine.ports import Recording


class RecordingReads(ScopedQueries):
    """The reads of engine.ports.KnowledgeGraph by recording."""

    def recordings(self) -> Mapping[UUID, Recording]:
        scoped = {video.video_id: video for video in self._scope.videos}

        def read() -> dict[UUID, Recording]:
            found = {}
            for row in Video.objects.filter(id__in=scoped).order_by("id"):
                video = scoped[row.id]
                until_ms = min(video.until_ms, self._scope.ends(video))
                found[row.id] = Recording(row.id, row.title, until_ms)
            return found

        return self._run(read) if scoped else {}

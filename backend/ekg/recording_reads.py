"""Reads of a question's scope by video: what is known about each recording as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from backend.ekg.scope import ScopedQueries
from backend.library.models import Video
from backend.library.wall_clocks import fitted_clocks
from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.ports import Recording


class RecordingReads(ScopedQueries):
    """The reads of engine.ports.KnowledgeGraph by recording."""

    def recordings(self) -> Mapping[UUID, Recording]:
        scoped = {video.video_id: video for video in self._scope.videos}

        def read() -> dict[UUID, Recording]:
            rows = list(Video.objects.filter(id__in=scoped).order_by("id"))
            versions = {video_id: video.index_version for video_id, video in scoped.items()}
            clocks = fitted_clocks(rows, versions=versions)
            found = {}
            for row in rows:
                video = scoped[row.id]
                until_ms = min(video.until_ms, self._scope.ends(video))
                clock = clocks[row.id].clock
                found[row.id] = Recording(row.id, row.title, until_ms, ENGLISH, row.spoken_language, clock)
            return found

        return self._run(read) if scoped else {}

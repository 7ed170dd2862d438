"""The server-sent events of an index job: its progress whenever it changes, then its outcome."""

from __future__ import annotations

from uuid import UUID

from backend.api.server.event_streams import event
from backend.library.bodies.index_jobs import index_job_bodies
from backend.library.models import Video
from backend.tenancy.context import tenant_scope

LONGEST_STREAM_SECONDS = 15 * 60.0
"""Duration after which a stream ends by itself. The client connects again and gets the present state first."""
OPEN = ("queued", "running", "paused")


class IndexEvents:
    """The events of an index job (an Awaited): `progress` whenever it changes, then `outcome`.

    A video that is deleted meanwhile is over without an outcome.
    """

    seconds = LONGEST_STREAM_SECONDS

    def __init__(self, *, tenant_id: UUID, video_id: UUID) -> None:
        self.subject, self.over = video_id, False
        self._tenant_id = tenant_id
        self._shown: object = None

    def look(self) -> bytes:
        """Return the event that is new since the last look, if there is one."""
        with tenant_scope(self._tenant_id):
            bodies = index_job_bodies(list(Video.objects.filter(id=self.subject)))
        if not bodies:
            self.over = True
            return b""
        (body,) = bodies
        if body["status"] not in OPEN:
            self.over = True
            return event("outcome", body)
        # The estimate alone is no news.
        shown = {**body, "seconds_left": None}
        if shown == self._shown:
            return b""
        self._shown = shown
        return event("progress", body)

"""Sending the pieces of a spool to the service, in order, each once, and beginning a new video each day."""

from __future__ import annotations

import datetime
import hashlib
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ava_cloud._generated.api.input_segments import append_input_segment, close_video
from ava_cloud._generated.api.videos import create_video
from ava_cloud._generated.models import InputSegmentRequest, SegmentsSourceRequest, UploadSourceRequest, VideoRequest
from ava_cloud._requests import given
from ava_cloud.recorder.pieces import Piece, Recording, Spool

if TYPE_CHECKING:
    from ava_cloud._sync.client import Ava


class Sender:
    """Appends pieces to the video of their day. name: of the camera; it is also the external_id with the day."""

    def __init__(self, ava: Ava, spool: Spool, *, name: str, time_zone: str, collection_id: str | None) -> None:
        self._ava, self._spool, self._name = ava, spool, name
        self._zone, self._collection_id = ZoneInfo(time_zone), collection_id

    def send_all(self) -> int:
        """Send what waits, oldest first. Returns how many pieces were sent. Raises AvaError; the rest then waits."""
        sent = 0
        for piece in self._spool.waiting():
            self._send(piece)
            self._spool.remove(piece)
            sent += 1
        return sent

    def close(self) -> None:
        """Send what waits, and end the video."""
        self.send_all()
        if (recording := self._spool.recording) is not None:
            close_video.sync(recording.video_id, client=self._ava.api)

    def _send(self, piece: Piece) -> None:
        recorded_at = datetime.datetime.fromtimestamp(piece.recorded_ms / 1000, self._zone)
        video_id = self._video_of(recorded_at)
        upload_id = self._ava.videos.send_file(self._spool.path(piece.n), key=f"file-{video_id}-{piece.n}")
        body = InputSegmentRequest(
            UploadSourceRequest("upload", upload_id),
            recorded_at=recorded_at,
            time_zone=self._zone.key,
            duration_ms=piece.duration_ms,
        )
        key = f"piece-{video_id}-{piece.n}"
        append_input_segment.sync(video_id, client=self._ava.api, body=body, idempotency_key=key)

    def _video_of(self, recorded_at: datetime.datetime) -> str:
        """Return the video of a day; the first piece of a day begins it, and ends that of the day before."""
        day = recorded_at.date().isoformat()
        kept = self._spool.recording
        if kept is not None and kept.day >= day:
            return kept.video_id
        name = f"{self._name} {day}"
        made = create_video.sync(
            client=self._ava.api,
            body=VideoRequest(
                SegmentsSourceRequest("segments"),
                title=name,
                external_id=name,
                collection_id=given(self._collection_id),
                recorded_at=recorded_at,
                time_zone=self._zone.key,
            ),
            idempotency_key=f"record-{hashlib.sha256(f'{name} {recorded_at}'.encode()).hexdigest()}",
        )
        self._spool.recording = Recording(made.id, day)
        if kept is not None:
            close_video.sync(kept.video_id, client=self._ava.api)
        return made.id

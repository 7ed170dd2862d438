"""Recorded files as those who copy and encode them see them."""

from __future__ import annotations

from backend.library.models import ProbedRow
from backend.library.recording import RecordedPiece
from gpu_workers.engine.indexing.picture_format import PictureFormat
from gpu_workers.engine.media.renditions import Recording


def recording_of(recorded: RecordedPiece, row: ProbedRow, url: str) -> Recording:
    """Return what a renderer needs to know of the file at url. row: the measurements of this file."""
    track = next(iter(recorded.tracks), None)
    return Recording(
        url=url,
        clock=recorded.clock.moved(recorded.start_ms),
        container=row.container,
        codec=row.codec,
        width=row.width or 2,
        height=row.height or 2,
        fps=row.fps,
        rotation=row.rotation,
        bitrate=row.bitrate,
        pictures=PictureFormat.of_fields(row.picture_format),
        track=None if track is None else track.number,
        audio_codec="" if track is None else track.codec,
    )

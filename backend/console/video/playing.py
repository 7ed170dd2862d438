"""The recording of a video for the player of its page."""

from __future__ import annotations

from dataclasses import dataclass

from backend.library import recording
from backend.library.content_types import playback_type
from backend.library.models import Video
from backend.library.storage import ObjectStorage
from backend.tenancy.context import tenant_scope

PLAYED_AT_ONCE = 50
"""Maximum number of pieces of a growing recording that the page can play."""


@dataclass(frozen=True, slots=True)
class PlayedPiece:
    """A piece of the recording. url: for 30 minutes. start_ms: on the video's clock. offset_ms: within the file."""

    url: str
    start_ms: int
    end_ms: int
    offset_ms: int


def played(video: Video) -> list[PlayedPiece]:
    """Return the pieces of the recording in time order; none before it is probed, or after it is deleted."""
    storage, kind = ObjectStorage(), playback_type(video)
    with tenant_scope(video.tenant_id):
        pieces = recording.pieces(video, limit=PLAYED_AT_ONCE)
    return [
        PlayedPiece(
            storage.presign_get(piece.object_key, content_type=kind),
            piece.start_ms,
            piece.end_ms,
            piece.source_start_ms,
        )
        for piece in pieces
    ]

"""What a browser may take a recording for. What a customer announced decides little, because it may be a page."""

from __future__ import annotations

from backend.library.models import Video
from backend.library.storage import PLAIN_BYTES

# By the names that the probe gives to containers.
_OF_CONTAINER = {
    "mov": "video/mp4",
    "matroska": "video/x-matroska",
    "avi": "video/x-msvideo",
    "mpegts": "video/mp2t",
    "mpeg": "video/mpeg",
    "flv": "video/x-flv",
    "ogg": "video/ogg",
    "gif": "image/gif",
}


def stored_type(announced: str) -> str:
    """Return the type under which a recording is stored: the announced type if it is pictures in motion or sound."""
    kind = announced.lower()
    return kind if kind.split("/")[0] in ("video", "audio") else PLAIN_BYTES


def playback_type(video: Video) -> str:
    """Return the type under which a recording is played: that of its probed container, plain bytes before the probe."""
    return _OF_CONTAINER.get(video.container, PLAIN_BYTES)

"""Signed addresses of renditions, made when a reply is written and never stored."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings

from backend.api.public_ids import encode


def playlist_url(video_id: UUID, token: str, **query: int) -> str:
    """Return the address of a playlist that players open without a key. query: start_ms, end_ms."""
    return f"{_video(video_id)}/hls/index.m3u8?{urlencode({'token': token, **query})}"


def storyboard_url(video_id: UUID, token: str) -> str:
    """Return the address of a storyboard that players open without a key."""
    return f"{_video(video_id)}/storyboard.vtt?{urlencode({'token': token})}"


def _video(video_id: UUID) -> str:
    return f"{settings.PUBLIC_URL}/v1/videos/{encode('vid', video_id)}"

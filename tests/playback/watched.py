"""Recordings of every kind that people upload, and their renditions as a player sees them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin, urlsplit
from uuid import UUID

import httpx

from backend.api.public_ids import encode
from tests.conftest import Cast
from tests.tasks.world import RENDERING, WITHOUT_MODELS, arrived, run_due


def watched(cast: Cast, content: bytes) -> UUID:
    """Return a video that was uploaded, measured and rendered."""
    video_id = arrived(cast, content)
    run_due(classes=WITHOUT_MODELS)
    run_due(classes=RENDERING)
    return video_id


def path_of(video_id: UUID) -> str:
    return f"/v1/videos/{encode('vid', video_id)}"


def playlist(cast: Cast, video_id: UUID, **query: Any) -> str:
    response = cast.client.get(f"{path_of(video_id)}/hls/index.m3u8", query)
    assert response.status_code == 200, response.content
    assert response["Content-Type"] == "application/vnd.apple.mpegurl"
    return str(response.content.decode())


@dataclass(frozen=True)
class Line:
    """An entry of a playlist: seconds, and the byte range of its piece; None for a gap."""

    seconds: float
    uri: str
    offset: int | None
    size: int


def lines_of(text: str) -> list[Line]:
    lines, seconds, size, offset, is_gap, following = [], 0.0, 0, 0, False, 0
    for line in text.splitlines():
        if line.startswith("#EXTINF:"):
            seconds = float(line[8:].rstrip(","))
        elif line.startswith("#EXT-X-BYTERANGE:"):
            first, _, at = line[17:].partition("@")
            size, offset = int(first), int(at) if at else following
        elif line == "#EXT-X-GAP":
            is_gap = True
        elif line and not line.startswith("#"):
            lines.append(Line(seconds, line, None if is_gap else offset, size))
            following, is_gap = offset + size, False
    return lines


def without_tokens(text: str) -> list[Line]:
    """Return the entries of a playlist by their own paths: a token changes every quarter of an hour."""
    return [replace(line, uri=line.uri.partition("?")[0]) for line in lines_of(text)]


def media(cast: Cast, video_id: UUID, text: str) -> bytes:
    """Return all that a player reads of a playlist: each first part, then the fragments, through the redirects."""
    base = f"{path_of(video_id)}/hls/index.m3u8"
    read = bytearray()
    for uri, part in re.findall(r'#EXT-X-MAP:URI="([^"]+)",BYTERANGE="(\d+)@0"', text)[:1]:
        read += _range(cast, urljoin(base, uri), 0, int(part))
    for line in lines_of(text):
        if line.offset is not None:
            read += _range(cast, urljoin(base, line.uri), line.offset, line.size)
    return bytes(read)


def _range(cast: Cast, path: str, offset: int, size: int) -> bytes:
    response = cast.client.get(path)
    assert response.status_code == 302, response.content
    reply = httpx.get(response["Location"], headers={"Range": f"bytes={offset}-{offset + size - 1}"})
    assert reply.status_code == 206, (reply.status_code, urlsplit(str(reply.url)).path)
    return reply.content

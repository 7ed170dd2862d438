"""A recorder: one recording cut into files at any time, sent piece by piece over the public API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from backend.api.public_ids import decode, encode
from backend.library.models import Segment, Video
from backend.library.storage import ObjectStorage
from tests.conftest import Cast
from tests.library.uploading import create_upload, put_all
from tests.tasks.world import Scene, recording


def cut(scenes: Sequence[Scene], start_ms: int, end_ms: int) -> bytes:
    """Return the MP4 of one span of a recording; times are multiples of 100 ms, the length of its pictures."""
    parts = [
        Scene(scene.colour, max(scene.start_ms, start_ms), min(scene.end_ms, end_ms))
        for scene in scenes
        if scene.start_ms < end_ms and start_ms < scene.end_ms
    ]
    return recording(tuple(parts))


def begin(cast: Cast, **fields: Any) -> UUID:
    response = cast.client.post("/v1/videos", {"source": {"type": "segments"}, **fields})
    assert response.status_code == 202, response.content
    return decode("vid", response.json()["id"])


def send(cast: Cast, video_id: UUID, content: bytes) -> dict[str, Any]:
    """Upload one piece and append it."""
    upload = create_upload(cast.client, content)
    put_all(cast.client, upload, content)
    response = append(cast, video_id, upload["id"])
    assert response.status_code == 202, response.content
    segment: dict[str, Any] = response.json()
    return segment


def append(cast: Cast, video_id: UUID, upload_id: str, **headers: str) -> Any:
    body = {"source": {"type": "upload", "upload_id": upload_id}}
    return cast.client.post(f"{path_of(video_id)}/segments", body, **headers)


def close(cast: Cast, video_id: UUID) -> dict[str, Any]:
    response = cast.client.post(f"{path_of(video_id)}/close")
    assert response.status_code == 202, response.content
    video: dict[str, Any] = response.json()
    return video


def path_of(video_id: UUID) -> str:
    return f"/v1/videos/{encode('vid', video_id)}"


def segments(cast: Cast, video_id: UUID) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = cast.client.get(f"{path_of(video_id)}/segments").json()["data"]
    return rows


def of_url(cast: Cast, url: str) -> dict[str, Any]:
    response = cast.client.post("/v1/videos", {"source": {"type": "url", "url": url}, "title": "Film"})
    assert response.status_code == 202, response.content
    video: dict[str, Any] = response.json()
    return video


def spans(cast: Cast, video_id: UUID) -> list[tuple[int, int]]:
    with cast.scope():
        return list(Segment.objects.filter(video_id=video_id).order_by("n").values_list("start_ms", "end_ms"))


def row(cast: Cast, video_id: UUID) -> Video:
    with cast.scope():
        video: Video = Video.objects.get(id=video_id)
        return video


def sources(cast: Cast) -> list[str]:
    """Return the keys of all recordings that a tenant has in storage."""
    return list(ObjectStorage().list_keys(f"t/{cast.tenant_id}/u/"))

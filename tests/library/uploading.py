"""Uploads over the public API and the real S3 protocol, in the way of a customer's client."""

from __future__ import annotations

from typing import Any

import httpx

from backend.jobs.models import Job, JobKind
from tests.conftest import Cast
from tests.running import run_job


def create_upload(client: Any, content: bytes, **fields: Any) -> dict[str, Any]:
    body = {"filename": "clip.mp4", "size_bytes": len(content), "content_type": "video/mp4", **fields}
    response = client.post("/v1/uploads", body)
    assert response.status_code == 201, response.content
    upload: dict[str, Any] = response.json()
    return upload


def put_part(client: Any, upload_id: str, number: int, content: bytes, **body: Any) -> httpx.Response:
    response = client.post(f"/v1/uploads/{upload_id}/part-urls", {"part_numbers": [number], **body})
    assert response.status_code == 200, response.content
    part = response.json()["data"][0]
    return httpx.put(part["url"], content=content, headers=part["headers"])


def put_all(client: Any, upload: dict[str, Any], content: bytes) -> list[dict[str, Any]]:
    size = upload["part_size"]
    parts = []
    for number in range(1, upload["part_count"] + 1):
        reply = put_part(client, upload["id"], number, content[(number - 1) * size : number * size])
        assert reply.status_code == 200, reply.text
        parts.append({"part_number": number, "etag": reply.headers["ETag"]})
    return parts


def complete(client: Any, upload_id: str, parts: list[dict[str, Any]] | None = None) -> Any:
    return client.post(f"/v1/uploads/{upload_id}/complete", {} if parts is None else {"parts": parts})


def make_video(client: Any, content: bytes = b"recording", **fields: Any) -> dict[str, Any]:
    upload = create_upload(client, content, **fields)
    response = complete(client, upload["id"], put_all(client, upload, content))
    assert response.status_code == 202, response.content
    video: dict[str, Any] = response.json()
    return video


def erase_parts(cast: Cast) -> None:
    """Run the jobs that erase what uploads without a video have left in storage."""
    with cast.scope():
        ids = list(Job.objects.filter(kind=JobKind.ERASE_PICTURES, state="queued").values_list("id", flat=True))
    for id in ids:
        run_job(id, cast.tenant_id, worker="w:1")

"""The `data` of the webhook events about uploads and videos."""

from __future__ import annotations

from typing import Any

from backend.api import public_ids
from backend.billing.charges import NOTHING, charge_data
from backend.billing.queries.charges import charges_of_videos
from backend.library.models import IndexVersion, Upload, Video
from backend.webhooks.payloads import error_data, timestamp


def upload_data(upload: Upload, video: Video) -> dict[str, Any]:
    return {
        "id": public_ids.encode("upl", upload.id),
        "object": "upload",
        "status": upload.status,
        "video_id": public_ids.encode("vid", video.id),
        "external_id": upload.external_id,
        "size_bytes": upload.size_bytes,
        "completed_at": timestamp(upload.completed_at),
    }


def video_data(video: Video) -> dict[str, Any]:
    return {
        "id": public_ids.encode("vid", video.id),
        "object": "video",
        "status": video.status,
        "external_id": video.external_id,
        "duration_ms": video.duration_ms,
        "indexed_until_ms": video.indexed_until_ms,
        "ready_at": timestamp(video.ready_at),
        "charge": charge_data(charges_of_videos([video.id]).get(video.id, NOTHING)),
        "error": error_data(video.error_code, video.error_message),
    }


def indexing_data(video: Video) -> dict[str, Any]:
    return {
        "id": public_ids.encode("vid", video.id),
        "object": "video",
        "status": video.status,
        "external_id": video.external_id,
        "duration_ms": video.duration_ms,
        "index_version": video.building_index_version,
    }


def deleted_data(video: Video) -> dict[str, Any]:
    return {
        "id": public_ids.encode("vid", video.id),
        "object": "video",
        "status": "deleted",
        "external_id": video.external_id,
    }


def reindex_data(video: Video, version: IndexVersion) -> dict[str, Any]:
    return {
        "id": public_ids.encode("vid", video.id),
        "object": "video",
        "status": video.status,
        "external_id": video.external_id,
        "index_version": video.active_index_version,
        "failed_version": version.n,
        "error": error_data(version.error_code, version.error_message),
    }

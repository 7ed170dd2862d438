"""Object keys: the tenant first, so that one tenant's data is one prefix; never a customer's own file name."""

from __future__ import annotations

from uuid import UUID


def video_prefix(tenant_id: UUID, video_id: UUID) -> str:
    """All that was derived from a video."""
    return f"t/{tenant_id}/v/{video_id}/"


def thumbnail_key(tenant_id: UUID, video_id: UUID, index_version: int, ms: int) -> str:
    return f"{video_prefix(tenant_id, video_id)}{index_version}/frames/{ms:010d}.jpg"


def evidence_key(tenant_id: UUID, question_id: UUID, ordinal: int) -> str:
    """A frame that an answer rests on, kept with the question when its index version is purged."""
    return f"t/{tenant_id}/q/{question_id}/{ordinal:03d}.jpg"


def source_prefix(object_key: str) -> str:
    """The folder of an uploaded source, `t/<tenant>/u/<uuid>/`."""
    return object_key.rsplit("/", 1)[0] + "/"

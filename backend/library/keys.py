"""Object keys of what is kept beside questions; those of videos are in backend.library.storage."""

from __future__ import annotations

from uuid import UUID


def evidence_key(tenant_id: UUID, question_id: UUID, ordinal: int) -> str:
    """A frame that an answer rests on, kept with the question when its index version is purged."""
    return f"t/{tenant_id}/q/{question_id}/{ordinal:03d}.jpg"

"""Reads of the frames that answers cite, by the objects that show them."""

from __future__ import annotations

from uuid import UUID

from backend.questions.models import Evidence


def citing_thumbnails(video_id: UUID, prefix: str) -> list[Evidence]:
    """Return the evidence that shows a thumbnail under prefix, because it has no copy of its own."""
    return list(Evidence.objects.filter(video_id=video_id, frame_key__startswith=prefix))

"""Reads of the frames that answers cite, by the objects that show them."""

from __future__ import annotations

from uuid import UUID

from backend.questions.models import Evidence


def frame_keys(video_id: UUID) -> list[str]:
    """Return the key of every frame of a video that an answer cites, copies included."""
    cited = Evidence.objects.filter(video_id=video_id).exclude(frame_key="")
    return list(cited.values_list("frame_key", flat=True))


def citing_thumbnails(video_id: UUID, prefix: str) -> list[Evidence]:
    """Return the evidence that shows a thumbnail under prefix, because it has no copy of its own."""
    return list(Evidence.objects.filter(video_id=video_id, frame_key__startswith=prefix))

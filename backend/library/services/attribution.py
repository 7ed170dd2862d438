"""What the usage of a video's index belongs to."""

from __future__ import annotations

from dataclasses import replace

from backend.billing.services.usage.rows import Attribution
from backend.library.models import SourceType, Video
from backend.tenancy.callers import current_caller


def attribution_of(video: Video) -> Attribution:
    """Return the caller who created a video, its collection and its profile."""
    return Attribution(
        video_id=video.id,
        api_key_id=video.api_key_id,
        person_id=video.person_id,
        collection_id=video.collection_id,
        profile=video.profile,
    )


def attribution_to_caller(video: Video) -> Attribution:
    """Return the attribution of usage of a video that the caller of the current request causes."""
    caller = current_caller()
    return replace(attribution_of(video), api_key_id=caller.api_key_id, person_id=caller.person_id)


def is_live(video: Video) -> bool:
    """Whether the media of a video is metered as live: its recording arrives in segments and grows meanwhile."""
    return video.source_type == SourceType.SEGMENTS

"""A video with a small index, for tests of its page."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from backend.ekg.models import Chunk, TrackedObject, TranscriptLine
from backend.ekg.writer import VersionWriter
from backend.library.models import Segment
from tests.conftest import Cast
from tests.factories import FRAME_MODEL, TEXT_MODEL, event_record, make_video, segment_record


def indexed_video(cast: Cast, **values: Any) -> UUID:
    """Make a video of 30 s with two events, ann and bob who meet, a line of speech, a red car and a gap.

    Returns its id.
    """
    with cast.scope():
        video = make_video(status="ready", indexed_until_ms=30_000, **values)
        of_version = {"tenant_id": cast.tenant_id, "video_id": video.id, "index_version": 1}
        Segment.objects.create(**of_version, n=0, start_ms=0, end_ms=30_000)
        writer = VersionWriter(video.id, 1, text_model=TEXT_MODEL, frame_model=FRAME_MODEL)
        record = segment_record(0, 30_000)
        writer.store_segment(0, record, thumbnail_keys={frame.ms: f"k/{frame.ms}" for frame in record.frames})
        events = [
            event_record(video.id, 0, 0, 3, who=("ann", "bob"), relations=(("ann", "meets", "bob"),)),
            event_record(video.id, 1, 3, 10, who=("ann",)),
        ]
        writer.store_events(events)
        TranscriptLine.objects.create(**of_version, start_ms=3_000, end_ms=6_000, text="Good morning.")
        TrackedObject.objects.create(**of_version, n=0, category="red car", start_ms=12_000, end_ms=18_000)
        Chunk.objects.filter(video_id=video.id, n=9).update(gap="unreadable", description=None)
        return UUID(str(video.id))

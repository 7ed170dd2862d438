"""Bodies of the summary of a video and its topics."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import ResourceErrorSerializer
from backend.api.public_ids import PublicIdField
from backend.ekg import queries
from backend.ekg.bodies.common import columns, picture
from backend.library.bodies.recorded import END_AT_HELP, START_AT_HELP, LocalTimeField
from backend.library.models import Video, VideoStatus
from backend.library.storage import ObjectStorage
from backend.library.wall_clocks import filmed, fitted_clocks


class TopicFrameSerializer(serializers.Serializer[Any]):
    ms = serializers.IntegerField()
    at = LocalTimeField(allow_null=True, help_text=START_AT_HELP)
    thumbnail_url = serializers.CharField(allow_null=True)


class TopicSerializer(serializers.Serializer[Any]):
    """A part of the video about one subject. It begins where the previous topic ends."""

    n = serializers.IntegerField()
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    start_at = LocalTimeField(allow_null=True, help_text=START_AT_HELP)
    end_at = LocalTimeField(allow_null=True, help_text=END_AT_HELP)
    title = serializers.CharField()
    summary = serializers.CharField()
    people = serializers.ListField(child=serializers.CharField(), help_text="Names as in the events.")
    places = serializers.ListField(child=serializers.CharField(), help_text="Names as in the events.")
    frames = TopicFrameSerializer(many=True)


class SummarySerializer(serializers.Serializer[Any]):
    video_id = PublicIdField("vid")
    index_version = serializers.IntegerField()
    text = serializers.CharField(allow_blank=True, help_text="Empty until the first topic is summarised.")
    people = serializers.ListField(child=serializers.CharField(), help_text="Most important first.")
    places = serializers.ListField(child=serializers.CharField(), help_text="Most important first.")
    until_ms = serializers.IntegerField(help_text="End of the part that the text covers.")
    complete = serializers.BooleanField(help_text="Whether the text covers a finished index to its end.")
    error = ResourceErrorSerializer(
        allow_null=True, help_text="Why the summary is incomplete, if it has failed for good."
    )
    topics = TopicSerializer(many=True)


def summary_body(video: Video) -> Any:
    summary = queries.summary(video)
    overview, storage = summary.overview, ObjectStorage()
    until_ms = overview.until_ms if overview else 0
    clock = fitted_clocks([video])[video.id]
    topics = [
        {
            **columns(row, "n", "start_ms", "end_ms", "title", "summary", "people", "places"),
            **filmed(clock, row.start_ms, row.end_ms),
            "frames": [
                {
                    "ms": ms,
                    "at": filmed(clock, ms, ms)["start_at"],
                    "thumbnail_url": picture(storage, summary.frames[ms].thumbnail_key),
                }
                for ms in row.frame_ms
                if ms in summary.frames
            ],
        }
        for row in summary.topics
    ]
    body = {
        "video_id": video.id,
        "index_version": video.active_index_version,
        "text": overview.text if overview else "",
        "people": overview.people if overview else [],
        "places": overview.places if overview else [],
        "until_ms": until_ms,
        "complete": video.status == VideoStatus.READY and 0 < video.indexed_until_ms <= until_ms,
        "error": {"code": summary.error[0], "message": summary.error[1]} if summary.error else None,
        "topics": topics,
    }
    return SummarySerializer(body).data

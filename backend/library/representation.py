"""A video as the API shows it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from rest_framework import serializers

from backend.api.bodies import ErrorBody, MetadataField
from backend.api.public_ids import PublicIdField
from backend.ekg.queries import IndexSize, index_size
from backend.library.models import Profile, Video, VideoStatus


class ProbeBody(serializers.Serializer[Any]):
    """What the file was found to be."""

    container = serializers.CharField()
    codec = serializers.CharField()
    width = serializers.IntegerField(allow_null=True)
    height = serializers.IntegerField(allow_null=True)
    fps = serializers.FloatField(allow_null=True)
    rotation = serializers.IntegerField()
    has_audio = serializers.BooleanField()
    bitrate = serializers.IntegerField(allow_null=True)
    source_start_ms = serializers.IntegerField(help_text="the file's own start; all other times count from it")


class VideoTimingsBody(serializers.Serializer[Any]):
    queue_ms = serializers.IntegerField(allow_null=True, help_text="from creation until indexing began")
    index_ms = serializers.IntegerField(allow_null=True, help_text="from then until ready")
    realtime_factor = serializers.FloatField(allow_null=True, help_text="video time over index time")
    stages_ms = serializers.DictField(child=serializers.FloatField(), help_text="summed over segments")


class GraphBody(serializers.Serializer[Any]):
    vertices = serializers.IntegerField()
    edges = serializers.IntegerField()


class IndexSizeBody(serializers.Serializer[Any]):
    """How much the Event Knowledge Graph holds."""

    chunks = serializers.IntegerField()
    events = serializers.IntegerField()
    entities = serializers.IntegerField()
    mentions = serializers.IntegerField()
    relations = serializers.IntegerField()
    frames = serializers.IntegerField()
    graph = GraphBody()


class VideoBody(serializers.Serializer[Any]):
    id = PublicIdField("vid")
    object = serializers.CharField()
    status = serializers.ChoiceField(VideoStatus.choices)
    title = serializers.CharField(allow_blank=True)
    size_bytes = serializers.IntegerField()
    duration_ms = serializers.IntegerField(allow_null=True)
    indexed_until_ms = serializers.IntegerField(help_text="questions can be asked about what is before this")
    index_version = serializers.IntegerField()
    profile = serializers.ChoiceField(Profile.choices)
    collection_id = PublicIdField("col", allow_null=True)
    upload_id = PublicIdField("upl", allow_null=True)
    external_id = serializers.CharField(allow_blank=True)
    metadata = MetadataField()
    probe = ProbeBody(allow_null=True)
    error = ErrorBody(allow_null=True)
    timings = VideoTimingsBody()
    ekg = IndexSizeBody(allow_null=True, help_text="of a ready video, on its own page; null in lists")
    created_at = serializers.DateTimeField()
    ready_at = serializers.DateTimeField(allow_null=True)


_COLUMNS = (
    "id", "status", "title", "size_bytes", "duration_ms", "indexed_until_ms", "profile", "collection_id", "upload_id",
    "external_id", "metadata", "created_at", "ready_at",
)  # fmt: skip
_PROBE_COLUMNS = (
    "container", "codec", "width", "height", "fps", "rotation", "has_audio", "bitrate", "source_start_ms",
)  # fmt: skip


def one_video(video: Video) -> dict[str, Any]:
    """A video with the size of its graph."""
    size = None
    if video.status == VideoStatus.READY:
        size = index_size(video.id, video.active_index_version)
    return listed_video(video, size)


def listed_video(video: Video, size: IndexSize | None = None) -> dict[str, Any]:
    """A video by its row alone."""
    body: dict[str, Any] = {name: getattr(video, name) for name in _COLUMNS}
    probed = video.duration_ms is not None
    return VideoBody(
        {
            **body,
            "object": "video",
            "index_version": video.active_index_version,
            "probe": {name: getattr(video, name) for name in _PROBE_COLUMNS} if probed else None,
            "error": {"code": video.error_code, "message": video.error_message} if video.error_code else None,
            "timings": timings(video),
            "ekg": size,
        }
    ).data


def timings(video: Video) -> dict[str, Any]:
    index_ms = _milliseconds(video.index_started_at, video.ready_at)
    return {
        "queue_ms": _milliseconds(video.created_at, video.index_started_at),
        "index_ms": index_ms,
        "realtime_factor": round(video.duration_ms / index_ms, 3) if video.duration_ms and index_ms else None,
        "stages_ms": video.stage_ms,
    }


def _milliseconds(begin: datetime | None, end: datetime | None) -> int | None:
    return None if begin is None or end is None else int((end - begin).total_seconds() * 1000)

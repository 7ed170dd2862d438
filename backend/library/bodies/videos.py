"""A video as the API shows it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from rest_framework import serializers

from backend.api.bodies import ErrorBody, MetadataField
from backend.api.public_ids import PublicIdField
from backend.library import queries
from backend.library.index_contents import Gaps, IndexSize, index_contents
from backend.library.models import (
    IndexState,
    IndexVersion,
    InputSegment,
    InputStatus,
    Profile,
    SourceType,
    Video,
    VideoStatus,
)
from backend.library.recording import is_open


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


class GapsBody(serializers.Serializer[Any]):
    """What could not be described, and why."""

    count = serializers.IntegerField(help_text="chunks")
    ms = serializers.IntegerField()
    codes = serializers.DictField(child=serializers.IntegerField(), help_text="chunks by the code of their gap")


class VideoSourceBody(serializers.Serializer[Any]):
    type = serializers.ChoiceField(SourceType.choices)
    state = serializers.ChoiceField(("open", "closed"), help_text="open: more segments may be appended")
    segments = serializers.IntegerField(allow_null=True, help_text="appended so far; null for an upload")


class IndexingBody(serializers.Serializer[Any]):
    """A version that is built beside the one that is read."""

    version = serializers.IntegerField()
    indexed_until_ms = serializers.IntegerField()
    started_at = serializers.DateTimeField()


class ClockBody(serializers.Serializer[Any]):
    """The clock in the picture, as a function of the video's time."""

    at_zero = serializers.CharField(help_text="what it shows at 0 ms: ISO date and time, or the time of day alone")
    readings = serializers.IntegerField(help_text="moments at which it was read alike")


class VideoBody(serializers.Serializer[Any]):
    id = PublicIdField("vid")
    object = serializers.CharField()
    status = serializers.ChoiceField(VideoStatus.choices)
    title = serializers.CharField(allow_blank=True)
    size_bytes = serializers.IntegerField()
    duration_ms = serializers.IntegerField(allow_null=True)
    indexed_until_ms = serializers.IntegerField(help_text="questions can be asked about what is before this")
    index_version = serializers.IntegerField(help_text="the one that is read; its number rises with each re-index")
    indexing = IndexingBody(allow_null=True, help_text="while the video is indexed anew")
    source = VideoSourceBody()  # type: ignore[assignment]  # a field, which the metaclass takes out of the class
    profile = serializers.ChoiceField(Profile.choices)
    collection_id = PublicIdField("col", allow_null=True)
    upload_id = PublicIdField("upl", allow_null=True)
    external_id = serializers.CharField(allow_blank=True)
    metadata = MetadataField()
    probe = ProbeBody(allow_null=True)
    error = ErrorBody(allow_null=True)
    timings = VideoTimingsBody()
    ekg = IndexSizeBody(allow_null=True, help_text="of a ready video, on its own page; null in lists")
    gaps = GapsBody(allow_null=True, help_text="on the video's own page; null in lists")
    clock = ClockBody(allow_null=True, help_text="of a video whose picture shows one, on its own page; null in lists")
    created_at = serializers.DateTimeField()
    ready_at = serializers.DateTimeField(allow_null=True)


# What a piece may come from.
PIECE_SOURCES = (SourceType.UPLOAD.value, SourceType.URL.value)


class SegmentSourceBody(serializers.Serializer[Any]):
    type = serializers.ChoiceField(PIECE_SOURCES)
    upload_id = PublicIdField("upl", allow_null=True)
    url = serializers.CharField(allow_null=True, help_text="without its query; null once fetched")


class InputSegmentBody(serializers.Serializer[Any]):
    """One appended piece of a recording."""

    id = PublicIdField("seg")
    object = serializers.CharField()
    video_id = PublicIdField("vid")
    n = serializers.IntegerField(help_text="its place in the order of appending, from 0")
    status = serializers.ChoiceField(InputStatus.choices)
    source = SegmentSourceBody()  # type: ignore[assignment]  # a field, which the metaclass takes out of the class
    start_ms = serializers.IntegerField(
        allow_null=True, help_text="where it begins in the video; null until every earlier one is ready or failed"
    )
    duration_ms = serializers.IntegerField(allow_null=True)
    size_bytes = serializers.IntegerField()
    probe = ProbeBody(allow_null=True)
    error = ErrorBody(allow_null=True, help_text="a failed segment takes up no time")
    created_at = serializers.DateTimeField()
    ready_at = serializers.DateTimeField(allow_null=True)


class IndexVersionBody(serializers.Serializer[Any]):
    """One index of a video."""

    object = serializers.CharField()
    n = serializers.IntegerField()
    state = serializers.ChoiceField(IndexState.choices)
    active = serializers.BooleanField(help_text="whether questions read it")
    indexed_until_ms = serializers.IntegerField()
    stages_ms = serializers.DictField(child=serializers.FloatField(), help_text="summed over segments")
    error = ErrorBody(allow_null=True)
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
    """A video with the size of its graph and what is missing from it."""
    size = None
    if video.status == VideoStatus.READY:
        size = index_contents().index_size(video.id, video.active_index_version)
    clock = queries.index_versions(video).filter(n=video.active_index_version).values_list("clock", flat=True).first()
    missing = index_contents().gaps(video.id, video.active_index_version)
    (body,) = _bodies([video], size=size, missing=missing, clock=clock)
    shown: dict[str, Any] = body
    return shown


def listed_videos(videos: Sequence[Video]) -> list[Any]:
    """Videos by their rows, in a fixed number of queries."""
    return _bodies(videos)


def _bodies(
    videos: Sequence[Video],
    *,
    size: IndexSize | None = None,
    missing: Gaps | None = None,
    clock: dict[str, Any] | None = None,
) -> list[Any]:
    appended, under_way = queries.input_counts(videos), queries.versions_under_way(videos)
    rows = []
    for video in videos:
        probed = video.duration_ms is not None
        rows.append(
            {
                **{name: getattr(video, name) for name in _COLUMNS},
                "object": "video",
                "index_version": video.active_index_version,
                "indexing": _indexing(under_way.get(video.id)),
                "source": {
                    "type": video.source_type,
                    # A failed video takes no more, whether it was closed or not.
                    "state": "open" if is_open(video) and video.status != VideoStatus.FAILED else "closed",
                    "segments": appended.get(video.id),
                },
                "probe": {name: getattr(video, name) for name in _PROBE_COLUMNS} if probed else None,
                "error": _error(video),
                "timings": timings(video),
                "ekg": size,
                "gaps": missing,
                "clock": clock,
            }
        )
    return list(VideoBody(rows, many=True).data)


def _indexing(version: IndexVersion | None) -> dict[str, Any] | None:
    if version is None:
        return None
    return {
        "version": version.n,
        "indexed_until_ms": version.indexed_until_ms,
        "started_at": version.created_at,
    }


def _error(row: Video | InputSegment | IndexVersion) -> dict[str, str] | None:
    return {"code": row.error_code, "message": row.error_message} if row.error_code else None


def segment_body(segment: InputSegment) -> dict[str, Any]:
    names = ("id", "video_id", "n", "status", "start_ms", "duration_ms", "size_bytes", "created_at", "ready_at")
    ready = segment.status == InputStatus.READY
    return InputSegmentBody(
        {
            **{name: getattr(segment, name) for name in names},
            "object": "input_segment",
            "source": {
                "type": SourceType.UPLOAD if segment.upload_id else SourceType.URL,
                "upload_id": segment.upload_id,
                "url": _shown_url(segment.url) if segment.url else None,
            },
            "probe": {name: getattr(segment, name) for name in _PROBE_COLUMNS} if ready else None,
            "error": _error(segment),
        }
    ).data


def _shown_url(url: str) -> str:
    """Scheme, host and path: a signature in the query, or a password, is nobody's to read."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def version_body(video: Video, version: IndexVersion) -> dict[str, Any]:
    names = ("n", "state", "indexed_until_ms", "created_at", "ready_at")
    return IndexVersionBody(
        {
            **{name: getattr(version, name) for name in names},
            "object": "index_version",
            "active": version.n == video.active_index_version,
            "stages_ms": version.stage_ms,
            "error": _error(version),
        }
    ).data


def timings(video: Video) -> dict[str, Any]:
    index_ms = _milliseconds(video.index_started_at, video.ready_at)
    # A later version waits for nothing but its turn.
    queue_ms = _milliseconds(video.created_at, video.index_started_at) if video.active_index_version == 1 else None
    return {
        "queue_ms": queue_ms,
        "index_ms": index_ms,
        "realtime_factor": round(video.duration_ms / index_ms, 3) if video.duration_ms and index_ms else None,
        "stages_ms": video.stage_ms,
    }


def _milliseconds(begin: datetime | None, end: datetime | None) -> int | None:
    return None if begin is None or end is None else int((end - begin).total_seconds() * 1000)

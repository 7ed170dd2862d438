"""Videos and their playback on the wire."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, get_args
from uuid import UUID
from zoneinfo import ZoneInfo

from rest_framework import serializers

from backend.api.bodies import (
    MAX_TIME_MS,
    LanguageField,
    MetadataField,
    NameField,
    ResourceErrorSerializer,
    StrictSerializer,
)
from backend.api.listing import LabelledListQuerySerializer
from backend.api.public_ids import PublicIdField
from backend.billing.bodies.amounts import ChargeSerializer
from backend.billing.charges import NOTHING
from backend.billing.queries.charges import charges_of_videos
from backend.library import queries
from backend.library.bodies.files import (
    AUDIO_HELP,
    DEGRADED_HELP,
    AudioField,
    ProbeSerializer,
    error_body,
    lacks,
    probe_body,
)
from backend.library.bodies.recorded import (
    RECORDED_AT_HELP,
    TIME_ZONE_HELP,
    AnnouncedDurationField,
    LocalTimeField,
    TimeZoneField,
)
from backend.library.bodies.sources import names_its_own
from backend.library.index_contents import Gaps, IndexSize, index_contents
from backend.library.models import (
    IndexVersion,
    Profile,
    SourceType,
    Video,
    VideoStatus,
)
from backend.library.recording import is_open
from backend.library.storage import ObjectStorage, window_begin
from backend.library.wall_clocks import fitted_clocks
from gpu_workers.engine.wall_clock import ClockSource

CLOCK_SOURCES: tuple[str, ...] = get_args(ClockSource)


class VideoTimingsSerializer(serializers.Serializer[Any]):
    queue_ms = serializers.IntegerField(allow_null=True, help_text="From creation until indexing began.")
    index_ms = serializers.IntegerField(allow_null=True, help_text="From the start of indexing until ready.")
    realtime_factor = serializers.FloatField(allow_null=True, help_text="Duration of the video divided by index_ms.")
    stages_ms = serializers.DictField(
        child=serializers.FloatField(), help_text="Milliseconds of work by stage, summed over segments."
    )


class GraphSizeSerializer(serializers.Serializer[Any]):
    vertices = serializers.IntegerField()
    edges = serializers.IntegerField()


class IndexSizeSerializer(serializers.Serializer[Any]):
    """How much the Event Knowledge Graph holds."""

    chunks = serializers.IntegerField()
    events = serializers.IntegerField()
    entities = serializers.IntegerField()
    mentions = serializers.IntegerField()
    relations = serializers.IntegerField()
    frames = serializers.IntegerField()
    graph = GraphSizeSerializer()


class GapsSerializer(serializers.Serializer[Any]):
    """What could not be described, and why."""

    count = serializers.IntegerField(help_text="Number of chunks.")
    ms = serializers.IntegerField(help_text="Duration of these chunks.")
    codes = serializers.DictField(
        child=serializers.IntegerField(), help_text="Number of chunks by the code of their gap."
    )


class VideoSourceSerializer(serializers.Serializer[Any]):
    type = serializers.ChoiceField(SourceType.choices)
    state = serializers.ChoiceField(("open", "closed"), help_text="`open`: more segments may be appended.")
    segments = serializers.IntegerField(
        allow_null=True, help_text="Number of segments appended so far; null for an upload."
    )


class IndexingSerializer(serializers.Serializer[Any]):
    """An index that is being built while questions read the previous index."""

    version = serializers.IntegerField()
    indexed_until_ms = serializers.IntegerField()
    started_at = serializers.DateTimeField()


class ClockPeriodSerializer(serializers.Serializer[Any]):
    """A part of the video in which the clock runs on without a jump."""

    from_ms = serializers.IntegerField(help_text="Start of the period. It ends where the next period starts.")
    at_start = serializers.CharField(
        help_text="What the clock shows at from_ms: an ISO date and time, or only the time of day."
    )


class VideoClockSerializer(serializers.Serializer[Any]):
    """The clock in the picture as a function of the video's time."""

    at_zero = serializers.CharField(
        help_text="What the clock shows at 0 ms: an ISO date and time, or only the time of day."
    )
    readings = serializers.IntegerField(help_text="Number of moments whose readings agree.")
    periods = ClockPeriodSerializer(
        many=True,
        help_text="One period for each offset of the clock, in order of time: the clock jumps at a pause of the "
        "recording, at a change to summer time and where files were joined.",
    )


class ClockStretchSerializer(serializers.Serializer[Any]):
    """A part of the video in which the wall clock runs on evenly."""

    start_ms = serializers.IntegerField(source="span.start_ms")
    end_ms = serializers.IntegerField(source="span.end_ms")
    start_at = LocalTimeField(help_text="The instant of start_ms.")
    evidence = serializers.ChoiceField(
        CLOCK_SOURCES, source="source", help_text="What you said (`recorded_at`), or the clock in the `picture`."
    )


class ContradictionSerializer(serializers.Serializer[Any]):
    """Where the clock in the picture differs from what you said. What you said holds."""

    at_ms = serializers.IntegerField()
    recorded_at = LocalTimeField(source="stated", help_text="The time there by what you said.")
    shown_at = LocalTimeField(source="shown", help_text="The time there by the clock in the picture.")


class WallClockSerializer(serializers.Serializer[Any]):
    """When each part of the video was filmed: by what you said, else by the clock in the picture."""

    stretches = ClockStretchSerializer(many=True, help_text="In order of the video; there may be gaps between them.")
    contradictions = ContradictionSerializer(many=True)


class VideoSerializer(serializers.Serializer[Any]):
    id = PublicIdField("vid")
    object = serializers.CharField()
    status = serializers.ChoiceField(VideoStatus.choices)
    title = serializers.CharField(allow_blank=True)
    size_bytes = serializers.IntegerField()
    duration_ms = serializers.IntegerField(allow_null=True)
    indexed_until_ms = serializers.IntegerField(help_text="You can ask questions about everything before this time.")
    index_version = serializers.IntegerField(
        help_text="The index that questions read. The number rises with each re-index."
    )
    indexing = IndexingSerializer(allow_null=True, help_text="Progress of a re-index; null if there is none.")
    source = VideoSourceSerializer()  # type: ignore[assignment]  # a field, which the metaclass takes out of the class
    profile = serializers.ChoiceField(Profile.choices)
    language = serializers.CharField(
        source="spoken_language",
        allow_blank=True,
        help_text="Language that is spoken, by its ISO 639-1 code: as you gave it, else as it was first heard; empty "
        "while it is unknown.",
    )
    audio = serializers.CharField(help_text=AUDIO_HELP)
    degraded = serializers.ListField(child=serializers.CharField(), help_text=DEGRADED_HELP)
    collection_id = PublicIdField("col", allow_null=True)
    upload_id = PublicIdField("upl", allow_null=True)
    external_id = serializers.CharField(allow_blank=True)
    metadata = MetadataField()
    probe = ProbeSerializer(allow_null=True)
    error = ResourceErrorSerializer(allow_null=True)
    timings = VideoTimingsSerializer()
    charge = ChargeSerializer(
        help_text="What the index of the video is charged so far. Storage is charged by the hour."
    )
    ekg = IndexSizeSerializer(allow_null=True, help_text="Size of the index of a ready video; null in lists.")
    gaps = GapsSerializer(allow_null=True, help_text="What could not be described; null in lists.")
    thumbnail_url = serializers.CharField(
        allow_null=True,
        help_text="Picture from the beginning of what is indexed, valid for at least 15 minutes; null without one.",
    )
    recorded_at = LocalTimeField(allow_null=True, help_text="When the recording began, as you said; null if unknown.")
    time_zone = serializers.CharField(allow_blank=True, help_text=TIME_ZONE_HELP)
    clock = VideoClockSerializer(allow_null=True, help_text="The clock in the picture, if there is one; null in lists.")
    wall_clock = WallClockSerializer(
        allow_null=True, help_text="When each part of the video was filmed, as far as it is known; null in lists."
    )
    created_at = serializers.DateTimeField()
    ready_at = serializers.DateTimeField(allow_null=True)


class VideoQuerySerializer(LabelledListQuerySerializer):
    status = serializers.ChoiceField(VideoStatus.choices, required=False)
    collection_id = PublicIdField("col", required=False)
    external_id = NameField(max_length=200, required=False)


class VideoSourceRequestSerializer(StrictSerializer):
    """Where the recording comes from: an upload, a URL of the whole file, or segments that are appended."""

    type = serializers.ChoiceField(SourceType.choices)
    upload_id = PublicIdField("upl", required=False)
    url = serializers.CharField(
        max_length=4_000, required=False, help_text="An https URL. It is fetched once, and its query is never shown."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return names_its_own(attrs)


class VideoRequestSerializer(StrictSerializer):
    source = VideoSourceRequestSerializer()  # type: ignore[assignment]  # a field, which the metaclass takes out of the class
    title = NameField(max_length=255, required=False, help_text="Not allowed when the source is an upload.")
    profile = serializers.ChoiceField(Profile.choices, required=False, help_text="By default the collection's profile.")
    collection_id = PublicIdField("col", required=False, allow_null=True)
    language = LanguageField(
        max_length=8,
        required=False,
        help_text="Language that is spoken, by its ISO 639-1 code. By default it is detected in the first speech.",
    )
    audio = AudioField(required=False)
    external_id = NameField(max_length=200, required=False)
    duration_ms = AnnouncedDurationField()
    metadata = MetadataField(required=False)
    recorded_at = LocalTimeField(required=False, help_text=RECORDED_AT_HELP)
    time_zone = TimeZoneField(max_length=64, required=False, help_text=TIME_ZONE_HELP)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        others = sorted(set(attrs) - {"source"})
        if attrs["source"]["type"] == SourceType.UPLOAD and others:
            message = "This was set when the upload was created."
            raise serializers.ValidationError({others[0]: message}, code="set_by_the_upload")
        return attrs


class VideoUpdateRequestSerializer(StrictSerializer):
    title = NameField(max_length=255, required=False, allow_blank=True)
    collection_id = PublicIdField("col", required=False, allow_null=True)
    language = LanguageField(
        max_length=8,
        required=False,
        allow_blank=True,
        help_text="Language that is spoken, for what is transcribed from now on. Empty: it is detected.",
    )
    audio = AudioField(required=False)
    external_id = NameField(max_length=200, required=False, allow_blank=True)
    metadata = MetadataField(required=False)
    recorded_at = LocalTimeField(required=False, allow_null=True, help_text=RECORDED_AT_HELP)
    time_zone = TimeZoneField(max_length=64, required=False, allow_blank=True, help_text=TIME_ZONE_HELP)


class PlaybackSegmentSerializer(serializers.Serializer[Any]):
    url = serializers.CharField()
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()


class PlaybackQuerySerializer(StrictSerializer):
    start_ms = serializers.IntegerField(min_value=0, max_value=MAX_TIME_MS, required=False)
    end_ms = serializers.IntegerField(min_value=1, max_value=MAX_TIME_MS, required=False)


class PlaybackSerializer(serializers.Serializer[Any]):
    url = serializers.CharField(
        allow_null=True,
        help_text="URL of the whole recording, with range requests; null if the recording consists of segments.",
    )
    segments = PlaybackSegmentSerializer(
        many=True,
        help_text="The files of the recording that overlap start_ms to end_ms, in order of time; at most 500.",
    )
    expires_at = serializers.DateTimeField()


_COLUMNS = (
    "id", "status", "title", "size_bytes", "duration_ms", "indexed_until_ms", "profile", "spoken_language", "audio",
    "collection_id", "upload_id", "external_id", "metadata", "time_zone", "created_at", "ready_at",
)  # fmt: skip


def one_video(video: Video) -> dict[str, Any]:
    """Return a video with the size of its index and its gaps."""
    size = None
    if video.status == VideoStatus.READY:
        size = index_contents().index_size(video.id, video.active_index_version)
    clock = queries.index_versions(video).filter(n=video.active_index_version).values_list("clock", flat=True).first()
    missing = index_contents().gaps(video.id, video.active_index_version)
    (body,) = _bodies([video], size=size, missing=missing, clock=clock, wall_clock=_wall_clock(video))
    shown: dict[str, Any] = body
    return shown


def listed_videos(videos: Sequence[Video]) -> list[Any]:
    """Return videos without the size of their indexes, in a fixed number of queries."""
    return _bodies(videos)


def _bodies(
    videos: Sequence[Video],
    *,
    size: IndexSize | None = None,
    missing: Gaps | None = None,
    clock: dict[str, Any] | None = None,
    wall_clock: dict[str, Any] | None = None,
) -> list[Any]:
    appended, under_way = queries.input_counts(videos), queries.versions_under_way(videos)
    pictures = _pictures(videos)
    charges = charges_of_videos([video.id for video in videos])
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
                    # A failed video takes no more segments, whether it was closed or not.
                    "state": "open" if is_open(video) and video.status != VideoStatus.FAILED else "closed",
                    "segments": appended.get(video.id),
                },
                "probe": probe_body(video, video.audio) if probed else None,
                "degraded": lacks(video, video.audio),
                "error": error_body(video),
                "timings": timings(video),
                "charge": charges.get(video.id, NOTHING),
                "ekg": size,
                "gaps": missing,
                "thumbnail_url": pictures.get(video.id),
                "recorded_at": video.recorded_at and video.recorded_at.astimezone(ZoneInfo(video.time_zone or "UTC")),
                "clock": clock,
                "wall_clock": wall_clock,
            }
        )
    return list(VideoSerializer(rows, many=True).data)


def _pictures(videos: Sequence[Video]) -> dict[UUID, str]:
    """Return the URL of a picture of each video that has one: of its first tenth, because many begin in black.

    The URL stays the same for a while, so that a reply that is read again has not changed.
    """
    moments = {
        video.id: (video.id, video.active_index_version, (video.duration_ms or 0) // 10)
        for video in videos
        if video.active_index_version
    }
    begin, storage = window_begin(time.time()), ObjectStorage()
    return {
        video_id: storage.presign_window(key, content_type="image/jpeg", begin=begin)
        for video_id, key in index_contents().thumbnails_at(moments).items()
        if key
    }


def _wall_clock(video: Video) -> dict[str, Any] | None:
    """Return the wall clock of a video; None if no instant of it is known."""
    fitted = fitted_clocks([video])[video.id]
    clock = fitted.clock
    if clock is None or not clock.absolute:
        return None
    stretches = [
        {"span": each.span, "start_at": each.begins_at.astimezone(clock.tzinfo), "source": each.source}
        for each in clock.stretches
    ]
    return {"stretches": stretches, "contradictions": fitted.contradictions}


def _indexing(version: IndexVersion | None) -> dict[str, Any] | None:
    if version is None:
        return None
    return {
        "version": version.n,
        "indexed_until_ms": version.indexed_until_ms,
        "started_at": version.created_at,
    }


def timings(video: Video) -> dict[str, Any]:
    index_ms = _milliseconds(video.index_started_at, video.ready_at)
    # A later version only waits for its turn.
    queue_ms = _milliseconds(video.created_at, video.index_started_at) if video.active_index_version == 1 else None
    return {
        "queue_ms": queue_ms,
        "index_ms": index_ms,
        "realtime_factor": round(video.duration_ms / index_ms, 3) if video.duration_ms and index_ms else None,
        "stages_ms": video.stage_ms,
    }


def _milliseconds(begin: datetime | None, end: datetime | None) -> int | None:
    return None if begin is None or end is None else int((end - begin).total_seconds() * 1000)

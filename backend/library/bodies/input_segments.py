"""Segments of growing recordings on the wire."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from rest_framework import serializers

from backend.api.bodies import ResourceErrorSerializer, StrictSerializer
from backend.api.public_ids import PublicIdField
from backend.library.bodies.files import ProbeSerializer, error_body, probe_body
from backend.library.bodies.recorded import RECORDED_AT_HELP, AnnouncedDurationField, LocalTimeField, TimeZoneField
from backend.library.bodies.sources import names_its_own
from backend.library.models import InputSegment, InputStatus, SourceType
from gpu_workers.engine.indexing.audio_tracks import ALL

# Sources of a segment.
SEGMENT_SOURCES = (SourceType.UPLOAD.value, SourceType.URL.value)


class InputSegmentSourceSerializer(serializers.Serializer[Any]):
    type = serializers.ChoiceField(SEGMENT_SOURCES)
    upload_id = PublicIdField("upl", allow_null=True)
    url = serializers.CharField(allow_null=True, help_text="The URL without its query; null after the fetch.")


class InputSegmentSerializer(serializers.Serializer[Any]):
    """One appended piece of a recording."""

    id = PublicIdField("seg")
    object = serializers.CharField()
    video_id = PublicIdField("vid")
    n = serializers.IntegerField(help_text="Position in the order of appending, from 0.")
    status = serializers.ChoiceField(InputStatus.choices)
    source = InputSegmentSourceSerializer()  # type: ignore[assignment]  # a field, which the metaclass takes out of the class
    start_ms = serializers.IntegerField(
        allow_null=True, help_text="Start in the video; null until every earlier segment is ready or failed."
    )
    duration_ms = serializers.IntegerField(allow_null=True)
    size_bytes = serializers.IntegerField()
    probe = ProbeSerializer(allow_null=True)
    error = ResourceErrorSerializer(
        allow_null=True, help_text="Why the segment failed. A failed segment takes up no time."
    )
    recorded_at = serializers.DateTimeField(
        allow_null=True, help_text="When the segment began, as you said; null if unknown."
    )
    created_at = serializers.DateTimeField()
    ready_at = serializers.DateTimeField(allow_null=True)


class InputSegmentSourceRequestSerializer(StrictSerializer):
    type = serializers.ChoiceField(SEGMENT_SOURCES)
    upload_id = PublicIdField("upl", required=False)
    url = serializers.CharField(
        max_length=4_000, required=False, help_text="An https URL. It is fetched once, and its query is never shown."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return names_its_own(attrs)


class InputSegmentRequestSerializer(StrictSerializer):
    source = InputSegmentSourceRequestSerializer()  # type: ignore[assignment]  # a field, which the metaclass takes out of the class
    duration_ms = AnnouncedDurationField()
    recorded_at = LocalTimeField(required=False, help_text=RECORDED_AT_HELP)
    time_zone = TimeZoneField(
        max_length=64,
        required=False,
        help_text="IANA name of the time zone of `recorded_at`; by default the video's. The video takes it over if it "
        "has none.",
    )


def segment_body(segment: InputSegment, audio: str = ALL) -> dict[str, Any]:
    """Return an appended segment as customers see it. audio: the choice of its video's tracks."""
    names = (
        "id", "video_id", "n", "status", "start_ms", "duration_ms", "size_bytes", "recorded_at", "created_at",
        "ready_at",
    )  # fmt: skip
    ready = segment.status == InputStatus.READY
    return InputSegmentSerializer(
        {
            **{name: getattr(segment, name) for name in names},
            "object": "input_segment",
            "source": {
                "type": SourceType.UPLOAD if segment.upload_id else SourceType.URL,
                "upload_id": segment.upload_id,
                "url": _shown_url(segment.url) if segment.url else None,
            },
            "probe": probe_body(segment, audio) if ready else None,
            "error": error_body(segment),
        }
    ).data


def _shown_url(url: str) -> str:
    """Return scheme, host and path: nobody may read a signature in the query, or a password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

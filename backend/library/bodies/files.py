"""Technical properties and errors, which videos, segments and versions share."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.library.models import IndexVersion, InputSegment, Video

_PROBE_COLUMNS = (
    "container", "codec", "width", "height", "fps", "rotation", "has_audio", "bitrate", "source_start_ms", "degraded",
)  # fmt: skip


class ProbeSerializer(serializers.Serializer[Any]):
    """Technical properties of the file."""

    container = serializers.CharField()
    codec = serializers.CharField()
    width = serializers.IntegerField(allow_null=True)
    height = serializers.IntegerField(allow_null=True)
    fps = serializers.FloatField(allow_null=True)
    rotation = serializers.IntegerField()
    has_audio = serializers.BooleanField()
    bitrate = serializers.IntegerField(allow_null=True)
    source_start_ms = serializers.IntegerField(
        help_text="Start time in the file itself. All other times count from it."
    )
    degraded = serializers.ListField(
        child=serializers.CharField(),
        help_text="Codes of what the file lacks: `truncated` if it ends before its header says, `damaged` if more than "
        "1 % of its packets are damaged. More codes may come.",
    )


def probe_body(row: Video | InputSegment) -> dict[str, Any]:
    """Return the technical properties of a file that was probed."""
    return {name: getattr(row, name) for name in _PROBE_COLUMNS}


def error_body(row: Video | InputSegment | IndexVersion) -> dict[str, str] | None:
    """Return why a row failed; None if it did not fail."""
    return {"code": row.error_code, "message": row.error_message} if row.error_code else None

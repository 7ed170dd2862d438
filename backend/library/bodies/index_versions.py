"""Index versions on the wire."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import ResourceErrorSerializer
from backend.library.bodies.files import error_body
from backend.library.models import IndexState, IndexVersion, Video


class IndexVersionSerializer(serializers.Serializer[Any]):
    """One index of a video."""

    object = serializers.CharField()
    n = serializers.IntegerField()
    state = serializers.ChoiceField(IndexState.choices)
    active = serializers.BooleanField(help_text="Whether questions read this index.")
    indexed_until_ms = serializers.IntegerField()
    stages_ms = serializers.DictField(
        child=serializers.FloatField(), help_text="Milliseconds of work by stage, summed over segments."
    )
    error = ResourceErrorSerializer(allow_null=True)
    created_at = serializers.DateTimeField()
    ready_at = serializers.DateTimeField(allow_null=True)


def version_body(video: Video, version: IndexVersion) -> dict[str, Any]:
    """Return an index version as customers see it."""
    names = ("n", "state", "indexed_until_ms", "created_at", "ready_at")
    return IndexVersionSerializer(
        {
            **{name: getattr(version, name) for name in names},
            "object": "index_version",
            "active": version.n == video.active_index_version,
            "stages_ms": version.stage_ms,
            "error": error_body(version),
        }
    ).data

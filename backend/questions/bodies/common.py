"""Parts of bodies that several resources share: scopes of requests, frames, usage of models."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import MAX_TIME_MS, StrictSerializer
from backend.api.public_ids import PublicIdField
from backend.library.storage import ObjectStorage
from backend.questions.cached_tokens import coarse
from backend.questions.queries.scopes import MAX_VIDEOS

SCOPE_FIELDS = ("video_ids", "collection_id")


class ScopeRequestSerializer(StrictSerializer):
    """Videos, or a collection, and the span of each video that may be read."""

    scope_required = True
    """Whether a request must name a scope. Otherwise it is about every video that the caller may read."""

    video_ids = serializers.ListField(
        child=PublicIdField("vid"),
        required=False,
        min_length=1,
        max_length=MAX_VIDEOS,
        help_text="Videos to read. Give either these or a collection.",
    )
    collection_id = PublicIdField(
        "col", required=False, help_text="Collection to read, with the videos that it has now."
    )
    start_ms = serializers.IntegerField(
        min_value=0,
        max_value=MAX_TIME_MS,
        required=False,
        allow_null=True,
        help_text="Begin of the span to read in each video, in milliseconds. By default the video's begin.",
    )
    end_ms = serializers.IntegerField(
        min_value=1,
        max_value=MAX_TIME_MS,
        required=False,
        allow_null=True,
        help_text="End of the span to read in each video, in milliseconds. By default the video's end.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        named = ("video_ids" in attrs) + ("collection_id" in attrs)
        if named > 1 or (named == 0 and self.scope_required):
            raise serializers.ValidationError("Give either video_ids or collection_id.", code="scope_required")
        return attrs


class FrameImageSerializer(serializers.Serializer[Any]):
    """A frame of a video, from a row with frame_ms and frame_key; null if the row has no frame."""

    ms = serializers.IntegerField(source="frame_ms", help_text="Time of the frame in its video, in milliseconds.")
    thumbnail_url = serializers.SerializerMethodField(
        help_text="Link to the picture, valid for 30 minutes. Null if the picture is not kept."
    )

    def get_thumbnail_url(self, row: Any) -> str | None:
        return ObjectStorage().presign_get(row.frame_key) if row.frame_key else None

    def to_representation(self, instance: Any) -> Any:
        return None if instance.frame_ms is None else super().to_representation(instance)


CACHED = "Tokens of the prompts that the server had cached, each answer's rounded down to thousands."


class CoarseTokensField(serializers.IntegerField):
    """An exact number of cached tokens inside, whole thousands outside."""

    def to_representation(self, value: Any) -> int:
        return coarse(int(super().to_representation(value)))


class ModelUsageSerializer(serializers.Serializer[Any]):
    """What model calls consumed."""

    calls = serializers.IntegerField(help_text="Number of model calls.")
    prompt_tokens = serializers.IntegerField(help_text="Tokens that were sent to models, cached ones included.")
    cached_tokens = CoarseTokensField(help_text=CACHED)
    completion_tokens = serializers.IntegerField(help_text="Tokens that models wrote.")
    device_seconds = serializers.CharField(help_text="Time that the calls took, in seconds, as an exact decimal.")

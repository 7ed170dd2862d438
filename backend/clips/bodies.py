"""Bodies of clips."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import MAX_TIME_MS, NameField, ResourceErrorSerializer, StrictSerializer
from backend.api.listing import ListQuerySerializer
from backend.api.public_ids import PublicIdField
from backend.clips.models import Clip, ClipCaptions, ClipMode, ClipStatus
from backend.clips.queries import CAPTIONS, CLIP, POSTER, objects_of
from backend.clips.services.clips import LONGEST_MS
from backend.library.bodies.recorded import FilmedAtField
from backend.library.storage import ObjectStorage

_MODE = (
    "`fast` copies the recording from the keyframe before `start_ms`, and says in `shown_start_ms` where that is. "
    "`exact` encodes it again, and begins and ends with the frames of the span."
)
_CAPTIONS = "`file` adds captions as WebVTT next to the clip, `burnt` draws them into its pictures (mode `exact`)."


class ClipRequestSerializer(StrictSerializer):
    """The part of a recording to make a clip of."""

    video_id = PublicIdField("vid", help_text="Video of the clip.")
    start_ms = serializers.IntegerField(min_value=0, max_value=MAX_TIME_MS, help_text="Begin of the span, in ms.")
    end_ms = serializers.IntegerField(
        min_value=1, max_value=MAX_TIME_MS, help_text=f"End of the span, at most {LONGEST_MS // 60_000} minutes later."
    )
    mode = serializers.ChoiceField(ClipMode.choices, default=ClipMode.EXACT, help_text=_MODE)
    captions = serializers.ChoiceField(ClipCaptions.choices, default=ClipCaptions.NONE, help_text=_CAPTIONS)
    title = NameField(max_length=200, required=False, allow_blank=True, default="", help_text="Title of the file.")
    question_id = PublicIdField(
        "qst", required=False, allow_null=True, default=None, help_text="Question whose evidence the clip shows."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        duration = attrs["end_ms"] - attrs["start_ms"]
        if duration <= 0:
            raise serializers.ValidationError({"end_ms": "Give an end after the begin."}, code="out_of_order")
        if duration > LONGEST_MS:
            detail = f"A clip has at most {LONGEST_MS} ms."
            raise serializers.ValidationError({"end_ms": detail}, code="clip_too_long")
        if attrs["captions"] == ClipCaptions.BURNT and attrs["mode"] != ClipMode.EXACT:
            detail = "Captions are burnt into pictures that are encoded again: use the mode exact."
            raise serializers.ValidationError({"captions": detail}, code="burnt_needs_exact")
        return attrs


class ClipQuerySerializer(ListQuerySerializer):
    status = serializers.ChoiceField(ClipStatus.choices, required=False, help_text="Only clips with this status.")
    video_id = PublicIdField("vid", required=False, help_text="Only clips of this video.")
    question_id = PublicIdField("qst", required=False, help_text="Only clips of this question.")


class ClipGapSerializer(serializers.Serializer[Any]):
    """Where recordings with a gap between them are joined."""

    at_ms = serializers.IntegerField(help_text="Time in the video at which the recording goes on after the gap.")
    gap_ms = serializers.IntegerField(allow_null=True, help_text="Time that was not recorded; null if unknown.")


class ClipSerializer(serializers.Serializer[Any]):
    """A part of a recording as a file."""

    id = PublicIdField("clp", help_text="Id of the clip.")
    object = serializers.CharField(default="clip", read_only=True, help_text="Always `clip`.")
    status = serializers.ChoiceField(ClipStatus.choices, help_text="`queued` until the file is made.")
    video_id = PublicIdField("vid", help_text="Video of the clip.")
    question_id = PublicIdField("qst", allow_null=True, help_text="Question whose evidence the clip shows.")
    title = serializers.CharField(help_text="Title of the file.")
    mode = serializers.ChoiceField(ClipMode.choices, help_text=_MODE)
    captions = serializers.ChoiceField(ClipCaptions.choices, help_text=_CAPTIONS)
    start_ms = serializers.IntegerField(help_text="Begin of the span that was wanted, in ms.")
    end_ms = serializers.IntegerField(help_text="End of the span that was wanted, in ms.")
    shown_start_ms = serializers.IntegerField(
        allow_null=True, help_text="Time in the video at which the file begins; null until it is made."
    )
    shown_end_ms = serializers.IntegerField(
        allow_null=True, help_text="Time in the video at which the file ends; null until it is made."
    )
    start_at = FilmedAtField(of="start", help_text="When the span begins, in the video's time zone; null if unknown.")
    end_at = FilmedAtField(of="end", help_text="When the span ends, in the video's time zone; null if unknown.")
    gaps = ClipGapSerializer(many=True, help_text="Gaps in the recording over which the clip is joined.")
    width = serializers.IntegerField(allow_null=True, help_text="Width of the pictures in pixels.")
    height = serializers.IntegerField(allow_null=True, help_text="Height of the pictures in pixels.")
    size_bytes = serializers.IntegerField(
        help_text="Size of the file. Until it is made, an estimate; both count against your storage."
    )
    url = serializers.SerializerMethodField(
        help_text="Link to the MP4, valid for 30 minutes. Read the clip again for another one. Null until it is made."
    )
    poster_url = serializers.SerializerMethodField(help_text="Link to its first picture, as JPEG.")
    captions_url = serializers.SerializerMethodField(help_text="Link to its captions as WebVTT; null without a file.")
    created_at = serializers.DateTimeField(help_text="When the clip was asked for.")
    created_by = serializers.CharField(allow_null=True, help_text="The key (`key_…`) or the person (`per_…`).")
    ready_at = serializers.DateTimeField(allow_null=True, help_text="When the file was made.")
    expires_at = serializers.DateTimeField(help_text="When the clip is deleted.")
    error = ResourceErrorSerializer(allow_null=True, help_text="Why the clip failed; null if it did not.")

    def get_url(self, clip: Clip) -> str | None:
        return _signed(clip, CLIP, "video/mp4")

    def get_poster_url(self, clip: Clip) -> str | None:
        return _signed(clip, POSTER, "image/jpeg")

    def get_captions_url(self, clip: Clip) -> str | None:
        return _signed(clip, CAPTIONS, "text/vtt")


def _signed(clip: Clip, name: str, content_type: str) -> str | None:
    key = objects_of(clip).get(name) if clip.status == ClipStatus.READY else None
    return None if key is None else ObjectStorage().presign_get(key, content_type=content_type)

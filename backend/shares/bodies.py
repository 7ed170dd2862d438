"""Bodies of shares."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from backend.api.bodies import MAX_TIME_MS, NameField, StrictSerializer
from backend.api.listing import ListQuerySerializer
from backend.api.public_ids import PublicIdField, encode_creator
from backend.jobs.bodies import DeadlineField
from backend.shares.models import Share

LONGEST = timedelta(days=90)


class EndField(DeadlineField):
    """A time in the future, within LONGEST."""

    default_error_messages = {"too_far_ahead": f"The time must be within {LONGEST.days} days."}

    def to_internal_value(self, value: Any) -> datetime:
        at = super().to_internal_value(value)
        if at > timezone.now() + LONGEST:
            self.fail("too_far_ahead")
        return at


class ShareRequestSerializer(StrictSerializer):
    """What a link shows, and until when."""

    question_id = PublicIdField("qst", required=False, help_text="Question whose answer is shown.")
    video_id = PublicIdField("vid", required=False, help_text="Video that is shown.")
    clip_id = PublicIdField("clp", required=False, help_text="Clip that is shown. Give one of the three.")
    start_ms = serializers.IntegerField(
        min_value=0,
        max_value=MAX_TIME_MS,
        required=False,
        allow_null=True,
        default=None,
        help_text="Begin of the span that is shown. The page of a span shows its events with their pictures, and not "
        "the recording, which would show more.",
    )
    end_ms = serializers.IntegerField(
        min_value=1,
        max_value=MAX_TIME_MS,
        required=False,
        allow_null=True,
        default=None,
        help_text="End of the span that is shown.",
    )
    play_recordings = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Whether the page of an answer plays the recordings that it cites, and jumps to each piece of "
        "evidence. Whoever has the link can then watch these recordings from begin to end. You need `videos:read`.",
    )
    title = NameField(max_length=200, required=False, allow_blank=True, default="", help_text="Heading of the page.")
    expires_at = EndField(help_text=f"When the link ends, within {LONGEST.days} days.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if sum(name in attrs for name in ("question_id", "video_id", "clip_id")) != 1:
            raise serializers.ValidationError("Give one of question_id, video_id and clip_id.", code="one_required")
        start, end = attrs["start_ms"], attrs["end_ms"]
        if "video_id" not in attrs and (start is not None or end is not None):
            raise serializers.ValidationError({"start_ms": "Only a video has a span."}, code="one_required")
        if "question_id" not in attrs and attrs["play_recordings"]:
            raise serializers.ValidationError(
                {"play_recordings": "Only an answer has it: videos and clips are always played, spans never."},
                code="one_required",
            )
        if end is not None and (start or 0) >= end:
            raise serializers.ValidationError({"end_ms": "Give an end after the begin."}, code="out_of_order")
        return attrs


class ShareQuerySerializer(ListQuerySerializer):
    question_id = PublicIdField("qst", required=False, help_text="Only shares of this question.")
    video_id = PublicIdField("vid", required=False, help_text="Only shares of this video.")
    clip_id = PublicIdField("clp", required=False, help_text="Only shares of this clip.")


class SharedLinkSerializer(serializers.Serializer[Any]):
    """A link to one answer, one recording or one clip, without its token."""

    id = PublicIdField("shr", help_text="Id of the share. It does not open the page.")
    object = serializers.CharField(help_text="Always `share`.")
    question_id = PublicIdField("qst", allow_null=True, help_text="Question that is shown.")
    video_id = PublicIdField("vid", allow_null=True, help_text="Video that is shown.")
    clip_id = PublicIdField("clp", allow_null=True, help_text="Clip that is shown.")
    start_ms = serializers.IntegerField(allow_null=True, help_text="Begin of the span that is shown.")
    end_ms = serializers.IntegerField(allow_null=True, help_text="End of the span that is shown.")
    play_recordings = serializers.BooleanField(help_text="Whether the page of an answer plays the cited recordings.")
    title = serializers.CharField(allow_blank=True, help_text="Heading of the page.")
    created_at = serializers.DateTimeField(help_text="When the share was made.")
    created_by = serializers.CharField(allow_null=True, help_text="The key (`key_…`) or the person (`per_…`).")
    expires_at = serializers.DateTimeField(help_text="When the link ends.")
    revoked_at = serializers.DateTimeField(allow_null=True, help_text="When the link was revoked.")
    views = serializers.IntegerField(help_text="How often the page was shown.")
    last_viewed_at = serializers.DateTimeField(allow_null=True, help_text="When the page was shown last.")


class NewSharedLinkSerializer(SharedLinkSerializer):
    """A new share with its link."""

    url = serializers.URLField(help_text="The link. It is shown once: only a hash of it is kept.")


def share_body(share: Share) -> dict[str, Any]:
    """Return a share as its tenant sees it."""
    return SharedLinkSerializer(_fields(share)).data


def share_with_link_body(share: Share, url: str) -> dict[str, Any]:
    """Return a share that was just made, with its link."""
    return NewSharedLinkSerializer({**_fields(share), "url": url}).data


def _fields(share: Share) -> dict[str, Any]:
    names = (
        "id", "question_id", "video_id", "clip_id", "start_ms", "end_ms", "play_recordings", "title", "created_at",
        "expires_at", "revoked_at", "views", "last_viewed_at",
    )  # fmt: skip
    created_by = encode_creator(person_id=share.person_id, api_key_id=share.api_key_id)
    return {**{name: getattr(share, name) for name in names}, "object": "share", "created_by": created_by}

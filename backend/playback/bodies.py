"""Renditions on the wire."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import TimeSpanSerializer
from backend.api.public_ids import PublicIdField

STATES = ("pending", "growing", "complete", "failed")


class RenditionSerializer(serializers.Serializer[Any]):
    """What plays a video in a browser."""

    video_id = PublicIdField("vid")
    state = serializers.ChoiceField(
        STATES,
        help_text="`pending`: nothing can be played yet. `growing`: the beginning can be played, and the rest is being "
        "made. `failed`: no part of the recording can be played.",
    )
    playable_ms = serializers.IntegerField(help_text="End of what can be played without a break, in milliseconds.")
    playlist_url = serializers.CharField(help_text="HLS playlist, signed: it needs no key until `expires_at`.")
    storyboard_url = serializers.CharField(help_text="Pictures for the timeline as WebVTT, signed.")
    expires_at = serializers.DateTimeField()


class PlaylistQuerySerializer(TimeSpanSerializer):
    """With a span, the playlist has only the fragments that cover it, and playback begins at its start."""

    token = serializers.CharField(required=False, help_text="The token of a signed address, in place of a key.")

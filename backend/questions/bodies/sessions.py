"""Bodies of sessions."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import MetadataField, NameField
from backend.api.listing import LabelledListQuerySerializer
from backend.api.public_ids import PublicIdField
from backend.questions.bodies.common import ScopeRequestSerializer


class SessionRequestSerializer(ScopeRequestSerializer):
    """The scope that the questions of a session share."""

    external_id = NameField(
        max_length=200, required=False, allow_blank=True, default="", help_text="Your own id of the session."
    )
    metadata = MetadataField(required=False, help_text="Your own labels of the session.")


class SessionQuerySerializer(LabelledListQuerySerializer):
    """Which sessions a list shows."""

    external_id = NameField(max_length=200, required=False, help_text="Only sessions with this id of your own.")


class SessionSerializer(serializers.Serializer[Any]):
    """A conversation: questions about one scope that are asked one after another."""

    id = PublicIdField("ses", source="session.id", help_text="Id of the session.")
    object = serializers.CharField(default="session", read_only=True, help_text="Always `session`.")
    video_ids = serializers.ListField(
        child=PublicIdField("vid"), help_text="Videos of the scope as requested; empty for a collection."
    )
    collection_id = PublicIdField(
        "col", source="scope.wish.collection_id", allow_null=True, help_text="Collection of the scope, if it has one."
    )
    start_ms = serializers.IntegerField(
        source="scope.start_ms", allow_null=True, help_text="Begin of the span that is read in each video."
    )
    end_ms = serializers.IntegerField(
        source="scope.end_ms", allow_null=True, help_text="End of the span that is read in each video."
    )
    turns = serializers.IntegerField(help_text="Number of questions asked in the session.")
    external_id = serializers.CharField(source="session.external_id", help_text="Your own id of the session.")
    metadata = serializers.DictField(
        source="session.metadata", child=serializers.CharField(), help_text="Your own labels of the session."
    )
    created_at = serializers.DateTimeField(source="session.created_at", help_text="When the session was created.")

"""Collections on the wire."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import NameField, StrictSerializer
from backend.api.public_ids import PublicIdField
from backend.library.models import Collection, Profile


class CollectionRequestSerializer(StrictSerializer):
    name = NameField(max_length=200)
    profile = serializers.ChoiceField(Profile.choices, required=False)
    instructions = serializers.CharField(
        max_length=4_000, required=False, allow_blank=True, help_text="What to look for, in your own words."
    )
    keeps_renditions = serializers.BooleanField(
        required=False,
        help_text="Whether recordings are made ready for playback when they arrive. If not, that begins when somebody "
        "first wants to watch, and takes some time.",
    )


class CollectionUpdateRequestSerializer(StrictSerializer):
    name = NameField(max_length=200, required=False)
    profile = serializers.ChoiceField(Profile.choices, required=False)
    instructions = serializers.CharField(
        max_length=4_000, required=False, allow_blank=True, help_text="What to look for, in your own words."
    )
    keeps_renditions = serializers.BooleanField(
        required=False,
        help_text="Whether recordings are made ready for playback when they arrive. If not, that begins when somebody "
        "first wants to watch, and takes some time.",
    )


class CollectionSerializer(serializers.Serializer[Any]):
    id = PublicIdField("col")
    object = serializers.CharField()
    name = serializers.CharField()
    profile = serializers.ChoiceField(Profile.choices)
    instructions = serializers.CharField(allow_blank=True)
    keeps_renditions = serializers.BooleanField()
    created_at = serializers.DateTimeField()


def collection_body(collection: Collection) -> dict[str, Any]:
    """Return a collection as customers see it."""
    names = ("id", "name", "profile", "instructions", "keeps_renditions", "created_at")
    return CollectionSerializer({"object": "collection", **{name: getattr(collection, name) for name in names}}).data

"""The storage and the retention of a tenant, on the wire."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import StrictSerializer
from backend.library.models import DerivedText, Retention
from backend.library.services.storage_quota import StorageUse

MOST_DAYS = 36_500
SOURCE_HELP = "Days for which recordings are kept. Then a video answers, but is neither played nor indexed again."
THUMBNAILS_HELP = "Days for which the pictures of the index and of answers are kept."
INDEX_HELP = "Days for which videos are kept. Then a video is deleted with its recording, pictures and index."
QUESTIONS_HELP = "Days for which questions, searches, batches, comparisons and sessions are kept."
DERIVED_HELP = (
    "What becomes of an answer when a video that it was read from is deleted: `redact` empties its text and keeps the "
    "question, its charge and its times; `remove` deletes the question."
)


class StorageSerializer(serializers.Serializer[Any]):
    object = serializers.CharField()
    quota_bytes = serializers.IntegerField(allow_null=True, help_text="Quota of your plan; null without a limit.")
    stored_bytes = serializers.IntegerField(
        help_text="Bytes of your recordings, of what makes them play in browsers, and of clips."
    )
    reserved_bytes = serializers.IntegerField(help_text="Bytes that open uploads have announced.")
    open_uploads = serializers.IntegerField()


class RetentionSerializer(serializers.Serializer[Any]):
    object = serializers.CharField()
    source_days = serializers.IntegerField(allow_null=True, help_text=SOURCE_HELP)
    thumbnails_days = serializers.IntegerField(allow_null=True, help_text=THUMBNAILS_HELP)
    index_days = serializers.IntegerField(allow_null=True, help_text=INDEX_HELP)
    questions_days = serializers.IntegerField(allow_null=True, help_text=QUESTIONS_HELP)
    derived_text = serializers.ChoiceField(DerivedText.choices, help_text=DERIVED_HELP)


def _days(help_text: str) -> serializers.IntegerField:
    return serializers.IntegerField(
        min_value=1,
        max_value=MOST_DAYS,
        allow_null=True,
        required=False,
        help_text=f"{help_text} Null keeps them for as long as you are a customer.",
    )


class RetentionUpdateRequestSerializer(StrictSerializer):
    source_days = _days(SOURCE_HELP)
    thumbnails_days = _days(THUMBNAILS_HELP)
    index_days = _days(INDEX_HELP)
    questions_days = _days(QUESTIONS_HELP)
    derived_text = serializers.ChoiceField(DerivedText.choices, required=False, help_text=DERIVED_HELP)


def storage_body(use: StorageUse) -> dict[str, Any]:
    """Return the storage of a tenant."""
    return StorageSerializer(
        {
            "object": "storage",
            "quota_bytes": use.quota,
            "stored_bytes": use.stored,
            "reserved_bytes": use.reserved,
            "open_uploads": use.open_uploads,
        }
    ).data


def retention_body(retention: Retention) -> dict[str, Any]:
    """Return the retention of a tenant."""
    names = ("source_days", "thumbnails_days", "index_days", "questions_days", "derived_text")
    return RetentionSerializer({"object": "retention", **{name: getattr(retention, name) for name in names}}).data

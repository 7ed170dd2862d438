"""Uploads on the wire."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers

from backend.api.bodies import SHA256_HEX, LanguageField, MetadataField, NameField, StrictSerializer
from backend.api.listing import LabelledListQuerySerializer
from backend.api.public_ids import PublicIdField, encode_creator
from backend.library import queries
from backend.library.bodies.files import AudioField
from backend.library.bodies.recorded import (
    RECORDED_AT_HELP,
    TIME_ZONE_HELP,
    AnnouncedDurationField,
    LocalTimeField,
    TimeZoneField,
)
from backend.library.models import Profile, Upload, UploadStatus
from backend.library.services import uploads

MAX_PARTS_PER_CALL = 100


class UploadRequestSerializer(StrictSerializer):
    filename = NameField(max_length=255)
    size_bytes = serializers.IntegerField(min_value=1)
    content_type = serializers.RegexField(r"^[A-Za-z0-9_.+-]+/[A-Za-z0-9_.+-]+\Z", max_length=100)
    sha256 = serializers.RegexField(SHA256_HEX, required=False, help_text="SHA-256 of the whole file, in hex.")
    part_checksums = serializers.BooleanField(
        default=False,
        help_text="Sign every part with its SHA-256. Then part-urls and complete need the SHA-256 of every part.",
    )
    collection_id = PublicIdField("col", required=False, allow_null=True)
    profile = serializers.ChoiceField(Profile.choices, required=False, help_text="By default the collection's profile.")
    title = NameField(max_length=255, required=False, help_text="By default the file name.")
    language = LanguageField(
        max_length=8,
        required=False,
        help_text="Language that is spoken, by its ISO 639-1 code. By default it is detected in the first speech.",
    )
    audio = AudioField(required=False)
    external_id = NameField(max_length=200, required=False)
    duration_ms = AnnouncedDurationField()
    metadata = MetadataField(required=False)
    recorded_at = LocalTimeField(required=False, help_text=RECORDED_AT_HELP)
    time_zone = TimeZoneField(max_length=64, required=False, help_text=TIME_ZONE_HELP)


class ReceivedPartSerializer(serializers.Serializer[Any]):
    part_number = serializers.IntegerField()
    etag = serializers.CharField()
    size_bytes = serializers.IntegerField()
    sha256 = serializers.CharField(allow_blank=True)


class UploadQuerySerializer(LabelledListQuerySerializer):
    status = serializers.ChoiceField(UploadStatus.choices, required=False)


class UploadSummarySerializer(serializers.Serializer[Any]):
    """An upload without its parts, as it is listed."""

    id = PublicIdField("upl")
    object = serializers.CharField()
    status = serializers.ChoiceField(UploadStatus.choices)
    filename = serializers.CharField()
    content_type = serializers.CharField()
    size_bytes = serializers.IntegerField()
    sha256 = serializers.CharField(allow_blank=True, help_text="SHA-256 that was announced, in hex.")
    part_size = serializers.IntegerField(help_text="Bytes of every part except the last.")
    part_count = serializers.IntegerField()
    video_id = PublicIdField("vid", allow_null=True)
    collection_id = PublicIdField("col", allow_null=True)
    external_id = serializers.CharField(allow_blank=True)
    metadata = MetadataField()
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField(
        allow_null=True, help_text="The key (`key_…`) or the person (`per_…`) that began the upload."
    )
    expires_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)


class UploadSerializer(UploadSummarySerializer):
    received_parts = ReceivedPartSerializer(many=True)
    missing_parts = serializers.ListField(child=serializers.IntegerField())


class PartUrlsRequestSerializer(StrictSerializer):
    part_numbers = serializers.ListField(
        child=serializers.IntegerField(min_value=1), min_length=1, max_length=MAX_PARTS_PER_CALL
    )
    checksums = serializers.DictField(
        child=serializers.RegexField(SHA256_HEX), default=dict, help_text="SHA-256 in hex by part number."
    )

    def validate_checksums(self, value: dict[str, str]) -> dict[int, str]:
        if not all(name.isascii() and name.isdigit() and len(name) <= 5 for name in value):
            raise serializers.ValidationError("The keys must be part numbers.", code="invalid_part_number")
        return {int(name): checksum for name, checksum in value.items()}


class PartUrlSerializer(serializers.Serializer[Any]):
    part_number = serializers.IntegerField()
    url = serializers.CharField(help_text="PUT the bytes of the part to this URL.")
    headers = serializers.DictField(
        child=serializers.CharField(), help_text="Send these headers with the PUT, unchanged."
    )
    expires_at = serializers.DateTimeField()


class PartUrlsSerializer(serializers.Serializer[Any]):
    data = PartUrlSerializer(many=True)  # type: ignore[assignment]  # a field, which the metaclass takes out of the class


class UploadedPartRequestSerializer(StrictSerializer):
    part_number = serializers.IntegerField(min_value=1)
    etag = serializers.CharField(max_length=200)
    sha256 = serializers.RegexField(SHA256_HEX, required=False)


class UploadCompletionRequestSerializer(StrictSerializer):
    parts = UploadedPartRequestSerializer(  # type: ignore[call-arg]  # many=True takes the arguments of a list
        many=True,
        required=False,
        allow_empty=False,
        max_length=10_000,
        help_text="By default the parts that have arrived. Needed after `part_checksums`.",
    )


def _columns(upload: Upload, video_id: UUID | None) -> dict[str, Any]:
    names = (
        "id", "status", "filename", "content_type", "size_bytes", "sha256", "part_size", "collection_id", "external_id",
        "metadata", "created_at", "expires_at", "completed_at",
    )  # fmt: skip
    return {
        **{name: getattr(upload, name) for name in names},
        "object": "upload",
        "part_count": uploads.part_count(upload),
        "video_id": video_id,
        "created_by": encode_creator(person_id=upload.person_id, api_key_id=upload.api_key_id),
    }


def upload_body(upload: Upload, progress: uploads.UploadProgress, *, video_id: UUID | None = None) -> dict[str, Any]:
    """Return an upload with the parts that have arrived. video_id: of the video that it became."""
    parts = {"received_parts": progress.received, "missing_parts": progress.missing}
    return UploadSerializer({**_columns(upload, video_id), **parts}).data


def listed_uploads(rows: list[Upload]) -> list[dict[str, Any]]:
    """Return uploads without their parts."""
    videos = queries.videos_of_uploads(rows)
    return [UploadSummarySerializer(_columns(row, videos.get(row.id))).data for row in rows]

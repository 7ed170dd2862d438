"""/v1/uploads: how recordings arrive."""

from __future__ import annotations

from typing import Any

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import SHA256_HEX, Body, MetadataField, parsed
from backend.api.idempotency import idempotent
from backend.api.problems import problem_of, respond
from backend.api.public_ids import PublicIdField, decode, encode
from backend.api.views import TenantView
from backend.library import queries
from backend.library.bodies.videos import VideoBody, one_video, segment_body
from backend.library.models import InputSegment, Profile, Upload, UploadStatus, Video
from backend.library.services import uploads
from backend.library.services.uploads import NamedPart, UploadUnusable
from backend.library.storage import PRESIGNED_FOR
from backend.tenancy.refusals import invalid

MAX_PARTS_PER_CALL = 100


class UploadRequest(Body):
    filename = serializers.CharField(max_length=255)
    size_bytes = serializers.IntegerField(min_value=1)
    content_type = serializers.RegexField(r"^[\w.+-]+/[\w.+-]+$", max_length=100)
    sha256 = serializers.RegexField(SHA256_HEX, required=False, help_text="of the whole file, hex")
    part_checksums = serializers.BooleanField(
        default=False, help_text="every part will be signed with its SHA-256; then every part needs one"
    )
    collection_id = PublicIdField("col", required=False, allow_null=True)
    profile = serializers.ChoiceField(Profile.choices, required=False, help_text="by default the collection's")
    title = serializers.CharField(max_length=255, required=False, help_text="by default the file name")
    external_id = serializers.CharField(max_length=200, required=False)
    metadata = MetadataField(required=False)


class ReceivedPartBody(serializers.Serializer[Any]):
    part_number = serializers.IntegerField()
    etag = serializers.CharField()
    size_bytes = serializers.IntegerField()
    sha256 = serializers.CharField(allow_blank=True)


class UploadBody(serializers.Serializer[Any]):
    id = PublicIdField("upl")
    object = serializers.CharField(default="upload")
    status = serializers.ChoiceField(UploadStatus.choices)
    filename = serializers.CharField()
    content_type = serializers.CharField()
    size_bytes = serializers.IntegerField()
    part_size = serializers.IntegerField(help_text="bytes of every part but the last")
    part_count = serializers.IntegerField()
    received_parts = ReceivedPartBody(many=True)
    missing_parts = serializers.ListField(child=serializers.IntegerField())
    video_id = PublicIdField("vid", allow_null=True)
    collection_id = PublicIdField("col", allow_null=True)
    external_id = serializers.CharField(allow_blank=True)
    metadata = MetadataField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)


class PartUrlsRequest(Body):
    part_numbers = serializers.ListField(
        child=serializers.IntegerField(min_value=1), min_length=1, max_length=MAX_PARTS_PER_CALL
    )
    checksums = serializers.DictField(
        child=serializers.RegexField(SHA256_HEX), default=dict, help_text="hex SHA-256 by part number"
    )

    def validate_checksums(self, value: dict[str, str]) -> dict[int, str]:
        if not all(name.isascii() and name.isdigit() and len(name) <= 5 for name in value):
            raise serializers.ValidationError("Keys are part numbers.", code="invalid_part_number")
        return {int(name): checksum for name, checksum in value.items()}


class PartUrlBody(serializers.Serializer[Any]):
    part_number = serializers.IntegerField()
    url = serializers.CharField(help_text="PUT the part's bytes here")
    headers = serializers.DictField(child=serializers.CharField(), help_text="to be sent with the PUT as they are")
    expires_at = serializers.DateTimeField()


class PartUrlsBody(serializers.Serializer[Any]):
    data = PartUrlBody(many=True)  # type: ignore[assignment]  # a field, which the metaclass takes out of the class


class NamedPartRequest(Body):
    part_number = serializers.IntegerField(min_value=1)
    etag = serializers.CharField(max_length=200)
    sha256 = serializers.RegexField(SHA256_HEX, required=False)


class CompleteRequest(Body):
    parts = NamedPartRequest(  # type: ignore[call-arg]  # many=True takes the arguments of a list
        many=True, required=False, allow_empty=False, max_length=10_000, help_text="by default what has arrived"
    )


def upload_body(upload: Upload) -> dict[str, Any]:
    progress = uploads.progress(upload)
    video = queries.video_of_upload(upload.id)
    body = {
        name: getattr(upload, name)
        for name in (
            "id", "status", "filename", "content_type", "size_bytes", "part_size", "collection_id", "external_id",
            "metadata", "created_at", "expires_at", "completed_at",
        )
    }  # fmt: skip
    return UploadBody(
        {
            **body,
            "object": "upload",
            "part_count": uploads.part_count(upload),
            "received_parts": progress.received,
            "missing_parts": progress.missing,
            "video_id": video.id if video else None,
        }
    ).data


class UploadsView(TenantView):
    scopes = {"POST": "videos:write"}

    @extend_schema(operation_id="createUpload", request=UploadRequest, responses={201: UploadBody}, tags=["Uploads"])
    @idempotent()
    def post(self, request: Request) -> Response:
        """Begin an upload: ask for part URLs, PUT the parts there, complete it."""
        fields = parsed(UploadRequest, request)
        part_checksums = fields.pop("part_checksums")
        if fields.get("collection_id") is not None:
            collection = queries.collections().filter(id=fields["collection_id"]).first()
            if collection is None:
                raise invalid(pointer="/collection_id", code="not_found", detail="There is no such collection.")
            fields.setdefault("profile", collection.profile)
        upload = uploads.create_upload(fields=fields, part_checksums=part_checksums)
        location = {"Location": f"/v1/uploads/{encode('upl', upload.id)}"}
        return Response(upload_body(upload), status=201, headers=location)


class UploadView(TenantView):
    scopes = {"GET": "videos:read", "DELETE": "videos:write"}

    @extend_schema(operation_id="getUpload", responses=UploadBody, tags=["Uploads"])
    def get(self, request: Request, upload_id: str) -> Response:
        """An upload with the parts that have arrived, to resume from."""
        return Response(upload_body(self.get_or_404(queries.uploads(), decode("upl", upload_id))))

    @extend_schema(operation_id="abortUpload", responses={204: None}, tags=["Uploads"])
    def delete(self, request: Request, upload_id: str) -> Response:
        """Abort an upload and drop its parts. An upload that is a video already is refused (`upload_completed`)."""
        uploads.abort_upload(upload=self.get_or_404(queries.uploads(), decode("upl", upload_id)))
        return Response(status=204)


class PartUrlsView(TenantView):
    scopes = {"POST": "videos:write"}

    @extend_schema(
        operation_id="createPartUrls", request=PartUrlsRequest, responses={200: PartUrlsBody}, tags=["Uploads"]
    )
    def post(self, request: Request, upload_id: str) -> Response:
        """Presigned URLs for up to 100 parts, valid for an hour. Asking again is free."""
        upload = self.get_or_404(queries.uploads(), decode("upl", upload_id))
        body = parsed(PartUrlsRequest, request)
        expires_at = timezone.now() + PRESIGNED_FOR
        signed = uploads.sign_parts(upload, body["part_numbers"], body["checksums"])
        rows = [
            {"part_number": part.part_number, "url": part.url, "headers": part.headers, "expires_at": expires_at}
            for part in signed
        ]
        return Response(PartUrlsBody({"data": rows}).data)


class CompleteView(TenantView):
    scopes = {"POST": "videos:write"}

    @extend_schema(operation_id="completeUpload", request=CompleteRequest, responses={202: VideoBody}, tags=["Uploads"])
    def post(self, request: Request, upload_id: str) -> Response:
        """Turn an upload into a video and begin to index it. Repeating it gives the same video."""
        upload = self.get_or_404(queries.uploads(), decode("upl", upload_id))
        named = parsed(CompleteRequest, request).get("parts")
        parts = None if named is None else [NamedPart(**part) for part in named]
        return completed(self, request, upload, parts)


def completed(view: TenantView, request: Request, upload: Upload, parts: list[NamedPart] | None) -> Response:
    """202 with the upload's video; or the problem of an upload that this has ended, which must be committed."""
    try:
        video = uploads.complete_upload(upload_id=upload.id, parts=parts)
    except UploadUnusable as error:
        return respond(problem_of(error), request)
    return accepted_video(video)


def appended(request: Request, upload: Upload, video: Video) -> Response:
    """202 with the segment that the upload becomes; or, as above, the problem of an upload that this has ended."""
    try:
        segment = uploads.complete_as_segment(upload_id=upload.id, video_id=video.id)
    except UploadUnusable as error:
        return respond(problem_of(error), request)
    return accepted_segment(segment)


def accepted_video(video: Video) -> Response:
    location = {"Location": f"/v1/videos/{encode('vid', video.id)}"}
    return Response(one_video(video), status=202, headers=location)


def accepted_segment(segment: InputSegment) -> Response:
    path = f"/v1/videos/{encode('vid', segment.video_id)}/segments/{encode('seg', segment.id)}"
    return Response(segment_body(segment), status=202, headers={"Location": path})


routes = [
    path("uploads", UploadsView.as_view()),
    path("uploads/<str:upload_id>", UploadView.as_view()),
    path("uploads/<str:upload_id>/part-urls", PartUrlsView.as_view()),
    path("uploads/<str:upload_id>/complete", CompleteView.as_view()),
]

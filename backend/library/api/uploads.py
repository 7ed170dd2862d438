"""/v1/uploads: how recordings arrive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import page_of, parsed
from backend.api.idempotency import REPLAYED, calls_run_once, in_progress, is_known, run_once
from backend.api.listing import list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.problems import Problem, problem_of, respond
from backend.api.public_ids import decode, encode
from backend.api.views import SteppedTenantView, TenantView
from backend.library import queries
from backend.library.api.collections import use_collection
from backend.library.bodies.input_segments import segment_body
from backend.library.bodies.recorded import placed
from backend.library.bodies.uploads import (
    PartUrlsRequestSerializer,
    PartUrlsSerializer,
    UploadCompletionRequestSerializer,
    UploadQuerySerializer,
    UploadRequestSerializer,
    UploadSerializer,
    UploadSummarySerializer,
    listed_uploads,
    upload_body,
)
from backend.library.bodies.videos import VideoSerializer, one_video
from backend.library.models import InputSegment, Upload, UploadStatus, Video
from backend.library.services import upload_records, uploads
from backend.library.services.deletion_ledger import Deleted, recorded
from backend.library.services.uploads import NamedPart, UploadUnusable
from backend.library.services.video_quota import require_room_for_video
from backend.library.storage import PART_URL_LIFETIME
from backend.tenancy.refusals import Refused, invalid


class UploadsView(SteppedTenantView):
    scopes = {"GET": "videos:read", "POST": "videos:write"}
    stepped = frozenset({"POST"})

    @extend_schema(
        operation_id="listUploads",
        parameters=[UploadQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("UploadPage", UploadSummarySerializer),
        tags=["Uploads"],
    )
    def get(self, request: Request) -> Response:
        """List uploads without their parts, newest first. Open uploads count against the storage quota."""
        query, wish = list_query(UploadQuerySerializer, request)
        rows = wish.of(queries.uploads(**query))
        return page(request, rows, serialize_many=listed_uploads, order=wish.order)

    @extend_schema(
        operation_id="createUpload",
        request=UploadRequestSerializer,
        responses={201: UploadSerializer},
        tags=["Uploads"],
    )
    @calls_run_once
    def post(self, request: Request) -> Response:
        """Begin an upload. Request part URLs, PUT the parts to them, and complete the upload."""
        fields = parsed(UploadRequestSerializer, request)
        key, member = self.principal.api_key_id, self.principal.person_id
        part_checksums = fields.pop("part_checksums")
        duration_ms = fields.pop("duration_ms", None)
        fields = placed(fields)
        with self.checks():
            known = is_known(request)
            if not known:
                use_collection(dict(fields))
                uploads.require_beginning(size_bytes=fields["size_bytes"], api_key_id=key, person_id=member)
        begun = None
        if not known:
            begun = uploads.begin_in_storage(
                self.principal.tenant_id, content_type=fields["content_type"], part_checksums=part_checksums
            )

        def create() -> Response:
            if begun is None:
                raise in_progress()  # the earlier request became too old at this moment
            use_collection(fields)
            upload = uploads.create_upload(
                begun=begun, fields=fields, duration_ms=duration_ms, api_key_id=key, person_id=member
            )
            location = {"Location": f"/v1/uploads/{encode('upl', upload.id)}"}
            return Response(upload_body(upload, uploads.nothing_arrived(upload)), status=201, headers=location)

        try:
            with self.step():
                response = run_once(request, create)
        except (Refused, Problem):
            if begun is not None:
                uploads.drop_unused(begun)
            raise
        if begun is not None and (response.status_code != 201 or REPLAYED in response.headers):
            uploads.drop_unused(begun)
        return response


class UploadView(SteppedTenantView):
    scopes = {"GET": "videos:read", "DELETE": "videos:write"}
    audited = {"DELETE": "upload.deleted"}
    stepped = frozenset({"GET", "DELETE"})

    def _upload(self, upload_id: str) -> Upload:
        return self.get_or_404(queries.uploads(), decode("upl", upload_id))

    @extend_schema(operation_id="getUpload", responses=UploadSerializer, tags=["Uploads"])
    def get(self, request: Request, upload_id: str) -> Response:
        """Return one upload with the parts that have arrived, so that you can resume it."""
        with self.step():
            upload = self._upload(upload_id)
            video = queries.video_of_upload(upload.id)
        return Response(upload_body(upload, uploads.progress(upload), video_id=video.id if video else None))

    @extend_schema(operation_id="deleteUpload", responses={204: None}, tags=["Uploads"])
    def delete(self, request: Request, upload_id: str) -> Response:
        """Abort an open upload and drop its parts; delete an upload that has ended, with its file name and metadata.

        A video that the upload became stays.
        """
        with self.step():
            upload = self._upload(upload_id)
            if upload.status == UploadStatus.OPEN:
                uploads.abort_upload(upload_id=upload.id)
                self.note_act(upload_id)
                return Response(status=204)
        with recorded(Deleted.UPLOAD, upload.tenant_id, upload.id), self.step():
            upload_records.drop_uploads([upload.id])
            self.note_act(upload_id)
        return Response(status=204)


class PartUrlsView(TenantView):
    scopes = {"POST": "videos:write"}

    @extend_schema(
        operation_id="createPartUrls",
        request=PartUrlsRequestSerializer,
        responses={200: PartUrlsSerializer},
        tags=["Uploads"],
    )
    def post(self, request: Request, upload_id: str) -> Response:
        """Create presigned URLs for up to 100 parts, valid for an hour. Repeating the request has no side effect."""
        upload = self.get_or_404(queries.uploads(), decode("upl", upload_id))
        body = parsed(PartUrlsRequestSerializer, request)
        expires_at = timezone.now() + PART_URL_LIFETIME
        signed = uploads.sign_parts(upload, body["part_numbers"], body["checksums"])
        rows = [
            {"part_number": part.part_number, "url": part.url, "headers": part.headers, "expires_at": expires_at}
            for part in signed
        ]
        return Response(PartUrlsSerializer({"data": rows}).data)


class CompleteUploadView(SteppedTenantView):
    scopes = {"POST": "videos:write"}
    stepped = frozenset({"POST"})

    @extend_schema(
        operation_id="completeUpload",
        request=UploadCompletionRequestSerializer,
        responses={202: VideoSerializer},
        tags=["Uploads"],
    )
    def post(self, request: Request, upload_id: str) -> Response:
        """Complete an upload: it becomes a video, and indexing begins. Repeating the request returns the same video."""
        named = parsed(UploadCompletionRequestSerializer, request).get("parts")
        parts = None if named is None else [NamedPart(**part) for part in named]
        return complete(self, request, lambda: self.get_or_404(queries.uploads(), decode("upl", upload_id)), parts)


def upload_of(source: dict[str, Any]) -> Upload:
    """Return the upload that a source names. Raises Refused (400) if there is none."""
    upload = queries.uploads().filter(id=source["upload_id"]).first()
    if upload is None:
        raise invalid(pointer="/source/upload_id", code="not_found", detail="There is no such upload.")
    return upload


def complete(
    view: SteppedTenantView,
    request: Request,
    read: Callable[[], Upload],
    parts: list[NamedPart] | None = None,
    *,
    once: bool = False,
) -> Response:
    """Return 202 with the video of the upload; or the problem of an upload that this has ended, which must commit.

    read: returns the upload in an open step. once: the request takes an Idempotency-Key. The object is made between two
    steps.
    """
    with view.checks():
        upload = read()
        if upload.status == UploadStatus.OPEN:
            # Before the object is made, so that storage does no work for a request that is refused.
            require_room_for_video()
    made = uploads.make_object(upload, parts)

    def completed() -> Response:
        try:
            return accepted_video(uploads.complete_upload(upload_id=upload.id, made_bytes=made))
        except UploadUnusable as error:
            return respond(problem_of(error), request)

    with view.step():
        return run_once(request, completed) if once else completed()


def append(
    view: SteppedTenantView,
    request: Request,
    read: Callable[[], Upload],
    video: Video,
    recorded_at: Mapping[str, Any],
) -> Response:
    """Return 202 with the segment that the upload becomes; or the problem of an upload that this has ended.

    read: returns the upload in an open step. recorded_at: what the customer said about when it was recorded.
    """
    with view.checks():
        upload = read()
        if not is_known(request):
            uploads.require_appending(upload, video)
    made = uploads.make_object(upload, None)

    def appended() -> Response:
        try:
            segment = uploads.complete_as_segment(
                upload_id=upload.id, video_id=video.id, made_bytes=made, recorded=recorded_at
            )
        except UploadUnusable as error:
            return respond(problem_of(error), request)
        return accepted_segment(segment)

    with view.step():
        return run_once(request, appended)


def accepted_video(video: Video) -> Response:
    """Return 202 with a video and its location."""
    location = {"Location": f"/v1/videos/{encode('vid', video.id)}"}
    return Response(one_video(video), status=202, headers=location)


def accepted_segment(segment: InputSegment) -> Response:
    """Return 202 with an appended segment and its location."""
    path = f"/v1/videos/{encode('vid', segment.video_id)}/segments/{encode('seg', segment.id)}"
    return Response(segment_body(segment), status=202, headers={"Location": path})


routes = [
    path("uploads", UploadsView.as_view()),
    path("uploads/<str:upload_id>", UploadView.as_view()),
    path("uploads/<str:upload_id>/part-urls", PartUrlsView.as_view()),
    path("uploads/<str:upload_id>/complete", CompleteUploadView.as_view()),
]
